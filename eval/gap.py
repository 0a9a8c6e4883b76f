"""The scores of GAP (Webster et al., 2018), as its official scorer counts them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.tables import Table, percent, table

BLOCKS = ("overall", "masculine", "feminine")


def score(
    rows: pa.Table, decisions: Sequence[Decision | None], *, allow_missing: bool = False
) -> dict[str, Any]:
    """Score one decision for each row.

    Each row asks two questions, whether the pronoun is A and whether it is B. ``none`` says no to
    both, ``both`` says yes to both (gap_scorer.py).

    Args:
        rows: a published split with ``label`` (2 is *neither*) and ``gender``.
        decisions: in the order of the rows; None where a system gave no answer at all.
        allow_missing: score rows without an answer as the official scorer does, which counts a
            false negative for A and one for B, even where the right answer is no.

    Returns:
        ``overall``, ``masculine`` and ``feminine``: ``n`` (rows), ``missing`` (rows without an
        answer), ``tp``, ``fp``, ``tn`` and ``fn`` (questions), ``precision``, ``recall`` and
        ``f1`` in [0, 1], 0 where undefined, as the official scorer has it; ``bias``, feminine F1 /
        masculine F1, None if either is 0.

    Raises:
        InputError: the number of decisions is not the number of rows, or one is missing.
    """
    if len(decisions) != rows.num_rows or (None in decisions and not allow_missing):
        there = len(decisions) - sum(decision is None for decision in decisions)
        raise InputError(
            f"there are {there} decisions for {rows.num_rows} rows",
            cure="give one decision for each row, or allow missing ones",
        )
    counts: dict[str, Counter[str]] = {block: Counter() for block in BLOCKS}
    columns = zip(rows["label"].to_pylist(), rows["gender"].to_pylist(), decisions, strict=True)
    for label, gender, decision in columns:
        for block in ("overall", gender):
            counts[block].update(_counted(label, decision))
    scores: dict[str, Any] = {block: _block(counts[block]) for block in BLOCKS}
    masculine, feminine = scores["masculine"]["f1"], scores["feminine"]["f1"]
    scores["bias"] = feminine / masculine if masculine and feminine else None
    return scores


def tables(scores: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Compare systems as KnowRef's Table 6 does: F1 in percent, and the ratio of the genders."""
    columns = {
        "n": lambda s: f"{s['overall']['n']:,}",
        "Precision": lambda s: percent(s["overall"]["precision"]),
        "Recall": lambda s: percent(s["overall"]["recall"]),
        "F1": lambda s: percent(s["overall"]["f1"]),
        "Masculine F1": lambda s: percent(s["masculine"]["f1"]),
        "Feminine F1": lambda s: percent(s["feminine"]["f1"]),
        "F/M": lambda s: "–" if s["bias"] is None else f"{s['bias']:.2f}",
    }
    notes = ["F/M: feminine F1 / masculine F1; 1 is no bias."]
    if any(s["overall"]["missing"] for s in scores.values()):
        columns["Missing"] = lambda s: f"{s['overall']['missing']:,}"
        notes.append("Missing: rows without an answer, two false negatives each.")
    return [table("GAP", columns, scores, notes)]


def _counted(label: int, decision: Decision | None) -> dict[str, int]:
    if decision is None:
        return {"n": 1, "missing": 1, "fn": 2}
    counts = Counter(n=1)
    for candidate in (0, 1):
        yes = decision.choice == candidate or decision.abstained == "both"
        counts[("t" if yes == (label == candidate) else "f") + "np"[yes]] += 1
    return counts


def _block(counts: Counter[str]) -> dict[str, Any]:
    tp, fp, tn, fn = (counts[name] for name in ("tp", "fp", "tn", "fn"))
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    total = precision + recall
    return {
        "n": counts["n"],
        "missing": counts["missing"],
        **{"tp": tp, "fp": fp, "tn": tn, "fn": fn},
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / total if total else 0.0,
    }
