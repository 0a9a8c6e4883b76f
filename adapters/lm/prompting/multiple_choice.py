"""Models that are offered answers: how likely each option is as the answer to a prompt.

The prompts are those of generation, and the question is another one: a model that would write
something else has to prefer one of the options here, and never abstains.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.lm.models.loading import load_language_model, refuse_masked
from pronominal.adapters.lm.prompting.chat import PROMPT_DATE, Chat, Turns, template_arguments
from pronominal.adapters.lm.prompting.prompts import parse_prompts
from pronominal.adapters.lm.scoring.decoder import CausalScorer
from pronominal.adapters.lm.scoring.infilling import AnswerScorer
from pronominal.adapters.lm.scoring.tokens import PADDING, Sequences, padded
from pronominal.adapters.lm.thoughts.delimiters import parse_thoughts


class MultipleChoiceModel:
    """A causal or sequence-to-sequence model of transformers, offered the options of each prompt.

    An option's score is the sum of its tokens' log-probabilities, so that a longer option starts
    with a handicap. A causal model continues the prompt, with a blank between them unless the
    prompt ends in white space, and the end of the answer does not count. A sequence-to-sequence
    model's decoder writes the option, and its end counts.

    Args:
        checkpoint: a folder or a Hub id.
        prompts: names of the prompts to ask (see `lm.prompting.prompts`); all of them when None.
        chat: as for `PromptedModel`.
        thoughts: as for `PromptedModel`.
        enable_thinking: as for `PromptedModel`.
        chat_template_kwargs: as for `PromptedModel`.
        date: as for `PromptedModel`.
        dtype: as for `LanguageModel`.
        device: as for `LanguageModel`.
        device_map: as for `LanguageModel`.
        trust_remote_code: as for `LanguageModel`.
        batch_tokens: how many tokens go through the model at once; halved where they do not fit
            into memory.

    Raises:
        InputError: the checkpoint or a setting cannot be used, or the model would think before it
            answers: its options would be scored as a thought's first words.
    """

    name = "lm-multiple-choice"
    engine = "transformers"
    question = "log-likelihood of each option as the answer to a prompt"
    chunk = 64

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        checkpoint: str,
        *,
        prompts: Sequence[str] | None = None,
        chat: Chat | None = None,
        thoughts: str | Sequence[str] | None = None,
        enable_thinking: bool | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        date: str = PROMPT_DATE,
        dtype: str | None = None,
        device: str | None = None,
        device_map: str | None = None,
        trust_remote_code: bool = False,
        batch_tokens: int | None = None,
    ) -> None:
        self.prompting = parse_prompts(prompts, None)
        delimiters = parse_thoughts(thoughts)
        arguments = template_arguments(chat_template_kwargs, enable_thinking)
        loaded = load_language_model(checkpoint, dtype, device, device_map, trust_remote_code)
        refuse_masked(loaded)
        self.checkpoint = loaded.checkpoint
        self.dtype, self.device, self.parameters = loaded.computation
        self._loaded = loaded
        self._turns = Turns(loaded.tokenizer, chat, checkpoint, arguments, date)
        self._turns.refuse_thinking(delimiters)
        self.inference = self._turns.described | loaded.described
        self._scorer = (
            CausalScorer(loaded.model, batch_tokens=batch_tokens)
            if loaded.objective == "causal"
            else AnswerScorer(loaded.model, loaded.tokenizer, batch_tokens=batch_tokens)
        )

    def option_loglikelihoods(
        self, prompts: Sequence[str], options: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """Return for each prompt, in order, the log-likelihood of each of its options, in nats.

        Args:
            prompts: what a user says, without any chat formatting.
            options: the options of each prompt, at least one.
        """
        if not prompts:
            return []
        with silent_transformers():
            turns = [self._turns.text(prompt) for prompt in prompts]
            if isinstance(self._scorer, AnswerScorer):
                return self._decoded(self._scorer, turns, options)
            return self._continued(self._scorer, turns, options)

    def _decoded(
        self, scorer: AnswerScorer, turns: Sequence[str], options: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        asked = [self._turns.tokens(turn) for turn in turns]
        self._loaded.refuse_longer([len(tokens) for tokens in asked], "a prompt")
        tokenizer = self._loaded.tokenizer
        answers = [[tokenizer(option)["input_ids"] for option in every] for every in options]
        return scorer.score(asked, answers)

    def _continued(
        self, scorer: CausalScorer, turns: Sequence[str], options: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        answered, first = [], []
        for turn, every in zip(turns, options, strict=True):
            before = self._turns.tokens(turn)
            between = "" if turn[-1:].isspace() else " "
            whole = [self._turns.tokens(f"{turn}{between}{option}") for option in every]
            answered += whole
            # tokens may reach across the border; then the options share what lies before it
            alike = takewhile(lambda at: len({*at}) == 1, zip(before, *whole, strict=False))
            first += [max(1, sum(1 for _ in alike))] * len(every)
        counts = [len(every) for every in options]
        owners = np.repeat(np.arange(len(options), dtype=np.int32), counts)
        ids, there = padded(answered, PADDING)
        lengths = there.sum(axis=1, dtype=np.int32)
        longest = np.maximum.reduceat(lengths, np.cumsum([0, *counts[:-1]]))
        self._loaded.refuse_longer(longest.tolist(), "a prompt with its longest option")
        sequences = Sequences(ids.astype(np.int32), np.zeros_like(there), lengths, owners)
        scores = scorer.score(sequences, np.array(first, np.int32))
        return [part.tolist() for part in np.split(scores, np.cumsum(counts)[:-1])]
