"""Models in vLLM that are asked in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from pronominal.adapters.lm.engines.vllm_engine import VllmEngine
from pronominal.adapters.lm.prompting.budgets import THINKING_TOKENS
from pronominal.adapters.lm.prompting.chat import PROMPT_DATE, Chat
from pronominal.adapters.lm.prompting.conversation import ConversationSettings
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.adapters.lm.thoughts.reading import Reply


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
        settings = ConversationSettings(
            max_new_tokens, thinking_tokens, thoughts, enable_thinking, chat_template_kwargs, date
        )
        self._engine = VllmEngine(
            checkpoint, dtype, tensor_parallel_size, max_model_len, gpu_memory_utilization
        )
        self.checkpoint = self._engine.checkpoint
        self._conversation = settings.begin(self._engine.tokenizer, chat, checkpoint)
        self.max_new_tokens = self._conversation.max_new_tokens
        self.inference = self._conversation.described | self._engine.described

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[Reply]:
        """Return what the model answers to each prompt, in order, without its thoughts."""
        if not prompts:
            return []
        limit = max_new_tokens or self.max_new_tokens
        tokens = self._conversation.tokens(prompts)
        self._engine.refuse_longer([len(prompt) + limit for prompt in tokens], "prompts")
        return self._conversation.replies(
            lambda chosen, most: self._written([tokens[one] for one in chosen], most),
            len(prompts),
            limit,
        )

    def _written(self, prompts: Sequence[Sequence[int]], limit: int) -> list[Reply]:
        longest = self._engine.longest
        room = [limit if longest is None else min(limit, longest - len(one)) for one in prompts]
        return [
            self._conversation.reply(tokens, reason)
            for tokens, reason in self._engine.written(prompts, room)
        ]
