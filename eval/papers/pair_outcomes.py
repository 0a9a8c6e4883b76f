"""Which rows a system answers rightly as they are and switched (KnowRef, Table 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.papers.figures import PaperTable
from pronominal.eval.runs.answers import read_answers
from pronominal.eval.runs.record import is_run, run_name
from pronominal.eval.runs.scored import Run
from pronominal.eval.statistics.switched_pairs import Answers, SwitchedPairs

OUTCOMES = ("consistently correct", "consistently incorrect", "inconsistent", "undecided")
"""Right, or a wrong choice, in both versions; right in one of them; no choice in one or both."""


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What a system made of a row and its switched version.

    Attributes:
        id: of the row.
        outcome: one of `OUTCOMES`.
        texts: of both versions; None unless the user asked for them.
    """

    id: str
    outcome: str
    texts: tuple[str, str] | None = None


def pair_outcomes(
    table: PaperTable, folder: str, given: Mapping[str, Sequence[Run]], *, include_text: bool
) -> dict[str, list[PairOutcome]]:
    """Return the rows of each system, of its first run that has the switched one beside it.

    Args:
        table: with the config of the `PaperTable.switched` rows.
        folder: of the built dataset.
        given: name -> its runs.
        include_text: whether to keep the rows' text.
    """
    configs = (table.config, table.switched or table.config)
    original, switched = (read_split(folder, config, table.split) for config in configs)
    place = (table.dataset, table.config, table.split)
    found = {}
    for name, runs in given.items():
        for run in (run for run in runs if run.rows == place):
            other = run.folder.parent / run_name(switched, run.label)
            if name not in found and is_run(other):
                answers = read_answers(run.folder, original), read_answers(other, switched)
                found[name] = _outcomes(
                    (original.table, answers[0]),
                    (switched.table, answers[1]),
                    include_text=include_text,
                )
    return found


def _outcomes(original: Answers, switched: Answers, *, include_text: bool) -> list[PairOutcome]:
    pairs = SwitchedPairs.of(original, switched)
    ids = original[0]["id"].to_pylist()
    texts = [original[0]["text"].to_pylist(), switched[0]["text"].to_pylist()]
    return [
        PairOutcome(
            ids[row],
            _outcome(*counts),
            (texts[0][row], texts[1][place]) if include_text else None,
        )
        for place, (row, (_, _, *counts, _)) in enumerate(
            zip(pairs.rows.tolist(), pairs.counts.tolist(), strict=True)
        )
    ]


def _outcome(both_right: int, both_wrong: int, decided: int) -> str:
    held = (both_right, both_wrong, decided, 1)
    return OUTCOMES[held.index(1)]
