"""Which row each answer of a log is about, and which of the row's options it chose."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pronominal.adapters.lm.prompting.answers import named_by_words
from pronominal.adapters.lm.thoughts.reading import read_reply
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.decisions import NONE, UNFINISHED, Decision
from pronominal.errors import InputError
from pronominal.eval.exchange.logs import LoggedAnswer
from pronominal.eval.runs.predictions import Prediction
from pronominal.instances import FillingInstance

OTHER_ROWS = "give the --dataset, --config and --split that the program was asked about"


@dataclass(slots=True)
class MatchedLog:
    """What a log says of the rows of a split.

    Attributes:
        predictions: those of the answered rows, by id.
        failed: id -> why the program has no answer to it.
        disputed: ids of the rows that the program counts as right and we do not, or the reverse.
    """

    predictions: dict[str, Prediction] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    disputed: list[str] = field(default_factory=list)


class LogMatcher:
    """Finds the rows of answers by id, or by a text that only one row has.

    Args:
        instances: the rows.
        file: the log, for errors.
    """

    def __init__(self, instances: Sequence[Instance], file: Path) -> None:
        self._file = file
        self._rows = {instance.id: instance for instance in instances}
        texts: dict[str, list[str]] = {}
        for instance in instances:
            texts.setdefault(instance.text, []).append(instance.id)
        self._by_text = {text: ids[0] for text, ids in texts.items() if len(ids) == 1}
        self.matched = MatchedLog()

    def take(self, answer: LoggedAnswer) -> None:
        """Take in an answer; `InputError` where its row is not certain, or was answered before."""
        row = self._row(answer)
        if answer.failure is not None:
            self.matched.failed[row.id] = answer.failure
            return
        prediction = self._prediction(answer, row)
        earlier = self.matched.predictions.setdefault(row.id, prediction)
        if earlier is not prediction:
            # a row of several of RUFF's samples is in a log once for each
            same = earlier.decision == prediction.decision
            if not (same and isinstance(row, FillingInstance)):
                cause = f"the row {row.id} has several answers"
                cure = "give a log in which each row is asked once, of one epoch"
                raise self._refuse(cause, cure, answer)
        counted = prediction.decision == _right(row)
        if answer.right is not None and answer.right != counted:
            self.matched.disputed.append(row.id)

    def _row(self, answer: LoggedAnswer) -> Instance:
        name = answer.id if answer.id in self._rows else None
        if name is None and answer.id is None and answer.text is not None:
            name = self._by_text.get(answer.text)
        if name is None:
            known = "it has no id" if answer.id is None else f"there is no row {answer.id!r}"
            raise self._refuse(f"no row can be told from an answer: {known}", OTHER_ROWS, answer)
        row = self._rows[name]
        if answer.text is not None and row.text not in answer.text:
            cause = f"the row {name} has another text: configs may share their ids"
            raise self._refuse(cause, OTHER_ROWS, answer)
        return row

    def _prediction(self, answer: LoggedAnswer, row: Instance) -> Prediction:
        options = options_of(row)
        if answer.decision is None:
            return Prediction(row.id, _read(answer.written or "", options))
        places = [*range(len(options))]
        if answer.options is not None:
            found = places_of(answer.options, options)
            if found is None:
                cause = f"the options of row {row.id} are not those that the program offered"
                raise self._refuse(cause, OTHER_ROWS, answer)
            places = found
        decision = answer.decision
        if decision.choice is not None:
            decision = Decision(places[decision.choice])
        if answer.scores is None:
            return Prediction(row.id, decision)
        by_place = dict(zip(places, answer.scores, strict=True))
        return Prediction(row.id, decision, {"scores": [by_place[i] for i in sorted(by_place)]})

    def _refuse(self, cause: str, cure: str, answer: LoggedAnswer) -> InputError:
        return InputError(cause, cure=cure, file=self._file, row=answer.place)


def options_of(row: Instance) -> list[str]:
    """Return the words that a row lets a system choose from."""
    if isinstance(row, FillingInstance):
        return [*row.options]
    return [candidate.text for candidate in row.candidates]


def _right(row: Instance) -> Decision:
    """Return the right answer; a label beyond the options is the abstention, GAP's *neither*."""
    return Decision(row.label) if row.label < len(options_of(row)) else NONE


def places_of(offered: Sequence[str], options: Sequence[str]) -> list[int] | None:
    """Return the index in a row's options of each string that was offered; None if one is unclear.

    A string is an option, or begins with it as the filled slots of our own tasks do, or names it
    alone. Letters, in their order, stand for options whose order only the prompt knows.

    >>> places_of(["the cook", "the pilot"], ["pilot", "cook"])
    [1, 0]
    >>> places_of([" A", " B"], ["pilot", "cook"])
    [0, 1]
    """
    if len(offered) != len(options):
        return None
    if [one.strip() for one in offered] == [chr(ord("A") + i) for i in range(len(options))]:
        return [*range(len(options))]
    places = [_place_of(one.strip(), options) for one in offered]
    found = [place for place in places if place is not None]
    return found if sorted(found) == [*range(len(options))] else None


def _place_of(offered: str, options: Sequence[str]) -> int | None:
    begun = [
        index
        for index, option in enumerate(options)
        if re.match(rf"{re.escape(option)}(?!\w)", offered, re.IGNORECASE)
    ]
    named = begun or named_by_words(offered, [*options])
    return named[0] if len(named) == 1 else None


def _read(written: str, options: list[str]) -> Decision:
    reply = read_reply(written)
    return UNFINISHED if reply.unfinished else Decision.among(named_by_words(reply, options))


def missing_rows(ids: Sequence[str], matched: MatchedLog) -> list[str]:
    """Return the ids that a log says nothing of."""
    known: Mapping[str, object] = {**matched.predictions, **matched.failed}
    return [name for name in ids if name not in known]
