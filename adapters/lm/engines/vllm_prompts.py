"""Models in vLLM that are asked in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from pronominal.adapters.lm.engines.vllm_engine import VllmEngine
from pronominal.adapters.lm.prompting.budgets import THINKING_TOKENS, refuse_budgets, with_room
from pronominal.adapters.lm.prompting.chat import PROMPT_DATE, Chat, Turns, template_arguments
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.adapters.lm.thoughts.delimiters import described_delimiters, parse_thoughts
from pronominal.adapters.lm.thoughts.reading import Reply, read_tokens


class VllmPrompts:
    """A causal model in vLLM, asked as `PromptedModel` is asked.

    Answers are greedy; in bfloat16 what else is in vLLM's batch may turn a tie.

    Args:
        checkpoint: a folder or a Hub id.
        prompts: as for `PromptedModel`, and so are the settings down to ``date``.
        chain_of_thought: as for `PromptedModel`.
        slot: as for `PromptedModel`.
        chat: as for `PromptedModel`.
        max_new_tokens: as for `PromptedModel`.
        thinking_tokens: as for `PromptedModel`.
        thoughts: as for `PromptedModel`.
        enable_thinking: as for `PromptedModel`.
        chat_template_kwargs: as for `PromptedModel`.
        date: as for `PromptedModel`.
        dtype: as for `VllmEngine`, and so are the others.
        tensor_parallel_size: as for `VllmEngine`.
        max_model_len: as for `VllmEngine`.
        gpu_memory_utilization: as for `VllmEngine`.
    """

    name = "lm-prompts-vllm"
    question = "generation"
    chunk = 240

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        checkpoint: str,
        *,
        prompts: Sequence[str] | None = None,
        chain_of_thought: str | None = None,
        slot: str | None = None,
        chat: Chat | None = None,
        max_new_tokens: int = ANSWER_TOKENS,
        thinking_tokens: int = THINKING_TOKENS,
        thoughts: str | Sequence[str] | None = None,
        enable_thinking: bool | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        date: str = PROMPT_DATE,
        dtype: str | None = None,
        tensor_parallel_size: int = 1,
        max_model_len: int | None = None,
        gpu_memory_utilization: float = 0.9,
    ) -> None:
        self.prompting = parse_prompts(prompts, chain_of_thought, slot)
        refuse_budgets(max_new_tokens, thinking_tokens)
        delimiters = parse_thoughts(thoughts)
        arguments = template_arguments(chat_template_kwargs, enable_thinking)
        self._engine = VllmEngine(
            checkpoint, dtype, tensor_parallel_size, max_model_len, gpu_memory_utilization
        )
        self.checkpoint = self._engine.checkpoint
        self.max_new_tokens = max_new_tokens
        tokenizer = self._engine.tokenizer
        self._turns = Turns(tokenizer, chat, checkpoint, arguments, date)
        described = described_delimiters(tokenizer) if thoughts is None else ()
        self._delimiters = described or delimiters
        self._thinking_tokens = thinking_tokens if self._delimiters else 0
        self.inference = {
            "max_new_tokens": max_new_tokens,
            "thinking_tokens": self._thinking_tokens,
            **self._turns.described,
            **self._engine.described,
        }

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[Reply]:
        """Return what the model answers to each prompt, in order, without its thoughts."""
        if not prompts:
            return []
        limit = max_new_tokens or self.max_new_tokens
        tokens = [self._turns.tokens(self._turns.text(prompt)) for prompt in prompts]
        self._engine.refuse_longer([len(prompt) + limit for prompt in tokens], "prompts")
        return with_room(
            lambda chosen, most: self._written([tokens[one] for one in chosen], most),
            len(prompts),
            limit,
            self._thinking_tokens,
        )

    def _written(self, prompts: Sequence[Sequence[int]], limit: int) -> list[Reply]:
        longest = self._engine.longest
        room = [limit if longest is None else min(limit, longest - len(one)) for one in prompts]
        return [
            read_tokens(self._engine.tokenizer, tokens, self._turns.end, reason, self._delimiters)
            for tokens, reason in self._engine.written(prompts, room)
        ]
