"""The comparison tables of WinoNB."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pronominal.eval.scores.winonb.answers import NUMBERS
from pronominal.eval.statistics.paired_tests import ACROSS
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.paired_tests import Tests, tests_table
from pronominal.eval.tables.table import (
    UNDEFINED,
    Cell,
    Score,
    Table,
    interval_notes,
    p_value,
    percent,
    share_of,
    table,
)

PLACES = ("individual", "group", "neither", "elsewhere", "unresolved", "both", "unfinished")


def tables(scores: Mapping[str, Scores]) -> Iterator[Table]:
    """Compare where the answers went, the paper's ratios, and its tests."""
    yield _answers(scores)
    yield _ratios(scores)
    yield from _association_tests(scores)
    yield from _friedman(scores)


def _answers(scores: Mapping[str, Scores]) -> Table:
    overall = [one["by_source"]["all"] for one in scores.values()]
    known = [one["singular"].get("elsewhere") is not None for one in overall]
    left_out: tuple[str, ...] = () if any(known) else ("elsewhere", "unresolved")
    if not any(one[number]["unfinished"] for one in overall for number in NUMBERS):
        left_out += ("unfinished",)
    places = [place for place in PLACES if place not in left_out]
    if all(known):
        places.remove("neither")
    columns = {
        f"{number[:2]}.: {place}": _share(number, place) for number in NUMBERS for place in places
    }
    notes = []
    if any(known):
        notes.append(
            "Elsewhere: in a cluster, but with neither candidate; unresolved: in no cluster."
        )
    if not all(known):
        further = ", elsewhere or unresolved" if any(known) else ""
        notes.append(f"Neither: resolved to neither candidate{further}.")
    notes += interval_notes(scores.values())
    return table("WinoNB: answers", columns, scores, notes)


def _ratios(scores: Mapping[str, Scores]) -> Table:
    columns = {
        "Less likely than plural": _ratio("less_likely_than_plural", percent),
        "Generic / personal": _ratio("generic_to_personal", _times),
        "Neither": _share("singular", "neither"),
    }
    notes = [
        "Less likely than plural: 1 - singular / plural accuracy, in percent (section 4.1).",
        "Generic / personal: how many times as likely as singular personal they (section 4.2).",
        "The paper's figures, 94.8 and 6.4, are ratios of the means over its five systems.",
    ]
    notes += interval_notes(scores.values())
    made = table("WinoNB: ratios", columns, scores, notes)
    if len(scores) < 2:
        return made
    means = ("Ratio of the means", *_ratios_of_means([*scores.values()]), UNDEFINED)
    note = "No interval for Ratio of the means: systems are no sample."
    return replace(made, rows=(*made.rows, means), notes=(*made.notes, note))


def _ratios_of_means(scores: list[Score]) -> tuple[str, str]:
    others = [score["generic"] for score in scores if "generic" in score]
    singular, plural, generic = (
        [part["by_source"]["all"][number]["accuracy"] for part in parts]
        for parts, number in ((scores, "singular"), (scores, "plural"), (others, "singular"))
    )
    if None in (*singular, *plural, *generic) or not sum(plural):
        return UNDEFINED, UNDEFINED
    complete = len(generic) == len(singular) and sum(singular)
    times = sum(generic) / sum(singular) if complete else None
    return percent(1 - sum(singular) / sum(plural)), _times(times)


def _association_tests(scores: Mapping[str, Scores]) -> Iterator[Table]:
    tested: Tests = {
        (system, source, pair): test
        for system, score in scores.items()
        for source, tests in score["tests"]["association"]["singular"].items()
        for pair, test in tests.items()
    }
    if tested:
        title = "WinoNB: singular they and the names' association"
        heads = ("System", "Source", "Names")
        family = "a system's sources and pairs of associations"
        made = tests_table(title, heads, tested, family)
        note = "Units: schemas, each with all its names; first and second: of the two associations."
        yield replace(made, notes=(note, *made.notes))


def _friedman(scores: Mapping[str, Scores]) -> Iterator[Table]:
    found = [score[ACROSS]["friedman"] for score in scores.values() if ACROSS in score]
    if not found:
        return
    rows = tuple(
        (
            number,
            str(test["systems"]),
            UNDEFINED if test["statistic"] is None else f"{test['statistic']:.2f}",
            p_value(test["p"]),
        )
        for number, test in found[0].items()
    )
    note = "Friedman's test: whether some sources are harder for all systems alike."
    title = "WinoNB: difficulty of the sources"
    yield Table(title, ("They", "Systems", "Statistic", "p"), rows, (note,))


def _share(number: str, place: str) -> Cell:
    written = share_of(place, number)
    return lambda score: written({number: {}, **score["by_source"]["all"]})


def _ratio(name: str, write: Callable[[float | None], str]) -> Cell:
    def cell(score: Score) -> str:
        interval = score["ratios"]["interval"][name]
        ends = f" [{', '.join(map(write, interval))}]" if interval else ""
        return f"{write(score['ratios'][name])}{ends}"

    return cell


def _times(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.1f}"
