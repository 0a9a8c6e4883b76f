import json
from typing import Any

import pytest

from pronominal.decisions import Decision
from pronominal.eval.runs.decision_rules import DECISION_RULES, differing
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Mention, Span
from tests.conftest import ROOT

CASES = json.loads((ROOT / "tests" / "cases" / "decision_rules.json").read_text(encoding="utf-8"))
NAMED = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])


def mention(word: str, start: int) -> Mention:
    return Mention(word, start, start + len(word) if start >= 0 else -1)


def question(case: dict[str, Any]) -> tuple[ResolutionInstance, list[Cluster]]:
    candidates = tuple(mention(*candidate) for candidate in case["candidates"])
    instance = ResolutionInstance("x", case["text"], mention(*case["pronoun"]), candidates, 0)
    clusters = [[mention(*member).span for member in cluster] for cluster in case["clusters"]]
    return instance, clusters


def decision(expected: Any) -> Decision:
    return Decision(expected) if isinstance(expected, int) else Decision(None, expected)


@NAMED
def test_places_of_the_cases(case: dict[str, Any]) -> None:
    mentions = [case["pronoun"], *case["candidates"], *(m for c in case["clusters"] for m in c)]
    for word, start in mentions:
        assert start == -1 or mention(word, start).stands_in(case["text"])


@pytest.mark.parametrize("reading", ["offsets", "upstream"])
@NAMED
def test_reading(case: dict[str, Any], reading: str) -> None:
    assert DECISION_RULES[reading](*question(case)) == decision(case[reading])


def test_order_of_mentions_is_the_systems() -> None:
    case = next(case for case in CASES if "upstream takes the first string" in case["name"])
    instance, clusters = question(case)
    backwards = [cluster[::-1] for cluster in clusters]
    assert DECISION_RULES["upstream"](instance, clusters) == Decision(1)
    assert DECISION_RULES["upstream"](instance, backwards) == Decision(0)
    assert DECISION_RULES["offsets"](instance, backwards) == DECISION_RULES["offsets"](
        instance, clusters
    )


def test_differing_counts_rows() -> None:
    instances, clusters = zip(*map(question, CASES), strict=True)
    assert differing(instances, clusters) == sum(c["offsets"] != c["upstream"] for c in CASES)
    assert differing([], []) == 0


def test_differing_wants_clusters_for_every_row() -> None:
    instance, _ = question(CASES[0])
    with pytest.raises(ValueError, match="shorter"):
        differing([instance], [])


def test_default_reading_is_by_offsets() -> None:
    assert next(iter(DECISION_RULES)) == "offsets"
    instance, _ = question(CASES[0])
    assert DECISION_RULES["offsets"](instance, [[Span(0, 3)]]).abstained == "none"
