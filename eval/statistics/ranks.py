"""The places of systems, with intervals: which of their differences are more than chance."""

from collections.abc import Mapping, Sequence
from typing import Any

from pronominal.eval.statistics.paired_tests import differ
from pronominal.eval.statistics.scores import Block

RANKS = "ranks"
"""Where a system's scores hold its places: measure -> `rank`."""


def rank(tests: Sequence[Mapping[str, Any]]) -> Block:
    """Return a system's place among those that it was tested against.

    The interval goes from the place after all systems that are better beyond doubt to the place
    before all that are worse (`differ`), by p-values corrected over all pairs, so that all
    intervals of a table hold together. Places of resamples would not do: where systems are alike,
    they cover 60 % (Mogstad, Romano, Shaikh and Wilhelm, 2024).

    Args:
        tests: of the system against every other one, as `against` returns them.

    Returns:
        ``n`` (units), ``systems``, ``rank`` (systems with one score share the best place) and its
        ``interval``; an undefined difference leaves both systems where they may be.
    """
    known = [test for test in tests if test["difference"] is not None]
    clear = [test["difference"] for test in known if differ(test)]
    ahead = sum(difference < 0 for difference in clear)
    behind = sum(difference > 0 for difference in clear)
    systems = len(tests) + 1
    return {
        "n": tests[0]["n"],
        "systems": systems,
        "rank": 1 + sum(test["difference"] < 0 for test in known),
        "interval": {"rank": [1 + ahead, systems - behind]},
    }


def ranks(tests: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Block]]:
    """Return the place of each system by each measure.

    Args:
        tests: system -> measure -> other system -> the fields of `PairedTest`.

    Returns:
        System -> measure -> `rank`; of measures by which three systems at least were compared with
        each other, every two of them.
    """
    found: dict[str, dict[str, Block]] = {system: {} for system in tests}
    for measure in dict.fromkeys(name for of_it in tests.values() for name in of_it):
        compared = {system: of_it.get(measure, {}) for system, of_it in tests.items()}
        systems = sum(1 for others in compared.values() if others)
        if systems > 2 and all(len(others) in (0, systems - 1) for others in compared.values()):
            for system, others in compared.items():
                if others:
                    found[system][measure] = rank([*others.values()])
    return found
