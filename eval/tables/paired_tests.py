"""The paired tests between systems, and their ranks, as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE
from pronominal.eval.statistics.intervals import FEW
from pronominal.eval.statistics.paired_differences import POWER
from pronominal.eval.statistics.paired_tests import AGAINST, INTERVAL, MCNEMAR
from pronominal.eval.statistics.ranks import RANKS
from pronominal.eval.statistics.sign_flips import RESAMPLES, SEED
from pronominal.eval.tables.table import UNDEFINED, Table, p_value, points

Tests = Mapping[tuple[str, ...], Mapping[str, Any]]
"""What was compared, in one word or several -> the fields of `PairedTest`."""

TOO_OFTEN = "near 100, with fewer than about 100 units, that is said a little too often"
"""What is known of the test of equivalence; docs/statistics-measured.md has how often."""


def paired_test_tables(scores: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Show the tests that scores hold: one table for each measure, one row for each pair."""
    measures = dict.fromkeys(name for s in scores.values() for name in s.get(AGAINST, {}))
    made = []
    for measure in measures:
        tests = {
            f"{a} – {b}": against[b]
            for a, b in combinations(scores, 2)
            if b in (against := scores[a].get(AGAINST, {}).get(measure, {}))
        }
        if tests:
            title = f"Paired tests: {measure.replace('_', ' ')}"
            rows: Tests = {(pair,): test for pair, test in tests.items()}
            tested = sum(test["p"] is not None for test in tests.values())
            family = f"all tests of this measure, {tested} in number"
            made.append(tests_table(title, ("Systems",), rows, family))
    return made


def planned_tables(planned: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Show the tests of a plan, which scores hold as `PLANNED`."""
    digest = next((one["digest"] for one in planned.values()), "")
    note = f"Of the plan {digest[:16]}; all that it does not name is exploratory."
    return [
        replace(table, title=f"Planned: {table.title}", notes=(*table.notes, note))
        for table in (*paired_test_tables(planned), *rank_tables(planned))
    ]


def difference_cell(test: Mapping[str, Any]) -> str:
    """Write a difference in percentage points with its interval."""
    ends = test["interval"]["difference"]
    written = "" if ends is None else f" [{', '.join(map(points, ends))}]"
    return f"{points(test['difference'])}{written}"


def tests_table(
    title: str,
    heads: tuple[str, ...],
    tests: Tests,
    family: str,
) -> Table:
    """Show paired tests, one row for each.

    Args:
        title: of the table.
        heads: of the columns that say what was compared.
        tests: what stands in these columns -> the test.
        family: in words, what p-values are corrected over.
    """
    rows = tuple(
        (
            *(*compared, *(f"{test[name]:,}" for name in ("n", "only_this", "only_other"))),
            *(difference_cell(test), *map(p_value, (test["p"], test["p_holm"]))),
            _visible(test["minimum_detectable_effect"]),
            *([_equivalence(test["equivalence"])] if "equivalence" in test else []),
        )
        for compared, test in tests.items()
    )
    columns = [*heads, "n", "More: first", "More: second", "Difference", "p", "p (Holm)"]
    columns += ["Visible from"]
    margins = {test["equivalence"]["margin"] for test in tests.values() if "equivalence" in test}
    columns += [f"Within ±{_width(margin)}" for margin in margins]
    return Table(title, tuple(columns), rows, tuple(_notes([*tests.values()], family)))


def _notes(tests: Sequence[Mapping[str, Any]], family: str) -> Iterator[str]:
    several = any(test["test"] != MCNEMAR for test in tests)
    if several:
        yield "n: units, each several rows; more: units that one of the two did better in."
        yield (
            f"p: paired permutation test of whole units, two-sided mid-p, {RESAMPLES:,} changes of "
            f"sign, seed {SEED}."
        )
        if any(test["test"] == INTERVAL for test in tests):
            yield "p where two systems chose in other rows: by the interval of the difference."
    else:
        yield "n: items; more: right by one of the two systems alone."
        yield "p: McNemar's test, two-sided mid-p."
    yield "Difference: in points, with the 95% interval of the pair alone."
    for why in dict.fromkeys(test.get("interval_missing", {}).get("difference") for test in tests):
        if why is not None:
            yield f"No interval for Difference: {why}."
    tested = sum(test["p"] is not None for test in tests)
    if len(tests) > 1:
        yield f"p (Holm): corrected over {family}."
    if several and tested > SIGNIFICANCE * (RESAMPLES + 1):
        yield "With so many pairs, no p of so few changes of sign survives the correction."
    yield (
        f"Visible from: the smallest true difference that {100 * POWER:g}% of such comparisons "
        "would show; below it, none found does not mean that there is none."
    )
    if any((test["minimum_detectable_effect"] or 0) > 1 for test in tests):
        yield "Visible from none: these units are too few to show any difference that often."
    if any("equivalence" in test for test in tests):
        yield (
            f"Within: two one-sided tests at {100 * SIGNIFICANCE:g}%, each pair alone: whether the "
            f"{100 - 200 * SIGNIFICANCE:g}% interval, which is shown, lies within the margin; "
            f"{TOO_OFTEN}."
        )
    if any(test["n"] < FEW for test in tests):
        yield f"With fewer than {FEW} units no pair counts as different or as equivalent."


def _width(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.3g}"


def _visible(effect: float | None) -> str:
    """Write the smallest visible difference; of shares there is none above 1."""
    return "none" if effect is not None and effect > 1 else _width(effect)


def _equivalence(found: Mapping[str, Any]) -> str:
    ends = found["interval"]["difference"]
    if ends is None:
        return UNDEFINED
    return f"{'yes' if found['equivalent'] else 'not shown'} [{', '.join(map(points, ends))}]"


def rank_tables(scores: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Show the place of each system by each measure: one table, or none."""
    measures = dict.fromkeys(name for s in scores.values() for name in s.get(RANKS, {}))
    if not measures:
        return
    rows = tuple(
        (system, *(_place(one.get(RANKS, {}).get(measure)) for measure in measures))
        for system, one in scores.items()
    )
    columns = ("System", *(measure.replace("_", " ").capitalize() for measure in measures))
    notes: tuple[str, ...] = (
        "1 is best; systems with one score share a place.",
        (
            "[ ]: the places that the clear differences allow: p (Holm) is below "
            f"{SIGNIFICANCE:g}, and the interval leaves 0 out."
        ),
    )
    if any(UNDEFINED in row[1:] for row in rows):
        why = "not compared with all, or without a score, as a precision where nothing was chosen"
        notes += (f"{UNDEFINED}: {why}.",)
    yield Table("Ranks", columns, rows, notes)


def _place(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return UNDEFINED
    low, high = found["interval"]["rank"]
    return f"{found['rank']} [{low}, {high}]"
