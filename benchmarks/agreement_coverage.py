"""How often the intervals of kappa and of Matthews' correlation hold what they should.

Two verdicts on 30 rows of each of some units: both are right with their unit's own probability,
which is the same one for half of the units. Prints one JSON object; run it alone:
`nice -n 19 python benchmarks/agreement_coverage.py`.
"""

import argparse
import json
from typing import Any

import numpy as np

from pronominal.eval.statistics.agreement import (
    Statistic,
    agreement_interval,
    cohens_kappa,
    matthews_correlation,
)

UNITS, LEVELS = (10, 30, 60), (0.5, 0.7, 0.9)
ROWS, CORRELATION, LINKED, MANY = 30, 0.2, 0.5, 200_000
STATISTICS: dict[str, Statistic] = {"kappa": cohens_kappa, "mcc": matthews_correlation}


def tables(random: np.random.Generator, units: int, level: float) -> Any:
    """Draw the table of verdicts of each unit, ``[units, 2, 2]``."""
    shape = (1 - CORRELATION) / CORRELATION
    one, other = random.beta(level * shape, (1 - level) * shape, (2, units))
    other = np.where(random.random(units) < LINKED, one, other)
    verdicts = [random.random((units, ROWS)) < own[:, None] for own in (one, other)]
    cells = 2 * verdicts[0] + verdicts[1]
    return np.stack([(cells == cell).sum(axis=1) for cell in range(4)], axis=1).reshape(-1, 2, 2)


def main() -> None:
    """Print the share of samples, in percent, in which an interval holds the true value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=600)
    number, random, found = parser.parse_args().simulations, np.random.default_rng(0), []
    for units in UNITS:
        for level in LEVELS:
            total = tables(random, MANY, level).sum(axis=0, keepdims=True).astype(float)
            true = {name: one(total)[0] for name, one in STATISTICS.items()}
            held = dict.fromkeys(STATISTICS, 0)
            for _ in range(number):
                drawn = tables(random, units, level)
                for name, statistic in STATISTICS.items():
                    low, high = agreement_interval(statistic, drawn)[1:3]
                    held[name] += bool(low[0] <= true[name] <= high[0])
            shares = {name: round(100 * count / number, 1) for name, count in held.items()}
            found.append({"units": units, "level": level, "simulations": number, **shares})
    print(json.dumps({"coverage": found}, indent=2))


if __name__ == "__main__":
    main()
