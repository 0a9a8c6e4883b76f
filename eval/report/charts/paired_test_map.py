"""Which systems differ, of every two, as a map for each measure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE
from pronominal.eval.statistics.paired_tests import AGAINST, INTERVAL, MCNEMAR, PERMUTATION, differ
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.charts import Head, Map, Sign
from pronominal.eval.tables.paired_tests import difference_cell, paired_test_tables
from pronominal.eval.tables.table import UNDEFINED, Table

TESTS = {
    MCNEMAR: "McNemar's test",
    PERMUTATION: "paired permutation test",
    INTERVAL: "test by the difference's interval",
}
ALONE = "{} alone right: {}, {} alone: {}"
MORE = "Units with {} more often right: {}, with {}: {}"


def paired_test_map(scores: Mapping[str, Scores]) -> Iterator[Map]:
    """Map which systems differ after correction: one grid for each measure, or no map."""
    systems = [system for system, score in scores.items() if score.get(AGAINST)]
    tables = paired_test_tables(scores)
    if not tables:
        return
    measures = dict.fromkeys(name for system in systems for name in scores[system][AGAINST])
    heads = [Head(system, system=system) for system in systems]
    grids = {}
    for measure in measures:
        tests = {one: scores[one][AGAINST].get(measure, {}) for one in systems}
        rows = {one: [_sign(one, s, tests[one].get(s)) for s in systems] for one in systems}
        grids[measure.replace("_", " ")] = (heads, rows)
    cells = tuple(
        (row[0], measure, *row[1:])
        for measure, table in zip(grids, tables, strict=True)
        for row in table.rows
    )
    columns = ("Systems", "Measure", *tables[0].columns[1:])
    signs = (
        f"▲ ▼: the system of the row is right more, or less often; p (Holm) below {SIGNIFICANCE:g}."
    )
    table = Table("Paired tests between systems", columns, cells, (signs, *_notes(grids, tables)))
    legend = {"positive": "▲ better", "negative": "▼ worse", "none": "≈ not significant"}
    yield Map("paired-tests", grids, legend, table, side=26.0)


def _notes(measures: Iterable[str], tables: Sequence[Table]) -> Iterator[str]:
    """Join the notes of the measures; what is not true of all of them says of which it is."""
    about: dict[str, list[str]] = {}
    for measure, table in zip(measures, tables, strict=True):
        for note in table.notes:
            about.setdefault(note, []).append(measure)
    for note, of_it in about.items():
        yield note if len(of_it) == len(tables) else f"Of {', '.join(of_it)}: {note}"
    if len(tables) > 1:
        yield "Each measure is corrected by itself."


def _sign(one: str, other: str, test: Mapping[str, Any] | None) -> Sign:
    if test is None:
        return Sign("", "missing", one)
    # a unit of several rows is more or less right, a single item right or not
    heads = ALONE if test["test"] == MCNEMAR else MORE
    told = heads.format(one, f"{test['only_this']:,}", other, f"{test['only_other']:,}")
    told += f", n = {test['n']:,}; difference {difference_cell(test)}"
    told += f"; {TESTS[test['test']]}, p (Holm) = "
    if test["p_holm"] is None:
        return Sign("?", "none", f"{told}{UNDEFINED}")
    told += f"{test['p_holm']:.2g}"
    if not differ(test):
        return Sign("≈", "none", told)
    better = test["difference"] > 0
    return Sign("▲" if better else "▼", "positive" if better else "negative", told)
