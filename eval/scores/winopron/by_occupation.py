"""Whether answers depend on the occupation, or on which of the two entities is meant."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.bias import OCCUPATION, PARTICIPANT
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE, holm
from pronominal.eval.statistics.intervals import FEW
from pronominal.eval.statistics.mention_order import right_mentions
from pronominal.eval.statistics.outcomes import (
    ROUNDING,
    BoolArray,
    IntArray,
    choices_of,
    ratio,
    sum_by,
)
from pronominal.eval.statistics.paired_tests import differ
from pronominal.eval.statistics.parts import against_rest
from pronominal.eval.statistics.scores import Block
from pronominal.eval.statistics.unit_differences import LEAST_P, units_differ
from pronominal.eval.tables.findings import listed
from pronominal.eval.tables.table import Score, percent, written_p

MEANT = {OCCUPATION: "the occupation", PARTICIPANT: "the other participant"}

WORST, MOST = 3, 2
"""So many occupations at most are named as those with the fewest right answers, or chosen most."""


def by_occupation(table: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Test whether answers depend on the occupation, or on which entity is meant.

    Template pairs change occupations with those of the same cases, pronoun sets, right answers and
    order of mentions (`units_differ`), and who is meant is compared among rows whose first mention
    is right, and among those whose second one is. So neither a system that takes the first mention
    nor one that fails in a case has one of these faults. With one pair an occupation, as in
    Winogender, nothing says whether occupations differ.

    Args:
        table: a published split whose sentences name both entities.
        decisions: in the order of the rows.

    Returns:
        ``n`` (rows); ``accuracy``: ``n`` (occupations), ``p`` of whether they differ in how many of
        their rows are right, and ``lowest``, at most three occupations with fewer right than the
        system has on all rows. ``choice``: by pronoun set, ``n`` and ``p`` of whether they differ
        in how often the occupation is chosen, and ``most``, at most two that are chosen more often
        than the mean. ``meant``: the ``difference`` between the accuracies
        where the occupation and where the participant is meant, as `against_rest`, the mean of the
        two orders of mentions. p-values are not corrected; None where nothing could differ.
    """
    sentences, choices = Sentences.of(table), choices_of(decisions)
    right = (choices == sentences.labels).astype(np.int64)
    leaning = (choices == OCCUPATION).astype(np.int64) - (choices == PARTICIPANT)
    sets, pairs = sentences.pronoun_sets, sentences.pairs
    of_set = sets.codes[:, None] == np.arange(len(sets.names))
    values = np.column_stack([right, leaning[:, None] * of_set])
    occupations, strata = _of_pairs(table, sentences)
    p = units_differ(sum_by(pairs.codes, pairs.size, values), occupations, strata)
    known = [None if np.isnan(one) else float(one) for one in p]
    n = len(np.unique(occupations))
    lowest = _first(table, sentences, right, np.ones(len(right), bool), WORST)
    return {
        "n": table.num_rows,
        "accuracy": {"n": n, "p": known[0], "lowest": lowest},
        "choice": {
            name: {"n": n, "p": known[1 + code], "most": most}
            for code, name in enumerate(sets.names)
            if sets.sizes[code]
            for most in [
                _first(table, sentences, -leaning * of_set[:, code], of_set[:, code], MOST)
            ]
        },
        "meant": _meant(table, sentences, right),
    }


def _meant(table: pa.Table, sentences: Sentences, right: IntArray) -> Block:
    """Compare rows where the occupation is meant with others; orders of mentions weigh alike."""
    orders = right_mentions(table)
    shape = len(MEANT), len(orders.names)
    cells = Strata(("",) * np.prod(shape), sentences.labels * shape[1] + orders.codes)
    sizes = cells.sizes.reshape(shape)
    both = (sizes > 0).all(axis=0)
    sums = (sentences.units.sums(one, cells) for one in (right, np.ones_like(right)))
    shares = (one.reshape(*shape, -1)[:, both] / sizes[:, both, None] for one in sums)
    return against_rest(*(one.sum(axis=1) for one in shares))[OCCUPATION]


def _of_pairs(table: pa.Table, sentences: Sentences) -> tuple[IntArray, IntArray]:
    """Return the occupation and the stratum of each template pair, shape ``[pairs]``."""
    orders, forms = right_mentions(table).codes, sentences.forms.codes
    kinds: list[list[tuple[int, ...]]] = [[] for _ in range(sentences.pairs.size)]
    rows = zip(forms.tolist(), sentences.labels.tolist(), orders.tolist(), strict=True)
    for pair, kind in zip(sentences.pairs.codes.tolist(), rows, strict=True):
        kinds[pair].append(kind)
    known: dict[tuple[tuple[int, ...], ...], int] = {}
    strata = [known.setdefault(tuple(sorted(kind)), len(known)) for kind in kinds]
    occupations = np.zeros(sentences.pairs.size, np.int64)
    occupations[sentences.pairs.codes] = sentences.units.codes
    return occupations, np.array(strata)


def _first(
    table: pa.Table, sentences: Sentences, values: IntArray, rows: BoolArray, number: int
) -> list[str]:
    """Return the occupations whose mean over `rows` is lowest, if it is below that of all rows."""
    codes, size = sentences.units.codes, sentences.units.size
    means = ratio(np.bincount(codes, values, size), np.bincount(codes, rows, size))
    names = dict(zip(codes.tolist(), table["occupation"].to_pylist(), strict=True))
    ordered = np.argsort(means, kind="stable")[:number]
    mean = values[rows].mean()
    return [names[code] for code in ordered.tolist() if means[code] < mean - ROUNDING]


def occupation_remarks(scores: Mapping[str, Score]) -> Iterator[str]:
    """Say of which systems the answers depend on the occupation, or on who is meant.

    p-values are corrected by Holm over the tests of one system: over those of all systems, even the
    least one that permutations can give would be above the level.
    """
    said: dict[str, list[str]] = {}
    for label, one in scores.items():
        for beginning, remark in _remarks(one.get("by_occupation") or {}):
            said.setdefault(beginning, []).append(f"{label} {remark}")
    for beginning, systems in said.items():
        yield f"{beginning} {listed(systems)}."


def _remarks(block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield how the sentence on each fault of a system begins, and what it says of this system."""
    tests = {
        kind: test for kind, test in _tests(block) if test["p"] is not None and test["n"] >= FEW
    }
    corrected = holm([test["p"] for test in tests.values()])
    found = {
        kind: {**test, "p_holm": p}
        for (kind, test), p in zip(tests.items(), corrected, strict=True)
        if p < SIGNIFICANCE
    }
    accuracy, meant = found.pop("accuracy", None), found.pop("meant", None)
    if accuracy is not None:
        least = f"least in {listed(accuracy['lowest'])}, " if accuracy["lowest"] else ""
        p = _written(accuracy["p_holm"], len(tests))
        yield "Right less often in some occupations:", f"({least}{p})"
    if found:
        alike: dict[str, list[str]] = {}
        for name, test in found.items():
            alike.setdefault(listed(test.get("most") or [""]), []).append(name)
        where = [
            " such as ".join(filter(None, (f"with {listed(sets)}", most)))
            for most, sets in alike.items()
        ]
        p = _written(max(test["p_holm"] for test in found.values()), len(tests))
        yield "Some occupations are chosen more often by", f"({', '.join((*where, p))})"
    if meant is not None and differ(meant):
        side = MEANT[OCCUPATION if meant["difference"] > 0 else PARTICIPANT]
        ends = sorted(abs(end) for end in meant["interval"]["difference"])
        by = f"{percent(abs(meant['difference']))} [{', '.join(map(percent, ends))}]"
        p = _written(meant["p_holm"], len(tests))
        yield f"Right more often where {side} is meant:", f"by {by} ({p})"


def _tests(block: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if block:
        yield from ((kind, block[kind]) for kind in ("accuracy", "meant"))
        yield from block["choice"].items()


def _written(p: float, tests: int) -> str:
    """Write a corrected p-value; where more permutations might give less, what it is below."""
    bound = LEAST_P * tests
    return written_p(p) if p > bound else f"p < {(int(1000 * bound) + 1) / 1000:.3f}"
