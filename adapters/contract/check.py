"""The contract's tests, run against any system: what ``pronominal check-system`` says."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pronominal.adapters.contract.plain_questions import (
    plain_prompts,
    plain_resolutions,
    plain_slots,
)
from pronominal.adapters.contract.prints import prints_on_stderr
from pronominal.adapters.contract.promises import (
    ANSWERED,
    NOTES,
    OWN_PROMISES,
    PROMISES,
    Ask,
    Faults,
    UnansweredError,
)
from pronominal.adapters.contract.self_check import PLAIN_SENTENCES
from pronominal.adapters.contract.systems import (
    ClusteringSystem,
    GeneratingSystem,
    MultipleChoiceSystem,
    ScoringSystem,
    kind_of,
)


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of the contract.

    Attributes:
        promise: what a system promises.
        faults: in which ways it does not keep it; empty if it does, or if it was not examined.
        examined: whether it was: of answers that are not there, most promises say nothing.
        notes: what is allowed, and may not be meant.
    """

    promise: str
    faults: tuple[str, ...]
    examined: bool = True
    notes: tuple[str, ...] = ()


def check_system(system: Any) -> Iterator[Check]:
    """Yield each promise of the contract, with the ways in which a system breaks it.

    Only sentences of our own are asked; `InputError` if it is no system, or can answer nothing.
    """
    kind_of(system)
    named = isinstance(system.name, str) and system.name.strip()
    fault = f"its name is a {type(system.name).__name__} and not a string with letters"
    yield Check("it has a name", () if named else (fault,))
    for method, ask, questions in _questions(system):
        answered = True
        for promise, faults in (PROMISES | OWN_PROMISES[method]).items():
            told = _found(faults, ask, questions) if answered else ()
            noted = NOTES.get((method, promise))
            notes = _found(noted, ask, questions) if noted and answered and not told else ()
            yield Check(f"{method}: {promise}", told, examined=answered, notes=notes)
            answered = answered and not (told and promise == ANSWERED)


class _Offer(NamedTuple):
    prompt: str
    options: tuple[str, ...]


def _questions(system: Any) -> Iterator[tuple[str, Ask, list[Any]]]:
    if isinstance(system, ClusteringSystem):
        yield "cluster", system.cluster, list(PLAIN_SENTENCES)
    elif hasattr(system, "choose"):
        yield "choose", system.choose, plain_resolutions()
    if isinstance(system, ScoringSystem):
        yield "loglikelihood", system.loglikelihood, plain_slots()
    if isinstance(system, GeneratingSystem):
        yield "generate", system.generate, plain_prompts()
    if isinstance(system, MultipleChoiceSystem):
        ask = system.option_loglikelihoods
        offers = [_Offer(prompt, ("her", "a man", "it")) for prompt in plain_prompts()]
        yield (
            "option_loglikelihoods",
            lambda asked: ask([o.prompt for o in asked], [o.options for o in asked]),
            offers,
        )


def _found(faults: Faults, ask: Ask, questions: list[Any]) -> tuple[str, ...]:
    """Return each fault once; what is not answered is one, and the last."""
    found: dict[str, None] = {}
    try:
        with prints_on_stderr():
            for fault in faults(ask, questions):
                found[fault] = None
    except UnansweredError as error:
        found[str(error)] = None
    return tuple(found)
