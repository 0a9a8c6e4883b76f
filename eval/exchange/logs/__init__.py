"""Logs of other evaluation programs: what a model answered to each of our rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from pronominal.decisions import Decision
from pronominal.errors import InputError

LOGS = {
    "inspect": "inspect_ai: a log, .eval or .json",
    "lighteval": "lighteval: details of a task, Parquet",
    "lm-eval": "lm-evaluation-harness: samples_TASK_DATE.jsonl, or the folder of it",
}
"""The programs; the module of this folder is called the same, with underscores."""


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """What a log says of one row.

    Attributes:
        place: where in the log it is, such as ``"line 3"``.
        id: the row's id; None where the log does not have it.
        text: what the program had for the row's text, or a prompt with it; None where it is hidden.
        options: the answers that were offered, in the order that the program knew.
        decision: what was chosen, as an index into `options`; None where `written` says it.
        scores: one log-likelihood for each of the options.
        written: what the model wrote, to be read by our rule.
        right: whether the program counted it as right; None where it says nothing of the kind.
        failure: why there is no answer.
    """

    place: str
    id: str | None = None
    text: str | None = None
    options: tuple[str, ...] | None = None
    decision: Decision | None = None
    scores: tuple[float, ...] | None = None
    written: str | None = None
    right: bool | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """What a program has left.

    Attributes:
        answers: one for each row that it asked about, in any order.
        finished: whether it came to its end.
        told: what it says of itself: program, version, model, task, limit.
    """

    answers: Iterator[LoggedAnswer]
    finished: bool = True
    told: Mapping[str, Any] = field(default_factory=dict)


class LogReader(Protocol):
    """A module that reads the logs of one program."""

    def read(self, file: Path, /) -> Log:
        """Return what a log says; `InputError` where it is not in the form."""
        ...


def log_reader(name: str) -> LogReader:
    """Return the module of one of `LOGS`."""
    return cast(LogReader, import_module(f"{__name__}.{name.replace('-', '_')}"))


def not_as_expected(file: Path, program: str, place: str | None, error: Exception) -> InputError:
    """Return the error about what is not in the form that a program writes."""
    missing = isinstance(error, KeyError)
    told = f"lacks the field {error}" if missing else "has a field of the wrong form"
    cause = f"it is no log of {program}: it {told}"
    return InputError(cause, cure=f"give what {program} has written", file=file, row=place)
