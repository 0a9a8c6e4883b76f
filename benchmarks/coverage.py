"""How often intervals hold what they should, and tests err: simulated data of our datasets' kinds.

Every cell of the simulation is a kind of figure, a number of units, a level (what the figure's rows
are right by, from 50 to 97 %) and a correlation of the rows in a unit (`coverage_figures`,
`coverage_differences`, `coverage_others`). In 2,000 samples of each, or fewer of what takes long,
this counts how often the nominal 95 % interval holds the true value, and how wide it is:

- ours: the functions that scores and comparisons call;
- `rows`: the normal interval that takes rows for independent (of two systems: for independent
  systems, too), as the usual harnesses print it;
- `percentile`: the percentile bootstrap over rows, or over what a figure is of.

Tests are asked of systems that are alike (`coverage_tests`). Prints tables, and with --json one
JSON object. Run it alone on a core: `nice -n 19 python benchmarks/coverage.py`; --simulations 200
for a look, --only bias for what has this in its name, from the same samples as in a whole run.
"""

import argparse
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from coverage_differences import DIFFERENCES
from coverage_figures import OURS, PERCENTILE, ROWS, SHARES, Ends, Setting
from coverage_others import OTHERS
from coverage_tests import ranks_in_ties, test_errors

from pronominal.eval.tables.table import Table

UNITS = (10, 30, 60, 180)
LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.97)
CORRELATIONS = (0.05, 0.3, 0.6)

FIGURES = {**SHARES, **DIFFERENCES, **OTHERS}

Cell = dict[str, Any]


def cell(figure: str, method: str, s: Setting, truth: float, ends: Ends) -> Cell:
    low, high = ends
    there = ~np.isnan(low)
    low, high = low[there], high[there]
    # an interval that ends at the true value holds it, whatever rounding says
    holds = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return {
        "figure": figure,
        "method": method,
        "units": s.units,
        "level": s.level,
        "correlation": s.correlation,
        "truth": round(truth, 4),
        "samples": len(low),
        "coverage": round(float(100 * holds.mean()), 2),
        "width": round(float(100 * (high - low).mean()), 2),
        "zero_width": round(float(100 * (high <= low).mean()), 2),
    }


def cells(simulations: int, seed: int, only: str) -> Iterator[Cell]:
    """Yield the cells of the figures in whose names the pattern `only` is found."""
    asked = {name: draw for name, draw in FIGURES.items() if re.search(only, name)}
    for figure, draw in asked.items():
        for place in itertools.product(UNITS, LEVELS, CORRELATIONS):
            s = Setting.seeded(figure, seed, simulations, *place)
            for method, truth, ends in draw(s):
                yield cell(figure, method, s, truth, ends)


def coverage_table(found: list[Cell]) -> Table:
    """One row for each figure: mean and worst coverage, by the number of units, and the peers'."""
    by: Mapping[tuple[str, str, bool], list[Cell]] = defaultdict(list)
    for one in found:
        by[one["figure"], one["method"], one["units"] >= 30].append(one)
    rows = []
    for figure in dict.fromkeys(one["figure"] for one in found):
        many, few = by[figure, OURS, True], by[figure, OURS, False]
        peers = [by[figure, method, True] for method in (ROWS, PERCENTILE)]
        rows.append((figure, *_summary(many), _width(many), *_summary(few), *map(_peer, peers)))
    every = [[one for one in found if one["method"] == OURS and (one["units"] >= 30) == many]
             for many in (True, False)]  # fmt: skip
    peers = [[one for one in found if one["method"] == method and one["units"] >= 30]
             for method in (ROWS, PERCENTILE)]  # fmt: skip
    rows.append(
        ("all", *_summary(every[0]), _width(every[0]), *_summary(every[1]), *map(_peer, peers))
    )
    columns = ("Figure", "Mean", "Worst", "Width", "Mean, 10 units", "Worst, 10 units")
    return Table(
        "Coverage of nominal 95 % intervals", (*columns, "Rows", "Percentile"), tuple(rows)
    )


def _summary(of_it: list[Cell]) -> tuple[str, str]:
    found = [one["coverage"] for one in of_it]
    return f"{np.mean(found):.1f}", f"{min(found):.1f}"


def _width(of_it: list[Cell]) -> str:
    return f"{np.mean([one['width'] for one in of_it]):.1f}"


def _peer(of_it: list[Cell]) -> str:
    return " / ".join(_summary(of_it)) if of_it else "–"


LEAST_COMPARISONS = 0.5
"""Share of the simulations that a cell has to have tested to be shown as one of the farthest."""


def error_table(found: list[dict[str, Any]], simulations: int) -> Table:
    """One row for each test, over its numbers of units and levels; the farthest cells beside it."""
    by: Mapping[str, list[dict[str, Any]]] = defaultdict(list)
    for one in found:
        by[one["test"]].append(one)
    rows = []
    for test, of_it in by.items():
        tested = sum(one["comparisons"] for one in of_it)
        errors = sum(one["comparisons"] * one["error"] for one in of_it)
        many = [one for one in of_it if one["comparisons"] >= LEAST_COMPARISONS * simulations]
        ends = (_farthest(one) for one in (min(many, key=_error), max(many, key=_error)))
        rows.append((test, f"{tested:,}", f"{100 * errors / tested:.1f}", *ends))
    columns = ("Test", "Comparisons", "Errors", "Least (units, level)", "Most (units, level)")
    return Table("Errors of tests at 5 %", columns, tuple(rows))


def together_table(found: list[dict[str, Any]]) -> Table:
    """Show how often intervals hold all at once that shall do so in at least 95 % of samples."""
    rows = tuple(
        (f"{100 * one['level']:g} %", f"{one['samples']:,}", f"{100 * one['coverage']:.1f}")
        for one in found
    )
    title = "Ranks of six systems in three ties: all at once, at least 95 %"
    return Table(title, ("Level", "Samples", "Held"), rows)


def _error(one: Mapping[str, Any]) -> float:
    return float(one["error"])


def _farthest(one: Mapping[str, Any]) -> str:
    return f"{100 * one['error']:.1f} ({one['units']:,}, {100 * one['level']:g} %)"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="pattern of names of figures and tests")
    parser.add_argument("--json", action="store_true", help="print every cell as JSON")
    given = parser.parse_args()
    asked = given.simulations, given.seed, given.only
    found, errors = [*cells(*asked)], [*test_errors(*asked)]
    ranks = [*ranks_in_ties(*asked)]
    if given.json:
        print(
            json.dumps({"benchmark": "coverage", "cells": found, "tests": errors, "ranks": ranks})
        )
        return
    if found:
        print(coverage_table(found).to_markdown())
    if errors:
        print(error_table(errors, given.simulations).to_markdown())
    if ranks:
        print(together_table(ranks).to_markdown())
    zero = max((one["zero_width"] for one in found if one["method"] == OURS), default=0)
    print(f"Intervals of ours of width 0, in percent: {zero:g}")


if __name__ == "__main__":
    main()
