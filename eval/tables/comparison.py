"""The tables that compare systems: those that follow from measures, and those of every task."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.prompt_questions import PROMPT_QUESTIONS
from pronominal.eval.tables.table import (
    BELOW_CHANCE,
    UNDEFINED,
    VACUOUS,
    Cell,
    Table,
    interval_notes,
    percent_of,
    table,
)

FAILED = "failed"
"""Where scores say how many rows failed; ``failed_switched`` and the like for companion splits."""

DIFFER = Measure(
    "readings_differ",
    "Differ",
    ("readings_differ",),
    unit="count",
    direction=None,
    note="Differ: rows that the decision rules offsets and upstream decide differently.",
)


def measure_table(
    title: str, measures: Sequence[Measure], units: str, scores: Mapping[str, Scores]
) -> Iterator[Table]:
    """Show the measures that some system has, in a column each: one table, or none."""
    shown = [measure for measure in measures if any(map(measure.counts_in, scores.values()))]
    if not shown:
        return
    columns: dict[str, Cell] = {"n": lambda one: _size(shown, one)}
    columns |= {measure.heading: measure.cell for measure in shown}
    notes = [measure.note for measure in shown if measure.note]
    notes += [*_marks(shown, scores.values()), *interval_notes(scores.values(), units)]
    yield table(title, columns, scores, notes)


def division_table(
    title: str,
    measures: Mapping[str, Measure],
    divisions: Mapping[str, str],
    scores: Mapping[str, Scores],
    notes: Sequence[str] = (),
) -> Iterator[Table]:
    """Show measures of parts of the rows, in a column each: one table, or none.

    Args:
        title: of the table.
        measures: what the headings end with, such as `` pl.`` -> what is shown.
        divisions: kind of part -> what the headings begin with, such as ``Words ``.
        scores: system -> its scores.
        notes: sentences below the table.
    """
    columns: dict[str, Cell] = {}
    for division, prefix in divisions.items():
        for suffix, measure in measures.items():
            for chosen, path in parts_of(measure, division, scores.values()):
                part = replace(measure, path=path, chance=None)
                columns[f"{prefix}{'/'.join(chosen)}{suffix}"] = part.short
    if columns:
        yield table(title, columns, scores, notes)


def parts_of(
    measure: Measure, division: str, scores: Iterable[Scores]
) -> Iterator[tuple[Keys, Keys]]:
    """Yield the parts of a division that some system has a number for."""
    pattern = measure.divisions[division]
    there = ((one, *part) for one in scores for part in one.paths(pattern))
    yield from dict.fromkeys((chosen, path) for one, chosen, path in there if one.figure(path))


def prompt_tables(scores: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Compare systems that were prompted: one table for each question they were asked.

    Scores of such systems have what `prompt_scores` returns.
    """
    for question in PROMPT_QUESTIONS:
        key = question.key
        asked = {system: score[key] for system, score in scores.items() if key in score}
        if asked:
            columns: dict[str, Cell] = {"prompts": lambda block: str(len(block["by_prompt"]))}
            columns |= {name: percent_of(name) for name in ("accuracy", "sd", "lowest", "highest")}
            yield table(question.title, columns, asked, ["sd: over the prompts."])


def _size(measures: Sequence[Measure], scores: Scores) -> str:
    """Write of how many rows the first measure is."""
    figures = (measure.of(scores) for measure in measures)
    sizes = [figure.n for figure in figures if figure is not None and figure.n is not None]
    return f"{sizes[0]:,}" if sizes else UNDEFINED


def _marks(measures: Sequence[Measure], scores: Iterable[Scores]) -> Iterator[str]:
    """Say what guessing gets, and what the marks mean."""
    for one in scores:
        for measure in measures:
            chance, figure = measure.chance_in(one), measure.of(one)
            if figure is not None and figure.sd is not None:
                yield "±: sample standard deviation over the samples of several seeds."
            if chance is not None and figure is not None:
                yield f"{measure.heading}: chance is {100 * chance:g}; {BELOW_CHANCE} is below."
            if one.is_vacuous(measure.path):
                yield f"{VACUOUS} Nothing was chosen; precision is 100 by upstream's convention."


def failure_notes(scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say which systems failed at how many rows."""
    for label, one in scores.items():
        for kind, count in failed_rows(one).items():
            rows = f"{kind.replace('_', '-')} rows".lstrip()
            yield f"{label}: {count:,} {rows} failed and count as rows without an answer."


def failed_rows(scores: Mapping[str, Any]) -> dict[str, int]:
    """Return how many rows failed by the rows that they are of: ``""`` or ``"switched"``, say."""
    return {
        name.removeprefix(FAILED).removeprefix("_"): count
        for name, count in scores.items()
        if isinstance(count, int) and (name == FAILED or name.startswith(f"{FAILED}_"))
    }
