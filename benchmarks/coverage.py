"""How often intervals hold what they should, and tests err: simulated data of our datasets' kinds.

Every cell of the simulation is a kind of figure, a number of units, a level (what the figure's rows
are right by, from 50 to 97 %) and a correlation of the rows in a unit (`coverage_figures`). In
2,000 samples of each (500 of means over prompts and of trainings), this counts how often the
nominal 95 % interval holds the true value, and how wide it is:

- ours: the functions that scores and comparisons call;
- `rows`: the normal interval that takes rows for independent (of two systems: for independent
  systems, too), as the usual harnesses print it;
- `percentile`: the percentile bootstrap over rows.

Tests are asked of systems that are alike (`coverage_tests`). Prints tables, and with --json one
JSON object. Run it alone on a core: `nice -n 19 python benchmarks/coverage.py`; --simulations 200
for a look,
--only bias for some figures alone.
"""

import argparse
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from coverage_figures import (
    CONSTANTS,
    OTHERS,
    SHARES,
    Ends,
    Setting,
    difference,
    difference_from_constant,
)
from coverage_tests import test_errors

from pronominal.eval.tables.table import Table

UNITS = (10, 30, 60, 180)
LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.97)
CORRELATIONS = (0.05, 0.3, 0.6)

UNIT_SIZES = {"difference, equal units": True, "difference, unequal units": False}

Cell = dict[str, Any]
T = TypeVar("T")


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
        "coverage": round(float(100 * holds.mean()), 2),
        "width": round(float(100 * (high - low).mean()), 2),
        "zero_width": round(float(100 * (high <= low).mean()), 2),
    }


def cells(simulations: int, seed: int, only: str = "") -> Iterator[Cell]:
    """Yield the cells of the figures in whose names the pattern `only` is found."""

    def asked(figures: Mapping[str, T]) -> Iterator[tuple[str, T]]:
        return ((name, one) for name, one in figures.items() if re.search(only, name))

    for units, level, rho in itertools.product(UNITS, LEVELS, CORRELATIONS):
        s = Setting.seeded(seed, simulations, units, level, rho)
        for figure, draw in asked(SHARES):
            sample = draw(s)
            yield cell(figure, "ours", s, sample.truth, sample.ours())
            yield cell(figure, "rows", s, sample.truth, sample.rows())
            yield cell(figure, "percentile", s, sample.truth, sample.percentile(s.generator))
        for figure, equal in asked(UNIT_SIZES):
            for gap in (0.0, 0.1):
                for method, truth, ends in difference(s, equal=equal, gap=gap):
                    yield cell(figure, method, s, truth, ends)
        for figure, found in asked(OTHERS):
            yield cell(figure, "ours", s, *found(s))
        for figure, constant in asked(CONSTANTS):
            for method, truth, ends in difference_from_constant(s, constant):
                yield cell(figure, method, s, truth, ends)


def coverage_table(found: list[Cell]) -> Table:
    """One row for each figure: mean and worst coverage, by the number of units, and the peers'."""
    by: Mapping[tuple[str, str, bool], list[Cell]] = defaultdict(list)
    for one in found:
        by[one["figure"], one["method"], one["units"] >= 30].append(one)
    rows = []
    for figure in dict.fromkeys(one["figure"] for one in found):
        many, few = by[figure, "ours", True], by[figure, "ours", False]
        peers = [by[figure, method, True] for method in ("rows", "percentile")]
        rows.append((figure, *_summary(many), _width(many), *_summary(few), *map(_peer, peers)))
    every = [[one for one in found if one["method"] == "ours" and (one["units"] >= 30) == many]
             for many in (True, False)]  # fmt: skip
    peers = [[one for one in found if one["method"] == method and one["units"] >= 30]
             for method in ("rows", "percentile")]  # fmt: skip
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


def error_table(found: list[dict[str, Any]]) -> Table:
    """One row for each test, over its numbers of units and levels; the farthest cells beside it."""
    by: Mapping[str, list[dict[str, Any]]] = defaultdict(list)
    for one in found:
        by[one["test"]].append(one)
    rows = tuple(
        (
            test,
            f"{sum(one['comparisons'] for one in of_it):,}",
            f"{100 * np.mean([one['error'] for one in of_it]):.1f}",
            *(_farthest(one) for one in (min(of_it, key=_error), max(of_it, key=_error))),
        )
        for test, of_it in by.items()
    )
    columns = ("Test", "Comparisons", "Errors", "Least (units, level)", "Most (units, level)")
    return Table("Errors of tests at 5 %", columns, rows)


def _error(one: Mapping[str, Any]) -> float:
    return float(one["error"])


def _farthest(one: Mapping[str, Any]) -> str:
    return f"{100 * one['error']:.1f} ({one['units']:,}, {100 * one['level']:g} %)"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="pattern of figures' names; no tests")
    parser.add_argument("--json", action="store_true", help="print every cell as JSON")
    given = parser.parse_args()
    found = [*cells(given.simulations, given.seed, given.only)]
    errors = [] if given.only else [*test_errors(given.simulations, given.seed)]
    if given.json:
        print(json.dumps({"benchmark": "coverage", "cells": found, "tests": errors}))
        return
    print(coverage_table(found).to_markdown())
    print(error_table(errors).to_markdown())
    zero = max(one["zero_width"] for one in found if one["method"] == "ours")
    print(f"Intervals of ours of width 0, in percent: {zero:g}")


if __name__ == "__main__":
    main()
