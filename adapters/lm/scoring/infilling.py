"""Log-likelihoods of short answers under sequence-to-sequence models such as FLAN-T5.

The encoder reads a prompt once, and the decoder is told each answer token by token (teacher
forcing). This asks how likely given answers are; what the model would say by itself is another
question, which generation answers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers.modeling_outputs import BaseModelOutput

from pronominal.adapters.lm.scoring.logits import Scores, add_log_probabilities, logits_at
from pronominal.adapters.lm.scoring.memory import Budget, LongestFirst
from pronominal.adapters.lm.scoring.prompt_encoder import encoded
from pronominal.adapters.lm.scoring.tokens import Tokens, padded
from pronominal.errors import InputError
from pronominal.instances import FillingInstance

BATCH_TOKENS = {"cpu": 4_096, "cuda": 32_768}
"""How many tokens of prompts go through the model at once when nothing else is asked for."""

SENTINELS = "<extra_id_0>", "<extra_id_1>"
"""What T5 was trained with: the first marks a missing piece, the second ends its answer."""


class AnswerBatches(LongestFirst):
    """Prompts with their answers, longest prompt first.

    Attributes:
        scores: the log-likelihood of each answer, prompt by prompt, [answers].
    """

    def __init__(
        self, model: Any, prompts: Sequence[Tokens], answers: Sequence[Sequence[Tokens]]
    ) -> None:
        super().__init__([len(prompt) for prompt in prompts])
        self._model, self._prompts, self._answers = model, prompts, answers
        self._first = np.cumsum([0, *map(len, answers)])
        self.scores: Scores = np.zeros(self._first[-1])

    def forward(self, borders: Sequence[int]) -> None:
        """Score the answers to the prompts between these borders."""
        chosen = self.between(borders)
        device = self._model.device
        states, mask = encoded(self._model, [self._prompts[prompt] for prompt in chosen])
        of_prompt = np.repeat(np.arange(len(chosen)), [len(self._answers[p]) for p in chosen])
        repeated = torch.from_numpy(of_prompt).to(device)
        targets, told = padded([tokens for p in chosen for tokens in self._answers[p]])
        begun = np.roll(targets, 1, axis=1)
        begun[:, 0] = self._model.config.decoder_start_token_id
        logits = logits_at(
            self._model,
            np.flatnonzero(told),
            encoder_outputs=BaseModelOutput(last_hidden_state=states[repeated]),
            attention_mask=mask[repeated],
            decoder_input_ids=torch.from_numpy(begun).to(device),
            use_cache=False,
        )
        answers = [answer for p in chosen for answer in range(*self._first[p : p + 2])]
        rows, _ = np.nonzero(told)
        every = np.arange(len(rows))
        add_log_probabilities(self.scores, np.array(answers)[rows], logits, every, targets[told])


class AnswerScorer:
    """Scores given answers to prompts."""

    def __init__(self, model: Any, tokenizer: Any, *, batch_tokens: int | None = None) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._budget = Budget(batch_tokens, BATCH_TOKENS, model.device)

    def score(
        self, prompts: Sequence[Tokens], answers: Sequence[Sequence[Tokens]]
    ) -> list[list[float]]:
        """Return for each prompt the log-likelihood of each of its answers, in nats.

        Prompts and answers are tokens; the ends of answers count where they are given.
        """
        batches = AnswerBatches(self._model, prompts, answers)
        self._budget.spend_on(batches)
        ends = np.cumsum([len(every) for every in answers])
        return [part.tolist() for part in np.split(batches.scores, ends[:-1])]

    def infill(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return for each instance the log-likelihood of each option as the missing piece.

        The slot becomes T5's first sentinel; the answer is the option between the sentinels.
        """
        opening, closing = SENTINELS
        if not {opening, closing} <= self._tokenizer.get_vocab().keys():
            raise InputError(
                f"the tokenizer has no {opening}, so that the model fills no slots",
                cure="give a model of the T5 family, or prompt this one",
            )
        prompts = [
            f"{instance.text[: instance.blank.start]}{opening}{instance.text[instance.blank.end :]}"
            for instance in instances
        ]
        answers = [[f"{opening} {form} {closing}" for form in i.options] for i in instances]
        return self.score(
            [self._tokenizer(prompt)["input_ids"] for prompt in prompts],
            [
                [self._tokenizer(a, add_special_tokens=False)["input_ids"] for a in every]
                for every in answers
            ],
        )
