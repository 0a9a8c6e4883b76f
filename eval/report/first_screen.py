"""What the page shows first of a split: which system is better, by how much, and where it fails."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pronominal.adapters import SYSTEMS
from pronominal.eval.report.charts.drawings import Drawer, Drawing
from pronominal.eval.report.charts.kinds import Point
from pronominal.eval.report.charts.small_multiples import Kind, Mark, multiple
from pronominal.eval.report.published import PublishedSystem, published_marks
from pronominal.eval.report.scored import Comparison
from pronominal.eval.statistics.ranks import RANKS
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.best import best_row
from pronominal.eval.tables.comparison import parts_of
from pronominal.eval.tables.findings import comparisons
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary import EXPLORATORY, Summary
from pronominal.eval.tables.table import written_interval
from pronominal.eval.task import Task

PLACES = "Beside the number: the places that clear differences leave a system; 1 is best."
BEST = "★ is better than all others beyond chance."
NONE_BEST = "No ★: no system, baselines apart, is better than all others beyond chance."
DASHED = "Dashed: guessing."
PUBLISHED = "◇ Published figures are of other runs, and are not tested: {}."


@dataclass(frozen=True, slots=True)
class Choice:
    """A measure that the reader may choose.

    Attributes:
        key: of the measure.
        name: of the measure.
        figure: the systems by it.
        better: sentences on which systems are better by it; none where it is not tested.
    """

    key: str
    name: str
    figure: Drawing
    better: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """What is shown first of a split.

    Attributes:
        comparison: the runs.
        planned: sentences on the comparisons of a plan.
        worse: sentences on where systems fail by the headline.
        remarks: sentences on what else stands out.
        headline: its name.
        choices: the measures to choose from.
        chosen: key of the one that is shown first.
        panels: what stands beside it.
        notes: how to read it.
    """

    comparison: Comparison
    planned: tuple[str, ...]
    worse: tuple[str, ...]
    remarks: tuple[str, ...]
    headline: str
    choices: tuple[Choice, ...]
    chosen: str
    panels: tuple[Drawing, ...]
    notes: tuple[str, ...]

    @property
    def figures(self) -> list[Drawing]:
        """All charts, once each."""
        drawn = (*(choice.figure for choice in self.choices), *self.panels)
        by_name = {figure.name: figure for figure in reversed(drawn)}
        return [*reversed(by_name.values())]


def first_screen(one: Comparison, published: Sequence[PublishedSystem] = ()) -> FirstScreen:
    """Return what is shown first of the runs of a split.

    Its sentences are those that ``pronominal evaluate`` prints.
    """
    task, headline = one.task, one.task.headline_in(one.scores.values())
    said = task.summarise(one.scores, one.title, "")
    multiples = _Multiples(one, _baselines_last(one), published)
    measures = [m for m in _to_choose(task, headline) if any(map(m.of, one.scores.values()))]
    choices = [measure.key for measure in measures]
    given = [key for system in published for key in system.figures if key in choices]
    chosen = headline.key if headline.key in given or not given else given[0]
    return FirstScreen(
        one,
        *(said.planned, said.findings, said.remarks),
        headline=headline.name,
        choices=tuple(
            Choice(m.key, m.name, multiples.of_measure(m), _better(one, m, said)) for m in measures
        ),
        chosen=chosen,
        panels=tuple(multiples.beside(headline)),
        notes=tuple(_notes(one, measures, published)),
    )


def _better(one: Comparison, measure: Measure, said: Summary) -> tuple[str, ...]:
    """Say which systems are better by a measure; of the headline as the terminal does."""
    if measure == one.task.headline_in(one.scores.values()):
        return said.comparisons
    prefix = EXPLORATORY if said.planned else ""
    return tuple(f"{prefix}{sentence}" for sentence in comparisons(measure, one.scores))


def _to_choose(task: Task, headline: Measure) -> Iterator[Measure]:
    """Yield the headline, and the other shares that have a direction or a chart."""
    yield headline
    for measure in task.measures:
        shown = measure.in_table or measure.in_charts
        if measure != headline and measure.unit == "share" and shown and measure.direction:
            yield measure


def is_baseline(one: Comparison, label: str) -> bool:
    """Whether a run is of a system that answers without understanding."""
    entry = SYSTEMS.get(one.runs[label].system.name)
    return entry is not None and entry.is_baseline


def _baselines_last(one: Comparison) -> dict[str, Kind]:
    """Return what each system is."""
    kinds: dict[str, Kind] = {
        label: "baseline" if is_baseline(one, label) else "system" for label in one.scores
    }
    return dict(sorted(kinds.items(), key=lambda kind: kind[1] == "baseline"))


@dataclass(frozen=True, slots=True)
class _Multiples:
    comparison: Comparison
    kinds: Mapping[str, Kind]
    published: Sequence[PublishedSystem]

    def of_measure(self, measure: Measure, *, places: bool = True) -> Drawing:
        """Draw a measure of all systems, with their places and published figures of it."""
        scores = self.comparison.scores
        first = _best(self.comparison, measure)
        marks = [
            self._mark(
                label,
                measure,
                beside=_place(scores[label], measure) if places else "",
                best=label == first,
            )
            for label in self.kinds
        ]
        marks += published_marks(self.published, measure.key)
        chances = (measure.chance_in(score) for score in scores.values())
        chance = next((one for one in chances if one is not None), None)
        return multiple(measure.name, marks, chance)

    def beside(self, headline: Measure) -> Iterator[Drawing]:
        """Draw what stands beside the headline: rows answered, consistency, the worst part."""
        task, scores = self.comparison.task, self.comparison.scores.values()
        for measure in (task.answered_measure, task.consistency_measure):
            if measure is not None and measure != headline and any(map(measure.of, scores)):
                yield self.of_measure(measure, places=False)
        if task.parts is not None and task.parts in headline.divisions:
            marks = [self._worst(label, headline, task.parts) for label in self.kinds]
            if any(mark.point.value is not None for mark in marks):
                title = f"{headline.name}, worst {task.parts.replace('_', ' ')}"
                yield multiple(title, marks, headline.chance_in(next(iter(scores))))

    def _mark(self, label: str, measure: Measure, beside: str, best: bool = False) -> Mark:
        one = self.comparison
        figure = measure.of(one.scores[label])
        point = Drawer(one.scores, one.task.units).point(label, measure.path, measure.name)
        written = "" if figure is None else measure.short(one.scores[label])
        return Mark(label, point, written, self.kinds[label], beside, best)

    def _worst(self, label: str, headline: Measure, division: str) -> Mark:
        """Return the mark of the part in which a system is worst."""
        score = self.comparison.scores[label]
        parts = [
            (figure.value, name, path)
            for (name,), path in parts_of(headline, division, [score])
            if (figure := score.figure(path)) is not None
        ]
        if len(parts) < 2:
            return Mark(label, Point(None), "")
        _, name, path = min(parts)
        worst = replace(headline, path=path, title=f"{headline.name} on {name}")
        return self._mark(label, worst, name)


def _best(one: Comparison, measure: Measure) -> str | None:
    """Return the system that is better than all others; a baseline that wins tells nothing."""
    best = best_row(measure, one.scores)
    label = None if best is None else [*one.scores][best]
    return None if label is None or is_baseline(one, label) else label


def _place(score: Scores, measure: Measure) -> str:
    """Write the places that a system may have."""
    found = score.get(RANKS, {}).get(measure.key)
    if found is None:
        return ""
    low, high = found["interval"]["rank"]
    return f"{low}" if low == high else f"{low}–{high}"


def _notes(
    one: Comparison, measures: Iterable[Measure], published: Sequence[PublishedSystem]
) -> Iterator[str]:
    scores = one.scores
    yield from () if one.task.notes is None else one.task.notes(scores)
    summed = next((score["intervals"] for score in scores.values() if "intervals" in score), None)
    if summed:
        yield f"Lines: {written_interval(summed, one.task.units)}."
    if any(measure.chance_in(score) for measure in measures for score in scores.values()):
        yield DASHED
    if any(RANKS in score for score in scores.values()):
        yield PLACES
    if len(scores) > 1:
        starred = any(_best(one, measure) is not None for measure in measures)
        yield BEST if starred else NONE_BEST
    if published:
        papers = dict.fromkeys(place for system in published for place in system.places)
        yield PUBLISHED.format("; ".join(papers))
