"""Rows that systems answer differently, with their text: only for those who ask for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup, escape

from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.report.scored import Comparison
from pronominal.eval.runs.answers import read_answers
from pronominal.eval.statistics.outcomes import CHOSE_NONE, NOTHING_RIGHT, choices_of, right_choices

SHOWN = 300
"""Rows of a split that are shown at most, evenly spread over all that there are."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row and its answers.

    Attributes:
        id: of the row.
        text: with the pronoun and the candidates marked.
        answers: (system, answer, whether it is right; None where no answer is).
        right: the right answer; empty where there is none.
    """

    id: str
    text: Markup
    answers: tuple[tuple[str, str, bool | None], ...]
    right: str


def disagreements(comparison: Comparison, split: Split) -> tuple[list[Disagreement], int]:
    """Return rows whose answers differ, at most `SHOWN`, and how many there are in all."""
    answers = {s: read_answers(folder, split) for s, folder in comparison.folders.items()}
    differing = [
        row for row, given in enumerate(zip(*answers.values(), strict=True)) if len({*given}) > 1
    ]
    numbers = differing[:: max(1, -(-len(differing) // SHOWN))]
    places = pa.array(numbers, pa.int64())  # of an empty list pyarrow would not know the type
    return [
        _shown(row, {s: given[number] for s, given in answers.items()}, split.asks_for_form)
        for number, row in zip(numbers, split.table.take(places).to_pylist(), strict=True)
    ], len(differing)


def _shown(row: dict[str, Any], given: dict[str, Any], asks_for_form: bool) -> Disagreement:
    if asks_for_form:
        names, spans = row["options"], [(row["blank"], "pronoun")]
    else:
        names = [candidate["text"] for candidate in row["candidates"]]
        spans = [(row["pronoun"], "pronoun")]
        spans += [(c, f"candidate c{i}") for i, c in enumerate(row["candidates"])]
    right = int(right_choices(np.array([row["label"]]), len(names))[0])
    answers = tuple(
        (system, _answer(decision, names), None if right == NOTHING_RIGHT else code == right)
        for (system, decision), code in zip(
            given.items(), choices_of([*given.values()]).tolist(), strict=True
        )
    )
    told = names[right] if right >= 0 else {CHOSE_NONE: "neither"}.get(right, "")
    return Disagreement(row["id"], _marked(row["text"], spans), answers, told)


def _answer(decision: Any, names: list[str]) -> str:
    return str(decision.abstained if decision.choice is None else names[decision.choice])


def _marked(text: str, spans: list[tuple[dict[str, Any], str]]) -> Markup:
    """Mark spans in a text; one that is nowhere or overlaps an earlier one stays unmarked."""
    marked, place = Markup(""), 0
    for mention, kind in sorted(spans, key=lambda span: (span[0]["start"], -span[0]["end"])):
        start, end = mention["start"], mention["end"]
        if start >= place:
            marked += escape(text[place:start])
            marked += Markup('<mark class="{}">{}</mark>').format(kind, text[start:end])
            place = end
    return marked + escape(text[place:])
