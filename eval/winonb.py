"""The scores of WinoNB (Baumler and Rudinger, 2022, section 4)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.tables import Table, percent, table

SOURCES = ("winogender", "winobias", "wsc", "dpr")
ASSOCIATIONS = ("fem", "masc", "neutral", "someone")
NUMBERS = ("singular", "plural")

Block = dict[str, Any]


def score(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Score one decision for each row.

    Args:
        rows: a published split; candidate 0 is the group, 1 the individual.
        decisions: in the order of the rows.

    Returns:
        ``by_source`` (each source and ``all``) and ``by_association``, each with ``singular`` and
        ``plural``: ``n``, ``accuracy``, and the fractions of n resolved to the ``group``, to the
        ``individual``, to ``neither`` and to ``both``. Fractions are None where n is 0.
    """
    answers: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    columns = (rows[name].to_pylist() for name in ("source", "association", "number"))
    for source, association, number, decision in zip(*columns, decisions, strict=True):
        for key in (source, "all", association):
            answers[key, number][_answer(decision)] += 1

    def blocks(keys: Sequence[str]) -> dict[str, dict[str, Block]]:
        return {key: {n: _block(n, answers[key, n]) for n in NUMBERS} for key in keys}

    return {"by_source": blocks([*SOURCES, "all"]), "by_association": blocks(ASSOCIATIONS)}


def tables(scores: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Compare systems: accuracy by source, and where the answers to singular *they* went."""
    by_source = {
        f"{source} {number[:2]}.": _cell("by_source", source, number, "accuracy")
        for source in (*SOURCES, "all")
        for number in NUMBERS
    }
    answers = {
        f"{number[:2]}.: {answer}": _cell("by_source", "all", number, answer)
        for number in NUMBERS
        for answer in ("individual", "group", "neither", "both")
    }
    return [
        table("WinoNB: accuracy", by_source, scores, ["si.: singular they; pl.: plural they."]),
        table("WinoNB: answers", answers, scores, []),
    ]


def _answer(decision: Decision) -> str:
    if decision.choice is None:
        return "both" if decision.abstained == "both" else "neither"
    return ("group", "individual")[decision.choice]


def _block(number: str, counts: Counter[str]) -> Block:
    n = counts.total()
    answers = ("group", "individual", "neither", "both")
    fractions = {answer: counts[answer] / n if n else None for answer in answers}
    right = "individual" if number == "singular" else "group"
    return {"n": n, "accuracy": fractions[right], **fractions}


def _cell(split: str, key: str, number: str, name: str) -> Any:
    return lambda score: percent(score[split][key][number][name])
