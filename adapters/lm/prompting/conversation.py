"""How a model is asked in its own format, and how what it writes becomes a reply.

Every system that makes its own prompts puts the same together: the turns of a chat, the delimiters
of thoughts, and how long an answer and a thought may be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pronominal.adapters.lm.prompting.budgets import refuse_budgets, with_room
from pronominal.adapters.lm.prompting.chat import Turns, parse_day, template_arguments
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS
from pronominal.adapters.lm.thoughts.delimiters import (
    Delimiters,
    described_delimiters,
    parse_thoughts,
)
from pronominal.adapters.lm.thoughts.reading import (
    Reply,
    read_reply,
    read_tokens,
    without_special_tokens,
)


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """What a user sets, checked before any weights are loaded; as for `PromptedModel`.

    Raises:
        InputError: a setting is none.
    """

    max_new_tokens: int | None
    thinking_tokens: int
    thoughts: str | Sequence[str] | None
    enable_thinking: bool | None
    chat_template_kwargs: Mapping[str, Any] | None
    date: str

    def __post_init__(self) -> None:
        refuse_budgets(self.max_new_tokens, self.thinking_tokens)
        parse_thoughts(self.thoughts)
        parse_day(self.date)
        template_arguments(self.chat_template_kwargs, self.enable_thinking)

    def begin(
        self, tokenizer: Any, chat: str | None, checkpoint: str, answer: int = ANSWER_TOKENS
    ) -> "Conversation":
        """Return how a model with this tokenizer is asked; `chat` is as for `Turns`.

        `answer` is the longest answer where the user has set none. Thoughts are told from answers
        as set, else by the tokenizer's own description, else by all known delimiters.
        """
        arguments = template_arguments(self.chat_template_kwargs, self.enable_thinking)
        turns = Turns(tokenizer, chat, checkpoint, arguments, self.date)
        described = described_delimiters(tokenizer) if self.thoughts is None else ()
        delimiters = described or parse_thoughts(self.thoughts)
        room = self.thinking_tokens if delimiters else 0
        return Conversation(tokenizer, turns, delimiters, self.max_new_tokens or answer, room)


@dataclass(frozen=True, slots=True)
class Conversation:
    """How one model is asked and understood.

    Attributes:
        tokenizer: one of transformers' tokenizers.
        turns: puts prompts into the model's format.
        delimiters: tell its thoughts from its answers.
        max_new_tokens: the longest answer.
        thinking_tokens: how many tokens more an answer has that was cut off in a thought.
    """

    tokenizer: Any
    turns: Turns
    delimiters: Sequence[Delimiters]
    max_new_tokens: int
    thinking_tokens: int

    @property
    def described(self) -> dict[str, Any]:
        """What a run records of it."""
        budgets = {"max_new_tokens": self.max_new_tokens, "thinking_tokens": self.thinking_tokens}
        return budgets | self.turns.described

    def tokens(self, prompts: Sequence[str]) -> list[list[int]]:
        """Return what the model reads of each prompt."""
        return [self.turns.tokens(self.turns.text(prompt)) for prompt in prompts]

    def replies(
        self, ask: Callable[[Sequence[int], int], Sequence[Reply]], prompts: int, limit: int
    ) -> list[Reply]:
        """Return the replies to so many prompts; `ask` and `limit` are as for `with_room`."""
        return with_room(ask, prompts, limit, self.thinking_tokens)

    def reply(self, tokens: Sequence[int], reason: str | None) -> Reply:
        """Return the reply in what was written, and ended for a reason (as servers call it)."""
        return read_tokens(self.tokenizer, tokens, self.turns.end, reason, self.delimiters)

    def reply_in(self, text: str) -> Reply:
        """Return the reply in a text, of which nobody says why it ended."""
        reply = read_reply(text, prompt_end=self.turns.end, delimiters=self.delimiters)
        return without_special_tokens(reply, self.tokenizer)
