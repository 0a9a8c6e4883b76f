"""``pronominal reproduce``: a paper's figures, ours from the given runs, and the difference."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pronominal.errors import InputError
from pronominal.eval.papers.across_models import Summary, trend
from pronominal.eval.papers.data_figures import DATA_FIGURES, folders_of
from pronominal.eval.papers.figures import Names, PaperFigure, PaperRow, PaperTable
from pronominal.eval.papers.pair_outcomes import PairOutcome, pair_outcomes
from pronominal.eval.papers.reproduction import Line, Reproduction
from pronominal.eval.runs.scored import Run, by_label
from pronominal.eval.scores.winopron.bias import between_systems
from pronominal.eval.statistics.scores import Scores
from pronominal.names import unknown_name

Measured = tuple[float | None, float | None]
"""Mean and standard deviation (n - 1), as far as there are runs for them."""

OVERLAPS = ("between_cases", "between_systems")
"""Where scores have the indices of two sets of biased occupations."""

OF_DATA = "it is counted in the data, and no estimate"
OF_RUNS = "it is the mean of several runs, whose standard deviation stands beside it"
OF_GAINS = "it is the difference of two runs' figures; 'pronominal report' compares the runs"
OF_CHANGES = "it is the difference of two figures over different rows; each has its own interval"
OF_MODELS = "it is a figure over several models, each of which counts once"
BESIDE_CHANCE = "it is compared with chance instead"
NOT_IN_SCORES = "it is a count, or the scores have none"
"""Why a figure of ours has no interval."""


def reproduce(
    tables: Sequence[PaperTable],
    runs: Sequence[Run] = (),
    named: Mapping[str, Sequence[Run]] | None = None,
    datasets: Sequence[str] = (),
    *,
    include_text: bool = False,
) -> list[Reproduction]:
    """Put our figures beside a paper's; a row without a run stays empty.

    A run belongs to the row whose key is its label, or to the one that `named` names; every other
    run of a table's rows comes after the paper's, so that floors are in every table.

    Args:
        tables: the paper's.
        runs: scored runs.
        named: key of a row -> its runs; of several, mean and spread.
        datasets: folders of built datasets, for the tables about the data alone, or about rows.
        include_text: whether the tables about rows have their text, and not only their ids.

    Raises:
        InputError: `named` has a row that is in no table, or for a row only runs that no table is
            about, two runs of the same rows have one label, or no table is about the data of a
            folder.
    """
    given = _by_row(tables, runs, named or {})
    folders = folders_of(tables, datasets)
    made = []
    for table in tables:
        on_data = table.name in DATA_FIGURES
        lines = _data_lines(table, folders) if on_data else _run_lines(table, given)
        pairs: Mapping[str, list[PairOutcome]] = {}
        if table.switched and table.dataset in folders:
            pairs = pair_outcomes(table, folders[table.dataset], given, include_text=include_text)
        made.append(Reproduction(table, tuple(lines), pairs))
    return made


def _by_row(
    tables: Sequence[PaperTable], runs: Sequence[Run], named: Mapping[str, Sequence[Run]]
) -> dict[str, list[Run]]:
    """Return the runs of each row, and of each label that is no row's."""
    given = {key: list(chosen) for key, chosen in named.items()}
    rows = {key for table in tables for key in table.rows}
    rows |= {row.baseline for table in tables for row in table.rows.values() if row.baseline}
    rows |= {key for table in tables for key in table.between}
    for key in given:
        if key not in rows:
            raise unknown_name("row", key, rows)
        _refuse_other_rows(tables, given[key])
    placed = {run.folder.resolve() for chosen in given.values() for run in chosen}
    others = [run for run in runs if run.folder.resolve() not in placed]
    for label, labelled in by_label(others).items():
        given.setdefault(label, labelled)
    return given


def _data_lines(table: PaperTable, folders: Mapping[str, str]) -> Iterator[Line]:
    ours: dict[str, Mapping[str, float]] = {}
    for name, figure in table.figures.items():
        folder = folders.get(table.dataset_of(figure))
        ours[name] = DATA_FIGURES[table.name](folder, table, figure) if folder else {}
    for key, row in table.rows.items():
        for name, figure in table.figures.items():
            line = _line(key, row, name, figure, (ours[name].get(key), None), ())
            yield replace(line, interval_missing=None if line.ours is None else OF_DATA)


def _run_lines(table: PaperTable, given: Mapping[str, Sequence[Run]]) -> Iterator[Line]:
    if table.between:
        given = {key: _compared(table, given) for key in table.rows}
    baselines = {row.baseline for row in table.rows.values()}
    others = {
        key: PaperRow(table.models[key].name if key in table.models else key, {})
        for key, runs in given.items()
        if key not in table.rows
        and key not in baselines
        and any(_fitting(table, figure, runs) for figure in table.figures.values())
    }
    for key, row in {**table.rows, **others}.items():
        for name, figure in table.figures.items():
            if row.over is not None:
                yield _summed_line(table, key, name, given)
                continue
            runs = _fitting(table, figure, given.get(key, ()))
            if figure.unit == "occupations":
                yield _occupations_line(key, row, name, figure, runs)
                continue
            measured = _measured(figure, runs)
            if figure.gain:
                before = _fitting(table, figure, given.get(row.baseline or "", ()))
                measured = _gain(measured, _measured(figure, before))
            if figure.minus:
                less = table.figures[figure.minus]
                before = _fitting(table, less, given.get(key, ()))
                measured = _gain(measured, _measured(less, before))
            line = _line(key, row, name, figure, measured, tuple(run.label for run in runs))
            chance, _ = (None, None) if figure.minus else _measured(_by_chance(figure), runs)
            size = table.models[key].parameters if key in table.models else None
            chance = None if chance is None else figure.scale * chance
            line = replace(line, chance=chance, parameters=size, overlap=_overlap(figure, runs))
            yield line if line.ours is None else _with_interval(line, figure, runs)


def _with_interval(line: Line, figure: PaperFigure, runs: Sequence[Run]) -> Line:
    """Add the interval of a number of ours, or why there is none."""
    there = [run for run in runs if _found(figure, run) is not None]
    if figure.gain or figure.minus or len(there) > 1:
        of_one = OF_CHANGES if figure.minus else OF_GAINS
        return replace(line, interval_missing=OF_RUNS if len(there) > 1 else of_one)
    found = Scores(_scores_of(figure, there[0])).figure(tuple(figure.path.split(".")))
    if found is not None and found.ends is not None:
        low, high = found.ends
        return replace(line, interval=(figure.scale * low, figure.scale * high))
    reason = None if found is None else found.missing
    if line.chance is not None:
        reason = reason or BESIDE_CHANCE
    return replace(line, interval_missing=reason or NOT_IN_SCORES)


def _summed_line(
    table: PaperTable, key: str, name: str, given: Mapping[str, Sequence[Run]]
) -> Line:
    """Sum a figure up over the models of a row, each of which counts once."""
    row, figure = table.rows[key], table.figures[name]
    models = {m: model for m, model in table.models.items() if model.belongs_to(row.over or "")}

    def scores(one: PaperFigure) -> dict[str, float]:
        one = replace(one, trend=False)
        means = {m: _measured(one, _fitting(table, one, given.get(m, ())))[0] for m in models}
        return {m: mean for m, mean in means.items() if mean is not None}

    own = scores(figure)
    less = scores(table.figures[figure.minus]) if figure.minus else None
    summary = Summary.of(own, less)
    if figure.trend:
        summary = Summary(trend(own, {m: model.parameters for m, model in models.items()}))
    counted = [m for m in own if less is None or m in less]
    line = _line(key, row, name, figure, (summary.mean, summary.sd), tuple(counted))
    if summary.ends is not None:
        low, high = summary.ends
        line = replace(line, ends=(figure.scale * low, figure.scale * high))
    missing = None if line.ours is None else OF_MODELS
    return replace(line, tests=summary.tests, interval_missing=missing)


def _fitting(table: PaperTable, figure: PaperFigure, runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.rows == table.place_of(figure)]


def _refuse_other_rows(tables: Sequence[PaperTable], runs: Sequence[Run]) -> None:
    """Refuse runs of a row that the table would leave out."""
    figures = [(table, figure) for table in tables for figure in table.figures.values()]
    if any(_fitting(table, figure, runs) for table, figure in figures):
        return
    asked = sorted({"/".join(table.place_of(figure)) for table, figure in figures})
    cause = f"it is of {'/'.join(runs[0].rows)}, and no table asked for is about that"
    raise InputError(cause, cure=f"give a run of {' or '.join(asked)}", file=runs[0].folder)


def _compared(table: PaperTable, given: Mapping[str, Sequence[Run]]) -> list[Run]:
    """Return the comparison of the biases of a table's two systems, as the scores of one run."""
    place = (table.dataset, table.config, table.split)
    found = [[run for run in given.get(key, ()) if run.rows == place] for key in table.between]
    return [
        Run(
            f"{one.label} / {other.label}",
            place,
            Scores(between_systems(one.scores["bias"], other.scores["bias"])),
            one.folder,
        )
        for one, other in zip(*found, strict=False)
        if one.scores.get("bias") and other.scores.get("bias")
    ]


def _measured(figure: PaperFigure, runs: Sequence[Run]) -> Measured:
    """Return mean and standard deviation over the runs that have a figure."""
    if figure.trend:  # one system has none
        return None, None
    values = [float(value) for run in runs if (value := _found(figure, run)) is not None]
    return (
        statistics.fmean(values) if values else None,
        statistics.stdev(values) if len(values) > 1 else None,
    )


def _by_chance(figure: PaperFigure) -> PaperFigure:
    """Return where scores say what chance gives for a figure."""
    *parents, name = figure.path.split(".")
    if parents and parents[-1] in OVERLAPS:
        path = [*_overlap_path(figure), "signed", "expected"]
    else:
        path = [*parents, {"score": "chance", "percentage": "expected"}.get(name, f"{name}.chance")]
    return replace(figure, path=".".join(path))


def _overlap_path(figure: PaperFigure) -> list[str]:
    *parents, name = figure.path.split(".")
    return [*parents[:-1], f"{parents[-1]}_by_chance", name]


def _overlap(figure: PaperFigure, runs: Sequence[Run]) -> Mapping[str, Any] | None:
    """Return what chance gives for an index of two sets, of the first run that has it."""
    parents = figure.path.split(".")[:-1]
    if not parents or parents[-1] not in OVERLAPS:
        return None
    found = replace(figure, path=".".join(_overlap_path(figure)))
    return next((one for run in runs if (one := _found(found, run))), None)


def _gain(after: Measured, before: Measured) -> Measured:
    """Return how much more one has; the spread is that of one run's gain over another's."""
    (mean, sd), (mean_before, sd_before) = after, before
    return (
        None if mean is None or mean_before is None else mean - mean_before,
        None if sd is None or sd_before is None else math.hypot(sd, sd_before),
    )


def _scores_of(figure: PaperFigure, run: Run) -> Mapping[str, Any]:
    """Return the scores that a figure is in.

    Of a prompted model the papers count the answers to all prompts, not the first one's.
    """
    questions = ("chains", "prompts") if figure.question == "chains" else ("prompts",)
    asked = [run.scores[name] for name in questions if name in run.scores]
    for scores in (found for one in asked for found in (one.get("every_answer", {}), one)):
        if _at(figure.path, scores) is not None:
            return cast(Mapping[str, Any], scores)
    return run.scores


def _found(figure: PaperFigure, run: Run) -> Any:
    return _at(figure.path, _scores_of(figure, run))


def _at(path: str, found: Any) -> Any:
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _line(
    key: str,
    row: PaperRow,
    name: str,
    figure: PaperFigure,
    measured: Measured,
    runs: tuple[str, ...],
) -> Line:
    paper = row.paper.get(name)
    ours, sd = (None if one is None else figure.scale * one for one in measured)
    difference = None if paper is None or ours is None else float(ours - paper)
    return Line(key, row.name, name, paper, ours, sd, difference, None, runs, row.why)


def _occupations_line(
    key: str, row: PaperRow, name: str, figure: PaperFigure, runs: Sequence[Run]
) -> Line:
    """Compare biased occupations; the paper names a sample of them, so ours may have more."""
    paper = row.occupations.get(name)
    biases = [bias for run in runs if (bias := _found(figure, run)) is not None]
    found = [
        [*(f"+{one}" for one in bias["positive"]), *(f"-{one}" for one in bias["negative"])]
        for bias in biases
    ]
    ours: Names | None = None
    if found:
        ours = tuple(one for one in found[0] if all(one in other for other in found[1:]))
    lacking: Names | None = None
    if paper is not None and ours is not None:
        either = {*ours, *(one[1:] for one in ours)}  # where the paper's sign is not known
        lacking = tuple(one for one in paper if one not in either)
    labels = tuple(run.label for run in runs)
    return Line(key, row.name, name, paper, ours, None, lacking, None, labels, row.why)
