"""An answer told apart from the thought before it.

The rules, of which the first that fits counts:

1. Channels (gpt-oss): the answer is the last message of the channel *final*.
2. Tags: the answer is what follows the last closing delimiter. An opening one counts at the start
   of the text, or of a line if it is a tag, behind a closing one, and at the end of the prompt,
   where many templates put it. A closing one alone has a thought before it.
3. Without delimiters all of the text is the answer.

A text that ends within a thought has no answer, whatever it says: the model was cut off. So it was
where it met its limit behind the thought and has not said a word yet.
"""

import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from pronominal.adapters.contract.systems import AnswerWarning
from pronominal.adapters.lm.thoughts.delimiters import Delimiters, around_turns, known_delimiters

State = Literal["answered", "unfinished", "empty"]
"""Whether there is an answer: ``unfinished`` was cut off in its thought, ``empty`` only thought."""

CUT = "length"
"""The finish reason of what met the limit of its tokens."""

_CHANNEL = re.compile(r"<\|channel\|>")
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_OPEN_CHANNEL = re.compile(r"<\|channel\|>[^<]*(?:<\|message\|>)?\s*")
_BEGUN_LINE = re.compile(r"[\s`*>]*")
"""What may stand before a delimiter at the start of a line: marks of Markdown."""

_STRIPPED = re.compile(r"\s*(?:analysis(?=[^\W\d_])|thought\n)|.*assistantfinal", re.DOTALL)
"""Delimiters that are special tokens, after a decoder has left these out."""

_ANSWER = re.compile(
    r"<\s*(answer|response)\s*>(?P<answer>.*?)<\s*/\s*\1\s*>", re.DOTALL | re.IGNORECASE
)
_OPEN_ANSWER = re.compile(r"\s*<\s*(?:answer|response)\s*>", re.IGNORECASE)


class StrippedDelimitersWarning(AnswerWarning):
    """A text has lost what tells its thought from its answer."""


class Reply(str):
    """What a model answered, without its thought: a string that knows how it came about.

    Attributes:
        state: see `State`.
        thought: what it wrote before the answer; None where no delimiter tells the two apart.
        finish_reason: why it stopped, as the engine says it: ``"stop"``, ``"length"``, or None.
    """

    __slots__ = ("finish_reason", "state", "thought")

    state: State
    thought: str | None
    finish_reason: str | None

    def __new__(
        cls,
        answer: str,
        *,
        state: State = "answered",
        thought: str | None = None,
        finish_reason: str | None = None,
    ) -> "Reply":
        """Make the reply with this answer, which is empty unless there is one."""
        reply = super().__new__(cls, answer)
        reply.state, reply.thought, reply.finish_reason = state, thought, finish_reason
        return reply

    @property
    def unfinished(self) -> bool:
        """Whether the model was cut off before it answered."""
        return self.state == "unfinished"

    @property
    def needs_room(self) -> bool:
        """Whether more tokens would give another answer, since a thought took those there were."""
        return self.unfinished or (bool(self.thought) and self.finish_reason == CUT)


class _Parts(NamedTuple):
    """A thought, None without delimiters, and what follows it, None where it does not end."""

    thought: str | None
    answer: str | None


def read_reply(
    text: str,
    *,
    prompt_end: str = "",
    finish_reason: str | None = None,
    delimiters: Sequence[Delimiters] | None = None,
    told_apart: str | None = None,
) -> Reply:
    """Return the answer in what a model wrote.

    Args:
        text: what it wrote, with special tokens if they are known.
        prompt_end: the end of its prompt, behind what the user said: an opening delimiter there has
            begun the thought.
        finish_reason: why it stopped, if that is known.
        delimiters: those that count; None for all that are known, and none of them for a model that
            does not think.
        told_apart: its thought, where a server has taken it out of the text.

    >>> read_reply("<think>He? No.</think>She.")
    'She.'
    >>> read_reply("<think>He, or").state
    'unfinished'
    """
    pairs = [*known_delimiters().values()] if delimiters is None else delimiters
    thought, rest = _parts(text, prompt_end, pairs) if pairs else _Parts(None, text)
    thought = told_apart if thought is None else thought
    if rest is None:
        return Reply("", state="unfinished", thought=thought, finish_reason=finish_reason)
    answer = _within_turn(rest, behind_thought=thought is not None)
    # white space alone is no thought's, and more of it no answer
    cut = finish_reason == CUT and (thought is not None or not text)
    state: State = "answered" if answer.strip() else "unfinished" if cut else "empty"
    return Reply(
        answer if thought is None else answer.strip(),
        state=state,
        thought=thought and thought.strip(),
        finish_reason=finish_reason,
    )


def as_replies(answers: Iterable[str]) -> list[Reply]:
    """Return what models wrote as replies: strings of a user's own are read for all delimiters."""
    return [one if isinstance(one, Reply) else read_reply(one) for one in answers]


def read_tokens(
    tokenizer: Any,
    tokens: Sequence[int],
    prompt_end: str,
    finish_reason: str | None,
    delimiters: Sequence[Delimiters],
) -> Reply:
    """Return the answer in the tokens that a model wrote; special ones may be what ends a thought.

    Args:
        tokenizer: the model's, of transformers.
        tokens: what it wrote.
        prompt_end: as for `read_reply`.
        finish_reason: as for `read_reply`.
        delimiters: as for `read_reply`.
    """
    reply = read_reply(
        tokenizer.decode(tokens, skip_special_tokens=False),
        prompt_end=prompt_end,
        finish_reason=finish_reason,
        delimiters=delimiters,
    )
    if reply.thought is None and reply.state == "answered":
        text = tokenizer.decode(_of_turn(tokenizer, tokens), skip_special_tokens=True)
        answer = _within_turn(text)
        return Reply(
            answer,
            state="answered" if answer.strip() else "empty",
            finish_reason=finish_reason,
        )
    return without_special_tokens(reply, tokenizer)


def without_special_tokens(reply: Reply, tokenizer: Any) -> Reply:
    """Return a reply without its tokenizer's special tokens, such as an end of a family's own."""
    answer = str(reply)
    for token in getattr(tokenizer, "all_special_tokens", ()):
        answer = answer.replace(token, "")
    return Reply(
        answer if reply.thought is None else answer.strip(),
        state="empty" if reply.state == "answered" and not answer.strip() else reply.state,
        thought=reply.thought,
        finish_reason=reply.finish_reason,
    )


def _of_turn(tokenizer: Any, tokens: Sequence[int]) -> Sequence[int]:
    """Return the tokens before the special one that ends what the model says."""
    before, behind = around_turns()
    special = {*getattr(tokenizer, "all_special_ids", ())}
    begun = False
    for place, token in enumerate(tokens):
        if token not in special:
            begun = True
            continue
        literal = tokenizer.decode([token], skip_special_tokens=False)
        if begun and behind.search(literal):
            return tokens[:place]
        begun = begun or not before.fullmatch(literal)
    return tokens


def opens_thought(prompt_end: str, delimiters: Sequence[Delimiters]) -> bool:
    """Say whether a model that reads this at the end of its prompt goes on with a thought."""
    return _opened(prompt_end, delimiters) is not None or _in_channel(prompt_end)


def mentions_thoughts(template: str, delimiters: Sequence[Delimiters]) -> bool:
    """Say whether a chat template knows thoughts, so that its model may begin with one."""
    sides = [side for pair in delimiters for side in (pair.opening, pair.closing, _CHANNEL)]
    return any(side.search(template) for side in sides)


def closes_thought(prompt_end: str, delimiters: Sequence[Delimiters]) -> bool:
    """Say whether a model that reads this is told to answer without a thought."""
    ends = [max((m.end() for m in pair.closing.finditer(prompt_end)), default=0)
            for pair in delimiters]  # fmt: skip
    return any(end and not prompt_end[end:].strip() for end in ends)


def _parts(text: str, prompt_end: str, pairs: Sequence[Delimiters]) -> _Parts:
    start = around_turns()[0].match(text)
    begun = text[start.end() if start else 0 :]
    if prompt_end and (pair := _opened(prompt_end, pairs)) is not None:
        return _behind(pair, text, pairs)
    for pair in pairs:
        if opening := pair.opening.match(begun):
            return _behind(pair, begun[opening.end() :], pairs)
    if _in_channel(prompt_end) or _CHANNEL.match(begun) or _FINAL.search(text):
        return _final(text)
    closings = [(m.end(), pair) for pair in pairs for m in pair.closing.finditer(text)]
    if closings:
        return _behind(max(closings, key=lambda closing: closing[0])[1], text, pairs)
    openings = (found for pair in pairs for found in pair.opening.finditer(text))
    # an answer may be followed by "Here is my thought process:", but hardly by a tag
    tags = (found.start() for found in openings if not found.group()[0].isalpha())
    if any(_BEGUN_LINE.fullmatch(text[:tag].rpartition("\n")[2]) for tag in tags):
        return _Parts(text, None)
    if _STRIPPED.match(text):
        cause = (
            "a thought was decoded without its delimiters; decode with skip_special_tokens=False"
        )
        warnings.warn(StrippedDelimitersWarning(cause), stacklevel=5)
        return _Parts(text, None)
    return _Parts(None, text)


def _behind(pair: Delimiters, text: str, pairs: Sequence[Delimiters]) -> _Parts:
    """Return what follows the last closing delimiter of a text that begins within a thought."""
    closings = [*pair.closing.finditer(text)]
    if not closings:
        return _Parts(text, None)
    thought, rest = text[: closings[-1].start()], text[closings[-1].end() :]
    openings = [(found, one) for one in pairs if (found := one.opening.search(rest))]
    if not openings:
        return _Parts(thought, rest)
    # another thought, which may be in other delimiters
    opening, other = min(openings, key=lambda found: found[0].start())
    further = _behind(other, rest[opening.end() :], pairs)
    return _Parts(f"{thought}{rest[: opening.start()]}{further.thought}", further.answer)


def _opened(prompt_end: str, pairs: Sequence[Delimiters]) -> Delimiters | None:
    """Return the delimiters of a thought that a prompt has begun."""
    for pair in pairs:
        opened = max((m.end() for m in pair.opening.finditer(prompt_end)), default=0)
        closed = max((m.end() for m in pair.closing.finditer(prompt_end)), default=0)
        if opened > closed:
            return pair
    return None


def _in_channel(prompt_end: str) -> bool:
    """Say whether a prompt ends in the header, or the message, of a channel that is not final."""
    begun = [*_CHANNEL.finditer(prompt_end)]
    return bool(begun) and not _FINAL.match(prompt_end, begun[-1].start())


def _final(text: str) -> _Parts:
    """Return the last message of the channel *final*."""
    found = [*_FINAL.finditer(text)]
    if not found:
        return _Parts(text, None)
    thought = _OPEN_CHANNEL.sub("", text[: found[-1].start()])
    return _Parts(thought, text[found[-1].end() :])


def _within_turn(answer: str, *, behind_thought: bool = False) -> str:
    """Return an answer without what stands around it: tokens of the turn, and ``<answer>``.

    ``<response>`` is Granite 3.3's word for it. One not closed counts at the beginning, and
    anywhere behind a thought.
    """
    before, behind = around_turns()
    start = before.match(answer)
    # white space alone is kept as it was written
    if start and answer[: start.end()].strip():
        answer = answer[start.end() :]
    if end := behind.search(answer):
        answer = answer[: end.start()]
    if tagged := [*_ANSWER.finditer(answer)]:
        return tagged[-1]["answer"].strip()
    opened = _OPEN_ANSWER.search(answer) if behind_thought else _OPEN_ANSWER.match(answer)
    return answer[opened.end() :] if opened else answer
