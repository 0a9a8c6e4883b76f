"""The tables that compare systems: those that follow from measures, and those of every task."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.prompt_questions import PROMPT_QUESTIONS
from pronominal.eval.tables.table import (
    BELOW_CHANCE,
    FEW_UNITS,
    OF_FEW,
    UNDEFINED,
    VACUOUS,
    Cell,
    Table,
    interval_notes,
    percent,
    percent_of,
    share_of,
    table,
)

FAILED = "failed"
"""Where scores say how many rows failed; ``failed_switched`` and the like for companion splits."""

CAUSES = "failed_causes"
"""Where scores say why the first of them failed: ``""`` or a companion's name -> a sentence."""

DRAWN = "drawn"
"""Where scores of drawn rows say what they mean for all rows of the split."""

SAME_WEIGHTS = "same_weights"
"""Where scores say, for each other run of the same weights, how many rows it decides otherwise."""

WRITTEN = [question.key for question in PROMPT_QUESTIONS if question.written]
"""Where scores have the accuracy over prompts to which models write."""

DIFFER = Measure(
    "readings_differ",
    "Differ",
    ("readings_differ",),
    unit="count",
    direction=None,
    note="Differ: rows that the decision rules offsets and upstream decide differently.",
)


ACCURACY = Measure("accuracy", "Accuracy", ("accuracy",))
OVER_SEEDS = "± Sample standard deviation over the samples of several seeds."
"""What stands behind a figure of several samples."""

OVER_PROMPTS = (
    "sd: sample standard deviation over the prompts. [ ]: 95% interval for other units and other "
    "prompts; the orders of a prompt's options are one prompt. No interval for lowest, median and "
    "highest: each is one prompt's."
)


UNFINISHED = (
    "unfinished: answers that were cut off before there were any, such as in a thought; more "
    "thinking_tokens let models finish."
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
    notes += [*_other_sizes(shown, scores.values())]
    notes += [*mark_notes(shown, scores.values()), *interval_notes(scores.values(), units)]
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
    shown: dict[str, Measure] = {}
    for division, prefix in divisions.items():
        for suffix, measure in measures.items():
            for chosen, path in parts_of(measure, division, scores.values()):
                heading = f"{prefix}{'/'.join(chosen)}{suffix}"
                shown[heading] = measure.on_part(heading, path)
    if shown:
        told = [*notes, *mark_notes(shown.values(), scores.values())]
        told += interval_notes(scores.values())
        yield table(title, {name: part.cell for name, part in shown.items()}, scores, told)


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
        asked = {system: Scores(score[key]) for system, score in scores.items() if key in score}
        if asked:
            columns: dict[str, Cell] = {"prompts": lambda block: str(len(block["by_prompt"]))}
            columns["accuracy"] = share_of("accuracy")
            columns |= {name: percent_of(name) for name in ("sd", "lowest", "median", "highest")}
            columns |= {"unfinished": share_of("unfinished")} if question.written else {}
            notes = [
                OVER_PROMPTS,
                *([UNFINISHED] if question.written else []),
                *reasons_of_none(asked),
            ]
            yield table(question.title, columns, asked, [*notes, *spread_notes(asked)])


def reasons_of_none(asked: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Say why the accuracy over prompts has no interval."""
    yield from no_interval_notes([ACCURACY], [Scores(block) for block in asked.values()])


def spread_notes(asked: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Say what the accuracy varies with, of blocks that have a ``spread``."""
    for system, block in asked.items():
        known = {name: sd for name, sd in block.get("spread", {}).items() if sd is not None}
        if known:
            parts = ", ".join(f"{name} {percent(sd)}" for name, sd in known.items())
            yield f"{system}: standard deviations apart: {parts}."


def _sizes(measures: Sequence[Measure], scores: Scores) -> dict[str, int]:
    """Return of how many each measure is, those of rows first, and not of pairs or groups."""
    ordered = sorted(measures, key=lambda measure: not scores.is_of_rows(measure.path))
    figures = {measure.heading: measure.of(scores) for measure in ordered}
    return {name: one.n for name, one in figures.items() if one is not None and one.n is not None}


def _size(measures: Sequence[Measure], scores: Scores) -> str:
    """Write of how many rows the measures are."""
    sizes = [*_sizes(measures, scores).values()]
    return f"{sizes[0]:,}" if sizes else UNDEFINED


def _other_sizes(measures: Sequence[Measure], scores: Iterable[Scores]) -> Iterator[str]:
    """Say which measures are of another number than the table says: of pairs, and not of rows."""
    for one in scores:
        sizes = _sizes(measures, one)
        n = next(iter(sizes.values()), None)
        yield from (f"{name}: n {size:,}." for name, size in sizes.items() if size != n)


def no_interval_notes(measures: Collection[Measure], scores: Collection[Scores]) -> Iterator[str]:
    """Say why numbers that are shown have no interval."""
    told: dict[str, list[str]] = {}
    for one in scores:
        for measure in measures:
            figure = measure.of(one)
            if figure is not None and figure.missing is not None:
                told.setdefault(figure.missing, []).append(measure.heading)
    for reason, headings in told.items():
        yield f"No interval for {', '.join(dict.fromkeys(headings))}: {reason}."


def mark_notes(measures: Collection[Measure], scores: Collection[Scores]) -> Iterator[str]:
    """Say what guessing gets, what the marks mean, and why numbers have no interval."""
    of_chance: dict[float, dict[str, None]] = {}
    for one in scores:
        for measure in measures:
            chance, figure = measure.chance_in(one), measure.of(one)
            if figure is not None and figure.sd is not None:
                yield OVER_SEEDS
            if chance is not None and figure is not None:
                of_chance.setdefault(chance, {})[measure.heading] = None
            if OF_FEW in measure.short(one):
                yield FEW_UNITS
            if one.is_vacuous(measure.path):
                yield f"{VACUOUS} Nothing was chosen; precision is 100 by upstream's convention."
    for chance, headings in of_chance.items():
        below = f"chance is {100 * chance:.3g}; {BELOW_CHANCE}: the whole interval is below."
        of_all = 1 < len(headings) == len({measure.heading for measure in measures})
        yield below.capitalize() if of_all else f"{', '.join(headings)}: {below}"
    yield from no_interval_notes(measures, scores)


def drawn_notes(scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say which systems have answered drawn rows only, and what that says of all of them."""
    for label, one in scores.items():
        if drawn := one.get(DRAWN):
            low, high = (percent(end) for end in drawn["interval"]["accuracy"])
            yield (
                f"{label}: {drawn['n']:,} of {drawn['of']:,} rows, drawn at random until "
                f"{drawn['why']} (±{drawn['until']:g}). Over all rows its accuracy is "
                f"{percent(drawn['accuracy'])} [{low}, {high}], whenever one stops; intervals "
                "elsewhere are about further units, too."
            )


def failure_notes(scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say which systems failed at how many rows, and what copies the others' clusters are in."""
    for label, one in scores.items():
        for kind, count in failed_rows(one).items():
            rows = f"{kind.replace('_', '-')} row{'s' if count > 1 else ''}".lstrip()
            first = one.get(CAUSES, {}).get(kind)
            why = f"; the first: {first}" if first else ""
            counts = "count as rows" if count > 1 else "counts as a row"
            yield f"{label}: {count:,} {rows} failed and {counts} without an answer{why or '.'}"
        if copies := dict(one.get("copies", {})):
            n = copies.pop("n")
            told = ", ".join(f"{state} {count:,}" for state, count in copies.items())
            yield f"{label}: of {n:,} copies of a text in which it marked clusters, {told}."


def unfinished_notes(scores: Mapping[str, Scores], rows: Measure | None) -> Iterator[str]:
    """Say which systems were cut off before they answered, in which share of their answers.

    Args:
        scores: system -> scores.
        rows: the measure of the rows that were cut off, for systems without several prompts.
    """
    for label, one in scores.items():
        asked = [one[key] for key in WRITTEN if one.get(key, {}).get("unfinished")]
        if asked:
            shares = " and ".join(share_of("unfinished")(block) for block in asked)
        elif rows is not None and (figure := rows.of(one)) is not None and figure.value:
            shares = rows.cell(one)
        else:
            continue
        yield f"{label}: {shares} percent of answers unfinished: cut off, and not answered."


def unread_notes(scores: Mapping[str, Scores], answered: Measure | None) -> Iterator[str]:
    """Say of which models no reply could be read, and how to see what they write."""
    for label, one in scores.items():
        figure = None if answered is None else answered.of(one)
        if figure is not None and not figure.value and any(key in one for key in WRITTEN):
            yield (
                f"{label}: none of its replies could be read as an answer; to see them, add "
                "--include-text and another label to its 'pronominal run'."
            )


def failed_rows(scores: Mapping[str, Any]) -> dict[str, int]:
    """Return how many rows failed by the rows that they are of: ``""`` or ``"switched"``, say."""
    return {
        name.removeprefix(FAILED).removeprefix("_"): count
        for name, count in scores.items()
        if isinstance(count, int) and (name == FAILED or name.startswith(f"{FAILED}_"))
    }
