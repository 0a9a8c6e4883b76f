"""The contract's tests, run against any system: what ``pronominal check-system`` says."""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from pronominal.adapters.interface import (
    ClusteringSystem,
    GeneratingSystem,
    ScoringSystem,
    kind_of,
)
from pronominal.adapters.plain_questions import plain_prompts, plain_resolutions, plain_slots
from pronominal.adapters.refusals import RefusedTextError
from pronominal.adapters.self_check import PLAIN_SENTENCES
from pronominal.errors import InputError, raised

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


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of the contract.

    Attributes:
        promise: what a system promises.
        faults: in which ways it does not keep it; empty if it does.
    """

    promise: str
    faults: tuple[str, ...]


def check_system(system: Any) -> Iterator[Check]:
    """Yield each promise of the contract, with the ways in which a system breaks it.

    Only sentences of our own are asked.

    Raises:
        InputError: it is no system at all, or it says that it can answer nothing.
    """
    kind_of(system)
    yield Check("it has a name", tuple(_name_faults(system.name)))
    for method, questions in _questions(system):
        ask = getattr(system, method)
        for promise, faults in _PROMISES.items():
            yield Check(f"{method}: {promise}", tuple(dict.fromkeys(faults(ask, questions))))
        for promise, faults in _OWN_PROMISES[method].items():
            yield Check(f"{method}: {promise}", tuple(dict.fromkeys(faults(ask, questions))))


def _questions(system: Any) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(system, ClusteringSystem):
        yield "cluster", list(PLAIN_SENTENCES)
    elif hasattr(system, "choose"):
        yield "choose", plain_resolutions()
    if isinstance(system, ScoringSystem):
        yield "loglikelihood", plain_slots()
    if isinstance(system, GeneratingSystem):
        yield "generate", plain_prompts()


def _name_faults(name: Any) -> Iterator[str]:
    if not isinstance(name, str) or not name.strip():
        yield f"its name is a {type(name).__name__} and not a string with letters"


Ask = Callable[[Sequence[Any]], Any]
Faults = Callable[[Ask, list[Any]], Iterable[str]]


def _answered(ask: Ask, questions: Sequence[Any]) -> Iterator[str]:
    """Yield what keeps a call from having one answer for each question."""
    try:
        answers = ask(questions)
    except RefusedTextError as error:
        yield f"it refuses a plain question: {error.cause}"
    except InputError as error:
        if error.row is None:
            raise
        yield f"it refuses a plain question: {error.cause}"
    except Exception as error:  # the user's own code may raise anything
        yield raised(error)
    else:
        if not isinstance(answers, Sequence) or isinstance(answers, str):
            yield f"it returns a {type(answers).__name__} and not a list"
        elif len(answers) != len(questions):
            yield f"it gives {len(answers)} answers to {len(questions)} inputs"


def _order_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    if any(_answered(ask, questions)):
        return
    together = list(ask(questions))
    if not _same(together, list(ask(questions))):
        yield "asked twice, it answers differently"
    if not _same(together[::-1], list(ask(questions[::-1]))):
        yield "in another order, inputs have other answers"
    alone = [answer for one in questions for answer in ask([one])]
    if not _same(together, alone):
        yield "alone, inputs have other answers than together"


def _none_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    yield from _answered(ask, [])


def _peace_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    before, copies = random.getstate(), list(questions)
    if any(_answered(ask, questions)):
        return
    if random.getstate() != before:
        yield "it changes the state of the module random"
    if questions != copies:
        yield "it changes the list that it is given"


_PROMISES: dict[str, Faults] = {
    "one answer for each input": _answered,
    "no answers to no inputs": _none_faults,
    "an answer depends on its input alone": _order_faults,
    "it leaves everything as it was": _peace_faults,
}


def _span_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    for texts in (questions, *([text] for text in ODD_TEXTS)):
        if any(_answered(ask, texts)):
            continue  # another promise
        for text, clusters in zip(texts, ask(texts), strict=True):
            yield from _cluster_faults(text, clusters)


def _cluster_faults(text: str, clusters: Any) -> Iterator[str]:
    try:
        spans = [[(int(start), int(end)) for start, end in cluster] for cluster in clusters]
    except (TypeError, ValueError):
        yield "its answer is no list of clusters, each a list of (start, end)"
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
        for fault in _answered(ask, [text]):
            if not fault.startswith("it refuses"):
                yield f"at odd text {number} ({text[:6]!r}...): {fault}"


def _finding_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    if not any(_answered(ask, questions)) and not any(ask(questions)):
        yield f"it finds no cluster in any of {len(questions)} plain sentences"


def _probability_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    def is_one(score: float) -> bool:
        return 0 <= score <= 1

    yield from _number_faults(ask, questions, "candidates", is_one, "outside [0, 1]")


def _finite_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    yield from _number_faults(ask, questions, "options", math.isfinite, "not finite")


def _number_faults(
    ask: Ask, questions: list[Any], among: str, allowed: Callable[[float], bool], fault: str
) -> Iterator[str]:
    if any(_answered(ask, questions)):
        return
    for question, answer in zip(questions, ask(questions), strict=True):
        try:
            scores = [float(score) for score in answer]
        except (TypeError, ValueError):
            yield "an answer is no list of numbers"
            continue
        if len(scores) != len(getattr(question, among)):
            yield f"it does not give one number for each of the {among}"
        if not all(map(allowed, scores)):
            yield f"a number is {fault}"


def _label_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    if any(_answered(ask, questions)):
        return
    others = [replace(question, label=1 - question.label) for question in questions]
    if not _same(list(ask(questions)), list(ask(others))):
        yield "with another label it answers differently: it looks at the solution"


def _string_faults(ask: Ask, questions: list[Any]) -> Iterator[str]:
    if any(_answered(ask, questions)):
        return
    if not all(isinstance(answer, str) for answer in ask(questions)):
        yield "an answer is no string"


_OWN_PROMISES: dict[str, dict[str, Faults]] = {
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
    "generate": {
        "an answer is a string": _string_faults,
    },
}


def _same(one: Any, other: Any) -> bool:
    """Say whether two answers are equal, but for what computing in another batch changes."""
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    if isinstance(one, str) or not isinstance(one, Sequence):
        return bool(one == other)
    same_length = isinstance(other, Sequence) and len(one) == len(other)
    return same_length and all(map(_same, one, other))
