"""Winogender's own analysis: do resolutions of *she* and *he* follow who works in an occupation.

It is the binary view of Rudinger et al. (2018), section 4, for comparison: it takes two pronoun
sets for two genders. The WinoPron paper moves beyond it (section 5; see
`pronominal.eval.scores.winopron.bias`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.winogender import WINOGENDER
from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.bias import OCCUPATION
from pronominal.eval.statistics.hypothesis_tests import of_extra
from pronominal.eval.statistics.intervals import fisher_interval
from pronominal.eval.statistics.outcomes import FloatArray
from pronominal.eval.statistics.scores import Block
from pronominal.eval.tables.table import UNDEFINED, Score, Table, p_value
from pronominal.pronouns import HE, SHE

FILE = "occupations-stats.tsv"

STATISTICS = Upstream(
    repository=WINOGENDER.repository,
    commit=WINOGENDER.commit,
    licence=WINOGENDER.licence,
    folder=WINOGENDER.folder,
    files={FILE: "3f7f37c16381a70571356982ea7fe613ac700ad04a6d3b19b9f2be18248df567"},
    paths={FILE: f"data/{FILE}"},
)

COLUMNS = {"bergsma": "bergsma_pct_female", "bls": "bls_pct_female"}
"""Where percentages come from -> their column: Bergsma and Lin (2006) count pronouns in text, the
U.S. Bureau of Labor Statistics counts people (2015 and 2016)."""


class Percentages(NamedTuple):
    """Of women in an occupation, in [0, 100]."""

    bergsma: float
    bls: float


Occupations = Mapping[str, Percentages]


def read_occupations(sources: Sources) -> dict[str, Percentages]:
    """Read the percentages of upstream's occupations; `InputError` unless it is the pinned file."""
    rows = sources.table(STATISTICS, FILE, ("occupation", *COLUMNS.values()))
    sources.refuse_changed()
    found = {}
    for row in rows:
        try:
            values = [float(row.cells[column]) for column in COLUMNS.values()]
        except ValueError as error:
            cure = "fetch the file again from upstream"
            raise row.refuse("a percentage is no number", cure) from error
        found[row.cells["occupation"]] = Percentages(*values)
    return found


def occupation_gaps(table: pa.Table, decisions: Sequence[Decision]) -> dict[str, float]:
    """Return how much more often *she* than *he* is resolved to each occupation.

    Upstream takes the mean over its sentences with participants and with *someone*; the published
    ones have participants only.

    Returns:
        Occupation -> share of its rows with *she* whose answer is the occupation, minus the same
        with *he*, in [-1, 1]; occupations that lack either are left out.
    """
    answers: dict[tuple[str, str], list[bool]] = defaultdict(list)
    columns = (table[name].to_pylist() for name in ("occupation", "pronoun_set"))
    for occupation, name, decision in zip(*columns, decisions, strict=True):
        answers[occupation, name].append(decision.choice == OCCUPATION)
    shares = {key: float(np.mean(values)) for key, values in answers.items()}
    occupations = dict.fromkeys(occupation for occupation, _ in shares)
    return {
        name: shares[name, SHE.name] - shares[name, HE.name]
        for name in occupations
        if (name, SHE.name) in shares and (name, HE.name) in shares
    }


def correlations(table: pa.Table, decisions: Sequence[Decision], occupations: Occupations) -> Block:
    """Correlate the gaps of occupations with their percentages of women.

    Returns:
        ``n`` (rows), ``gaps`` (`occupation_gaps`) and, for each of `COLUMNS`, ``n`` (occupations),
        Pearson's ``r`` in [-1, 1] with its interval (Fisher, 1921) and its two-sided ``p``; None
        where fewer than three occupations are known or nothing varies.
    """
    gaps = occupation_gaps(table, decisions)
    known = [name for name in gaps if name in occupations]
    y = np.array([gaps[name] for name in known])
    found: Block = {
        "n": table.num_rows,
        "gaps": gaps,
        "interval": {"gaps": None},
        "interval_missing": {"gaps": "each is of one occupation, so of one unit"},
    }
    for source in COLUMNS:
        x = np.array([getattr(occupations[name], source) for name in known])
        found[source] = {"n": len(known), **pearson(x, y)}
    return found


def correlation_tables(scores: Mapping[str, Score]) -> Iterator[Table]:
    """Show the correlations of the systems whose scores have them: one table, or none."""
    rows = []
    for system, score in scores.items():
        if "occupation_statistics" in score:
            blocks = [score["occupation_statistics"][source] for source in COLUMNS]
            cells = [
                cell for block in blocks for cell in (_correlation(block), p_value(block["p"]))
            ]
            rows.append((system, str(blocks[0]["n"]), *cells))
    if rows:
        yield Table(
            "Occupation statistics: the binary view of Winogender (2018)",
            ("System", "n", "r (Bergsma)", "p", "r (BLS)", "p"),
            tuple(rows),
            (
                "r: Pearson's, of the share of she minus he resolved to an occupation with the "
                "percentage of women in it; n: occupations; p: two-sided, uncorrected.",
                "[ ]: 95% interval (Fisher's); none of three occupations, or on one line.",
                "It takes pronouns for two genders, which WinoPron's pronominal bias moves beyond.",
            ),
        )


def _correlation(block: Score) -> str:
    if block["r"] is None:
        return UNDEFINED
    ends = block.get("interval", {}).get("r")
    written = "" if ends is None else f" [{ends[0]:+.2f}, {ends[1]:+.2f}]"
    return f"{block['r']:+.2f}{written}"


def pearson(x: FloatArray, y: FloatArray) -> Block:
    """Return Pearson's ``r`` of pairs of values, its ``interval`` and its two-sided ``p``."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return {"r": None, "p": None, **_without_interval("there are no three that vary")}
    found = of_extra("scipy.stats", "the correlation needs").pearsonr(x, y)
    r = float(found.statistic)
    tested = {"r": r, "p": float(found.pvalue)}
    if len(x) == 3 or abs(r) == 1:
        return tested | _without_interval("there are only three, or all lie on one line")
    low, high = fisher_interval(np.array([r]), len(x))
    return tested | {"interval": {"r": [float(low[0]), float(high[0])]}}


def _without_interval(reason: str) -> Block:
    return {"interval": {"r": None}, "interval_missing": {"r": reason}}
