"""Which charts a task's scores become: of its measures, of its own, and those of every task."""

from collections.abc import Iterator, Mapping

from pronominal.eval.report.charts import kinds
from pronominal.eval.report.charts.drawings import (
    DASHED,
    Drawer,
    Drawing,
    Panel,
    legend,
    sizes,
    written,
)
from pronominal.eval.report.charts.kinds import Point
from pronominal.eval.report.charts.paired_test_map import paired_test_map
from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.charts import Curves, Dots
from pronominal.eval.tables.comparison import OVER_PROMPTS, parts_of, reasons_of_none
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.prompt_questions import PROMPT_QUESTIONS
from pronominal.eval.tables.table import Table, percent, share_of
from pronominal.eval.task import Task


def task_drawings(task: Task, scores: Mapping[str, Scores], rows: int) -> Iterator[Drawing]:
    """Draw what the scores of the systems on one split, of so many rows, hold."""
    drawer = Drawer(scores, task.units)
    for chart in measure_charts(task.measures, scores):
        yield from drawer.drawings(chart)
    for own in () if task.charts is None else task.charts(scores):
        yield from drawer.drawings(own)
    yield from _prompts(drawer)
    yield from _rules_differ(scores, rows)
    for tests in paired_test_map(scores):
        yield from drawer.drawings(tests)


def measure_charts(measures: tuple[Measure, ...], scores: Mapping[str, Scores]) -> Iterator[Dots]:
    """Chart the measures that ask for it: side by side, then each by kinds of rows."""
    shown = [m for m in measures if m.in_charts and any(map(m.of, scores.values()))]
    panels = {measure.name: {"": measure.path} for measure in shown}
    yield Dots("measures", "Measures", panels, {m.name: _chance(m, scores) for m in shown})
    for measure in measures:
        for division in measure.chart_divisions:
            yield _divided(measure, division, scores)


def _divided(measure: Measure, division: str, scores: Mapping[str, Scores]) -> Dots:
    """Chart a measure by a kind of part; of two kinds, the second one is the series."""
    panels: dict[str, dict[str, Keys]] = {}
    for (name,), path in parts_of(measure, division, scores.values()):
        panel, _, series = name.partition("/") if "/" in division else (name, "", "")
        panels.setdefault(panel, {})[series] = path
    kinds = division.replace("_", " ").replace("/", " and ")
    name = f"{measure.key}-by-{division}".replace("_", "-").replace("/", "-and-")
    chance = dict.fromkeys(panels, _chance(measure, scores))
    return Dots(name, f"{measure.name} by {kinds}", panels, chance)


def _chance(measure: Measure, scores: Mapping[str, Scores]) -> float | None:
    chances = (measure.chance_in(one) for one in scores.values())
    return next((chance for chance in chances if chance is not None), None)


def curves(
    task: Task, curve: Curves, split: str, scores: Mapping[str, Mapping[str, Scores]]
) -> Iterator[Drawing]:
    """Draw the headline over the configs of a dataset, from config -> system -> scores."""
    places = {config: place for config in sorted(scores) if (place := curve.place(config))}
    if len(places) < 2:
        return
    measure = task.headline_measure
    systems = dict.fromkeys(system for config in places for system in scores[config])
    first = next(iter(places))
    panels = {"all rows": measure.path}
    if curve.division:
        panels |= {n: p for (n,), p in parts_of(measure, curve.division, scores[first].values())}
    drawers = {config: Drawer(scores[config], task.units) for config in places}
    rows = {
        name: {
            system: [
                drawer.point(system, path, config) if system in drawer.scores else Point(None)
                for config, drawer in drawers.items()
            ]
            for system in systems
        }
        for name, path in panels.items()
    }
    cells = [
        (system, name, *map(written, points[system]))
        for name, points in rows.items()
        for system in systems
    ]
    one = next(iter(scores[first].values()))
    notes = (*sizes(rows), DASHED, *drawers[first].notes_of(one))
    title = f"{curve.title}, {split}"
    table = Table(title, ("System", "Rows", *places.values()), tuple(cells), notes)
    chance = measure.chance_in(one) or 0.0
    drawn = tuple(
        Panel(kinds.curves(name, [*places.values()], points, chance=chance), name)
        for name, points in rows.items()
    )
    yield Drawing(f"{curve.name}.{split}", drawn, legend(list(systems), "s"), table)


def _prompts(drawer: Drawer) -> Iterator[Drawing]:
    for question in PROMPT_QUESTIONS:
        kind, title = question.key, question.chart_title
        there = {system: one[kind] for system, one in drawer.scores.items() if kind in one}
        if not there:
            continue
        rows = {
            system: [
                drawer.point(system, (kind, "by_prompt", prompt, "accuracy"), f"prompt {prompt}")
                for prompt in block["by_prompt"]
            ]
            for system, block in there.items()
        }
        names = ("sd", "lowest", "median", "highest")
        mean = share_of("accuracy")
        cells = (
            (s, mean(block), *(percent(block.get(name)) for name in names))
            for s, block in there.items()
        )
        notes = (
            "Each dot is a prompt; the box holds the middle half of them, its line is the median.",
            OVER_PROMPTS,
            *reasons_of_none(there),
            *sizes({title: rows}),
        )
        table = Table(
            title, ("System", "Mean", "sd", "Lowest", "Median", "Highest"), tuple(cells), notes
        )
        yield Drawing(kind, (Panel(kinds.boxes("Accuracy", rows), kind),), (), table)


def _rules_differ(scores: Mapping[str, Scores], n: int) -> Iterator[Drawing]:
    """Draw in how many rows the decision rule makes a difference."""
    there = {s: one for s, one in scores.items() if one.get("readings_differ") is not None}
    if not there:
        return
    cells, rows = [], {}
    for system, one in there.items():
        differing = one["readings_differ"]
        cells.append((system, f"{n:,}", f"{differing:,}"))
        rows[system] = [Point(differing / n, None, f"{system}: {differing:,} of {n:,} rows")]
    notes = ("Rows that the offset reading and upstream's decide differently.",)
    title = "Differences between readings"
    table = Table(title, ("System", "n", "Rows that differ"), tuple(cells), notes)
    yield Drawing(
        "readings", (Panel(kinds.dots("Percent of the rows", rows), "readings"),), (), table
    )
