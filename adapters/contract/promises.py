"""The promises of the contract, and what shows that a system does not keep one.

Every promise is a function that asks a system questions and yields its faults.
"""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

from pronominal.adapters.contract.answers import as_clusters, as_numbers
from pronominal.adapters.contract.refusals import FailedCallError, NoAnswerError, RefusedTextError
from pronominal.errors import THIRD_PARTY_ERRORS, InputError, raised

ODD_TEXTS = (
    "",
    " ",
    "\n",
    "Yes.",
    "😀 Anna said that she was tired. 😀",
    "Zoe\u0308 said that she was tired.",
    "Anna said that she was tired.\r\n\r\nThen she slept.",
    "n't ``quoted'' -LRB- $5 %s {} \\ \u200b",
)
"""Texts of our own at which systems break: empty ones, and ones whose offsets are easy to miss."""

_CLOSE = 1e-3
"""How far two computations of the same number may lie apart."""


Ask = Callable[[Sequence[Any]], Any]
"""A method of the system's: questions in, answers out."""

Faults = Callable[[Ask, list[Any]], Iterable[str]]
"""Yields faults, and raises `UnansweredError` where there are no answers to examine."""


class UnansweredError(Exception):
    """A call has not one answer for each question."""


class _RefusedError(UnansweredError):
    """The system says itself that it has no answer to one of the questions."""


def _answers(ask: Ask, questions: Sequence[Any]) -> list[Any]:
    """Return one answer for each question; `UnansweredError` where there is none."""
    try:
        answers = ask(questions)
    except (FailedCallError, NoAnswerError) as error:
        raise UnansweredError(error.cause) from error
    except InputError as error:
        if error.row is None and not isinstance(error, RefusedTextError):
            raise
        raise _RefusedError(f"it refuses a plain question: {error.cause}") from error
    except THIRD_PARTY_ERRORS as error:
        raise UnansweredError(raised(error)) from error
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise UnansweredError(f"it returns a {type(answers).__name__} and not a list")
    if len(answers) != len(questions):
        raise UnansweredError(f"it gives {len(answers)} answers to {len(questions)} inputs")
    return list(answers)


def _order_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    together = _answers(ask, questions)
    if not _same(together, _answers(ask, questions)):
        yield "asked twice, it answers differently"
    if not _same(together[::-1], _answers(ask, questions[::-1])):
        yield "in another order, inputs have other answers"
    alone = [answer for one in questions for answer in _answers(ask, [one])]
    if not _same(together, alone):
        yield "alone, inputs have other answers than together"


def _peace_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    before, copies = random.getstate(), list(questions)
    _answers(ask, questions)
    if random.getstate() != before:
        yield "it changes the state of the module random"
    if questions != copies:
        yield "it changes the list that it is given"


ANSWERED = "one answer for each input"
"""The promise without which the others say nothing."""

PROMISES: dict[str, Faults] = {
    ANSWERED: lambda ask, questions: _answers(ask, questions)[:0],
    "no answers to no inputs": lambda ask, _: _answers(ask, []),
    "an answer depends on its input alone": _order_faults,
    "it leaves everything as it was": _peace_faults,
}
"""What every method promises -> what shows that it does not keep it; `ANSWERED` comes first."""


def _span_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    for texts in (questions, *([text] for text in ODD_TEXTS)):
        with suppress(UnansweredError):  # which is another promise
            for text, clusters in zip(texts, _answers(ask, texts), strict=True):
                yield from _cluster_faults(text, clusters)


def _cluster_faults(text: str, clusters: Any) -> Iterator[str]:
    try:
        spans = as_clusters(clusters)
    except (TypeError, ValueError):
        yield "its answer is no list of clusters, each a list of (start, end), two integers"
        return
    for start, end in chain.from_iterable(spans):
        if not 0 <= start < end <= len(text):
            yield "a span is empty or lies outside the text"
        elif not _at_words(text, start, end):
            yield "a span begins or ends inside a word: offsets count Unicode code points"
    for cluster in spans:
        if len({*cluster}) < len(cluster):
            yield "a cluster has the same span twice"
        if len({*cluster}) < 2:
            yield "a cluster has fewer than two spans"


def _at_words(text: str, start: int, end: int) -> bool:
    inside = (text[max(0, place - 1) : place + 1] for place in (start, end))
    return not any(len(pair) == 2 and pair.isalnum() for pair in inside)


def _odd_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    for number, text in enumerate(ODD_TEXTS, start=1):
        try:
            _answers(ask, [text])
        except _RefusedError:
            continue
        except UnansweredError as error:
            yield f"at odd text {number} ({text[:6]!r}...): {error}"


def _finding_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    if not any(len(answer) for answer in _answers(ask, questions) if isinstance(answer, Sized)):
        yield f"it finds no cluster in any of {len(questions)} plain sentences"


def _probability_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    return _score_faults(ask, questions, "candidates", lambda p: 0 <= p <= 1, "outside [0, 1]")


def _tie_notes(ask: Ask, questions: list[Any]) -> Iterator[str]:
    answers = [as_numbers(answer) for answer in _answers(ask, questions)]
    if ties := sum(scores.count(max(scores)) > 1 for scores in answers):
        yield (
            f"no candidate is the most probable in {ties} of {len(questions)} plain sentences: "
            "that is the answer 'both', which is never right, or where all are 0 'none', which is "
            "right only where neither is the answer (GAP)"
        )


def _finite_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    return _score_faults(ask, questions, "options", math.isfinite, "not finite")


def _score_faults(
    ask: Ask, questions: list[Any], among: str, allowed: Callable[[float], bool], fault: str
) -> Iterator[str]:
    for question, answer in zip(questions, _answers(ask, questions), strict=True):
        try:
            scores = as_numbers(answer)
        except (TypeError, ValueError):
            yield "an answer is no list of numbers"
            continue
        if len(scores) != len(getattr(question, among)):
            yield f"it does not give one number for each of the {among}"
        if not all(map(allowed, scores)):
            yield f"a number is {fault}"


def _label_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    others = [replace(question, label=1 - question.label) for question in questions]
    given, with_others, again = (_answers(ask, asked) for asked in (questions, others, questions))
    if _same(given, again) and not _same(given, with_others):
        yield "with another label it answers differently: it looks at the solution"


def _string_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    if not all(isinstance(answer, str) for answer in _answers(ask, questions)):
        yield "an answer is no string"


OWN_PROMISES: dict[str, dict[str, Faults]] = {
    "cluster": {
        "clusters are pairs of offsets into the text": _span_faults,
        "it answers, or refuses, odd texts": _odd_faults,
        "it finds something": _finding_faults,
    },
    "choose": {
        "a probability for each candidate": _probability_faults,
        "it does not look at the label": _label_faults,
    },
    "loglikelihood": {
        "a finite number for each option": _finite_faults,
        "it does not look at the label": _label_faults,
    },
    "generate": {"an answer is a string": _string_faults},
    "option_loglikelihoods": {"a finite number for each option": _finite_faults},
}
"""What one method promises, by its name."""

NOTES: dict[tuple[str, str], Faults] = {("choose", "a probability for each candidate"): _tie_notes}
"""Method and promise -> what is worth a note where it is kept."""


def _same(one: Any, other: Any) -> bool:
    """Say whether two answers are equal, but for what computing in another batch changes."""
    one, other = (value.tolist() if hasattr(value, "tolist") else value for value in (one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        both_undefined = math.isnan(one) and math.isnan(other)
        return both_undefined or math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    if isinstance(one, str) or not isinstance(one, Sequence):
        return bool(one == other)
    same_length = isinstance(other, Sequence) and len(one) == len(other)
    return same_length and all(map(_same, one, other))
