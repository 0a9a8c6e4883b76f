"""Models that write: FLAN-T5, chat models and any other, many prompts at a time.

Answers are greedy, so that a prompt's answer does not depend on other prompts.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from transformers.modeling_outputs import BaseModelOutput

from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.lm.models.loading import (
    LoadedModel,
    Objective,
    load_language_model,
    refuse_masked,
)
from pronominal.adapters.lm.prompting.budgets import THINKING_TOKENS
from pronominal.adapters.lm.prompting.chat import PROMPT_DATE, Chat
from pronominal.adapters.lm.prompting.conversation import ConversationSettings
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.adapters.lm.scoring.memory import Budget, LongestFirst
from pronominal.adapters.lm.scoring.prompt_encoder import encoded
from pronominal.adapters.lm.scoring.tokens import padded
from pronominal.adapters.lm.thoughts.reading import CUT, Reply

NEW_TOKENS: dict[Objective, int] = {"sequence-to-sequence": 5, "causal": ANSWER_TOKENS}
"""The most new tokens of an answer: the paper's for FLAN-T5 and Llama-2-chat (RUFF, F.1)."""

BATCH_TOKENS = {"cpu": 3_072, "cuda": 65_536}
"""How many tokens of prompts go through the model at once when nothing else is asked for."""


class PromptedModel:
    """A causal or sequence-to-sequence model of transformers, asked in words.

    Args:
        checkpoint: a folder or a Hub id.
        prompts: names of the prompts to ask (see `lm.prompting.prompts`); all of them when None.
        chain_of_thought: ``"kojima"`` or ``"zhou"``; None asks for the answer at once.
        slot: how a slot is drawn, ``"_______"`` as in RUFF's Table 4; None as its program does.
        chat: how a prompt becomes a user's turn: ``"llama-2"`` (``[INST] ... [/INST]``, as in the
            paper), ``"template"``, the tokenizer's own, or ``"none"``. When None the tokenizer's
            own where it has one.
        max_new_tokens: the longest answer; when None 5 for sequence-to-sequence models and 20 for
            causal ones, as in the paper.
        thinking_tokens: how many tokens more a prompt has whose answer was cut off in a thought;
            it is asked again with them. 0 for none.
        thoughts: how thoughts are told from answers: None by the tokenizer's own description, or
            by the delimiters of all known families; else a family of
            ``lm/thoughts/delimiters.toml``, ``"none"``, or two delimiters.
        enable_thinking: switch the thoughts of a model on or off whose chat template has this
            switch; None as the template has it.
        chat_template_kwargs: what else the chat template is told, by its names.
        date: the day that a chat template prints, if it prints one.
        dtype: as for `LanguageModel`.
        device: as for `LanguageModel`.
        device_map: as for `LanguageModel`.
        trust_remote_code: as for `LanguageModel`.
        batch_tokens: how many tokens of prompts go through the model at once; halved where they do
            not fit into memory.
    """

    name = "lm-prompts"
    engine = "transformers"
    question = "generation"
    chunk = 64

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        checkpoint: str,
        *,
        prompts: Sequence[str] | None = None,
        chain_of_thought: str | None = None,
        slot: str | None = None,
        chat: Chat | None = None,
        max_new_tokens: int | None = None,
        thinking_tokens: int = THINKING_TOKENS,
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
        self.prompting = parse_prompts(prompts, chain_of_thought, slot)
        settings = ConversationSettings(
            max_new_tokens, thinking_tokens, thoughts, enable_thinking, chat_template_kwargs, date
        )
        loaded = load_language_model(checkpoint, dtype, device, device_map, trust_remote_code)
        refuse_masked(loaded)
        self.checkpoint = loaded.checkpoint
        self.dtype, self.device, self.parameters = loaded.computation
        self._loaded = loaded
        self._conversation = settings.begin(
            loaded.tokenizer, chat, checkpoint, NEW_TOKENS[loaded.objective]
        )
        self.max_new_tokens = self._conversation.max_new_tokens
        self._budget = Budget(batch_tokens, BATCH_TOKENS, loaded.model.device)
        self.inference = self._conversation.described | loaded.described

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[Reply]:
        """Return what the model answers to each prompt, in order, without its thoughts.

        Args:
            prompts: what a user says, without any chat formatting.
            max_new_tokens: the longest answer, when it is another than the system's own.
        """
        if not prompts:
            return []
        limit = max_new_tokens or self.max_new_tokens
        with silent_transformers():
            tokens = self._conversation.tokens(prompts)
            answer = 0 if self._loaded.objective == "sequence-to-sequence" else limit
            lengths = [len(prompt) + answer for prompt in tokens]
            self._loaded.refuse_longer(lengths, "a prompt with its answer")
            return self._conversation.replies(
                lambda chosen, limit: self._written([tokens[prompt] for prompt in chosen], limit),
                len(prompts),
                limit,
            )

    def _written(self, prompts: Sequence[Sequence[int]], limit: int) -> list[Reply]:
        batches = GenerationBatches(self._loaded, prompts, limit)
        self._budget.spend_on(batches)
        return [
            self._conversation.reply(tokens, CUT if cut else "stop")
            for tokens, cut in zip(batches.written, batches.cut, strict=True)
        ]


class GenerationBatches(LongestFirst):
    """Prompts, longest first, so that those of a batch need little padding.

    Attributes:
        written: the new tokens of each prompt, its end included.
        cut: whether they met the limit.
    """

    def __init__(
        self, loaded: LoadedModel, prompts: Sequence[Sequence[int]], max_new_tokens: int
    ) -> None:
        self._model, self._tokenizer = loaded.model, loaded.tokenizer
        self._causal = loaded.objective == "causal"
        self._prompts = prompts
        # a thought ends where the model's positions do
        longest = loaded.longest if self._causal else None
        self._limits = [
            max_new_tokens if longest is None else min(max_new_tokens, longest - len(prompt))
            for prompt in prompts
        ]
        taken = zip(prompts, self._limits, strict=True)
        super().__init__([len(prompt) + limit * self._causal for prompt, limit in taken])
        paddings = (self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, 0)
        self._padding = int(next(token for token in paddings if token is not None))
        self._ends = end_tokens(self._model)
        self.written: list[Sequence[int]] = [()] * len(prompts)
        self.cut = [False] * len(prompts)

    def borders(self, start: int, tokens: int) -> list[int]:
        """Cut out as many prompts as a batch can hold, all of them with the same limit."""
        chosen = self.between(super().borders(start, tokens))
        limits = [self._limits[prompt] for prompt in chosen]
        alike = takewhile(lambda limit: limit == limits[0], limits)
        return [start, start + sum(1 for _ in alike)]

    def forward(self, borders: Sequence[int]) -> None:
        """Answer the prompts between these borders."""
        chosen = self.between(borders)
        prompts = [self._prompts[prompt] for prompt in chosen]
        with torch.inference_mode():
            written = self._model.generate(
                **(self._continued(prompts) if self._causal else self._encoded(prompts)),
                max_new_tokens=self._limits[chosen[0]],
                pad_token_id=self._padding,
                do_sample=False,
                num_beams=1,
                # a chat model's generation config sets these, for sampling
                temperature=None,
                top_p=None,
                top_k=None,
            )
        new = written[:, len(prompts[0]) :] if self._causal else written
        for prompt, tokens in zip(chosen, new.tolist(), strict=True):
            # a sequence-to-sequence model's first token begins its answer
            begun = 0 if self._causal else 1
            ends = (at for at, token in enumerate(tokens) if at >= begun and token in self._ends)
            end = next(ends, None)
            self.written[prompt] = tokens if end is None else tokens[: end + 1]
            self.cut[prompt] = end is None

    def _continued(self, prompts: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return a causal model's inputs, padded in front, as the answer follows the last token."""
        ids, read = padded([prompt[::-1] for prompt in prompts], self._padding)
        inputs = {"input_ids": ids, "attention_mask": read}
        return {
            name: torch.from_numpy(np.fliplr(array).astype(np.int64)).to(self._model.device)
            for name, array in inputs.items()
        }

    def _encoded(self, prompts: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return a sequence-to-sequence model's inputs; args are those of `_continued`."""
        states, mask = encoded(self._model, prompts)
        outputs = BaseModelOutput(last_hidden_state=states)
        return {"encoder_outputs": outputs, "attention_mask": mask.long()}


def end_tokens(model: Any) -> frozenset[int]:
    """Return the tokens that end what a model writes."""
    end = model.generation_config.eos_token_id
    return frozenset([] if end is None else [end] if isinstance(end, int) else end)
