"""How long answers may be: a few tokens, and many for those that are thought about first."""

from collections.abc import Callable, Sequence

from pronominal.adapters.lm.thoughts.reading import Reply
from pronominal.errors import InputError

THINKING_TOKENS = 8_192
"""How many new tokens an answer has on top with its thought, as in EuroEval (2025)."""


def refuse_budgets(max_new_tokens: int | None, thinking_tokens: int) -> None:
    """Raise `InputError` for numbers of tokens that no answer has."""
    if max_new_tokens is not None and max_new_tokens < 1:
        raise InputError(f"max_new_tokens is {max_new_tokens}", cure="give a number above 0")
    if thinking_tokens < 0:
        raise InputError(f"thinking_tokens is {thinking_tokens}", cure="give 0 or a number above")


def with_room(
    ask: Callable[[Sequence[int], int], Sequence[Reply]],
    prompts: int,
    limit: int,
    thinking_tokens: int,
) -> list[Reply]:
    """Return the replies to prompts; those that a thought took the room from are asked again.

    A prompt's reply depends on no other's, and a model that does not think is asked once.

    Args:
        ask: takes numbers of prompts, and the most new tokens of each; returns their replies.
        prompts: how many there are.
        limit: the most new tokens of an answer.
        thinking_tokens: how many more an answer has with its thought.
    """
    replies = [*ask(range(prompts), limit)]
    again = [number for number, reply in enumerate(replies) if reply.needs_room]
    if again and thinking_tokens:
        for number, reply in zip(again, ask(again, limit + thinking_tokens), strict=True):
            replies[number] = reply
    return replies
