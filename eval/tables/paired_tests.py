"""The paired tests between systems as tables."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from pronominal.eval.statistics.hypothesis_tests import INSTALL, RESAMPLES, SEED
from pronominal.eval.statistics.paired_tests import AGAINST, PERMUTATION
from pronominal.eval.tables.table import Table, p_value, points


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
            made.append(_table(measure, tests))
    return made


def _table(measure: str, tests: Mapping[str, Mapping[str, Any]]) -> Table:
    several = any(test["test"] == PERMUTATION for test in tests.values())
    notes = [
        "n: units, each several rows; more: units that one of the two did better in."
        if several
        else "n: items; more: right by one of the two systems alone.",
        f"p: permutation test of whole units, two-sided, {RESAMPLES:,} resamples, seed {SEED}."
        if several
        else "p: McNemar's exact test, two-sided.",
        "p (Holm): corrected over all pairs of systems; p (t): paired t-test, uncorrected.",
    ]
    if any(test["p"] is None for test in tests.values()):
        notes.append(f"For p-values, {INSTALL}.")
    rows = tuple(
        (
            *(pair, *(f"{test[name]:,}" for name in ("n", "only_this", "only_other"))),
            *(points(test["difference"]), *map(p_value, (test["p"], test["p_holm"], test["p_t"]))),
        )
        for pair, test in tests.items()
    )
    columns = ("Systems", "n", "More: first", "More: second", "Difference")
    title = f"Paired tests: {measure.replace('_', ' ')}"
    return Table(title, (*columns, "p", "p (Holm)", "p (t)"), rows, tuple(notes))
