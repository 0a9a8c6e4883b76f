"""Whether answers depend on the occupation, or on which of the two entities is meant."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.bias import OCCUPATION, PARTICIPANT
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE, holm
from pronominal.eval.statistics.intervals import FEW
from pronominal.eval.statistics.mention_order import right_mentions
from pronominal.eval.statistics.outcomes import IntArray, choices_of, ratio, sum_by
from pronominal.eval.statistics.paired_tests import differ
from pronominal.eval.statistics.parts import against_rest
from pronominal.eval.statistics.unit_differences import units_differ
from pronominal.eval.tables.findings import listed
from pronominal.eval.tables.table import Score, percent, written_p

MEANT = {OCCUPATION: "the occupation", PARTICIPANT: "the other participant"}

WORST = 3
"""How many occupations are named where more than half of each one's rows are right."""


def by_occupation(table: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Test whether answers depend on the occupation, or on which entity is meant.

    Template pairs change occupations with those of the same cases, pronoun sets, right answers and
    order of mentions (`units_differ`). So neither a system that takes the first mention nor one
    that fails in a case depends on the occupation, and with one pair an occupation, as in
    Winogender, nothing does.

    Args:
        table: a published split whose sentences name both entities.
        decisions: in the order of the rows.

    Returns:
        ``n`` (rows); ``accuracy``: ``n`` (occupations), ``p`` of whether they differ in how many of
        their rows are right, and ``lowest``, the occupations with at most half of them right, or
        the three with the fewest. ``choice``: by pronoun set, ``n`` and ``p`` of whether they
        differ in how often the occupation is chosen. ``meant``: the ``difference`` between the
        accuracies where the occupation and where the participant is meant, as `against_rest`.
        p-values are two-sided and not corrected; None where nothing could differ.
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
    meant = Strata.of([str(label) for label in sentences.labels.tolist()], map(str, MEANT))
    counts = [sentences.units.sums(one, meant) for one in (right, np.ones_like(right))]
    return {
        "n": table.num_rows,
        "accuracy": {"n": n, "p": known[0], "lowest": _lowest(table, sentences, right)},
        "choice": {
            name: {"n": n, "p": one}
            for name, one, there in zip(sets.names, known[1:], sets.sizes, strict=True)
            if there
        },
        "meant": against_rest(*counts)[OCCUPATION],
    }


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


def _lowest(table: pa.Table, sentences: Sentences, right: IntArray) -> list[str]:
    codes, size = sentences.units.codes, sentences.units.size
    accuracy = ratio(np.bincount(codes, right, size), np.bincount(codes, minlength=size))
    names = dict(zip(codes.tolist(), table["occupation"].to_pylist(), strict=True))
    ordered = np.argsort(accuracy, kind="stable").tolist()
    return [names[code] for code in ordered[: max(WORST, int((accuracy <= 0.5).sum()))]]


class _Found(NamedTuple):
    label: str
    kind: str
    test: Mapping[str, Any]


def occupation_remarks(scores: Mapping[str, Score]) -> Iterator[str]:
    """Say of which systems the answers depend on the occupation, or on who is meant.

    p-values are corrected by Holm over all these tests of all systems.
    """
    tested = [
        _Found(label, kind, test)
        for label, one in scores.items()
        for kind, test in _tests(one.get("by_occupation") or {})
        if test["p"] is not None and test["n"] >= FEW
    ]
    corrected = holm([one.test["p"] for one in tested])
    of_system: dict[str, dict[str, Mapping[str, Any]]] = {}
    for (label, kind, test), p in zip(tested, corrected, strict=True):
        if p < SIGNIFICANCE and ("difference" not in test or differ({**test, "p_holm": p})):
            of_system.setdefault(label, {})[kind] = {**test, "p": p}
    for label, found in of_system.items():
        yield from _sentences(label, found, [*scores[label]["by_occupation"]["choice"]])


def _tests(block: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if block:
        yield from ((kind, block[kind]) for kind in ("accuracy", "meant"))
        yield from block["choice"].items()


def _sentences(
    label: str, found: dict[str, Mapping[str, Any]], sets: Sequence[str]
) -> Iterator[str]:
    accuracy, meant = found.pop("accuracy", None), found.pop("meant", None)
    if accuracy is not None:
        where, p = listed(accuracy["lowest"]), written_p(accuracy["p"])
        yield f"{label} is right less often in some occupations ({p}), least in {where}."
    if found:
        p = written_p(max(test["p"] for test in found.values()))
        where = f" with {listed(found)}" if len(found) < len(sets) else ""
        yield f"{label} chooses some occupations more often{where} ({p})."
    if meant is not None:
        side = OCCUPATION if meant["difference"] > 0 else PARTICIPANT
        ends = sorted(abs(end) for end in meant["interval"]["difference"])
        by = f"{percent(abs(meant['difference']))} [{', '.join(map(percent, ends))}]"
        p = written_p(meant["p"])
        yield f"{label} is right more often where {MEANT[side]} is meant, by {by} ({p})."
