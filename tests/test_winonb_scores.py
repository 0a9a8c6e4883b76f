"""WinoNB's scores: where the answers to singular and plural they went."""

import itertools

import pyarrow as pa

from pronominal import BOTH, NONE, Decision
from pronominal.eval.winonb import ASSOCIATIONS, SOURCES, score, tables

ROWS = pa.Table.from_pylist(
    [
        {"source": source, "association": association, "number": number}
        for source, association, number in itertools.product(
            SOURCES, ASSOCIATIONS, ("singular", "plural")
        )
    ]
)


def test_always_the_group_is_right_on_plurals_only() -> None:
    scores = score(ROWS, [Decision(0)] * ROWS.num_rows)
    for source in (*SOURCES, "all"):
        block = scores["by_source"][source]
        assert block["singular"]["accuracy"] == 0
        assert block["plural"]["accuracy"] == block["plural"]["group"] == 1
    assert scores["by_source"]["all"]["plural"]["n"] == 16
    assert scores["by_association"]["fem"]["singular"]["n"] == 4


def test_answers_add_up() -> None:
    decisions = list(itertools.islice(itertools.cycle([Decision(1), NONE, BOTH]), ROWS.num_rows))
    scores = score(ROWS, decisions)
    for blocks in (*scores["by_source"].values(), *scores["by_association"].values()):
        for block in blocks.values():
            parts = [block[name] for name in ("group", "individual", "neither", "both")]
            assert abs(sum(parts) - 1) < 1e-12
    assert scores["by_source"]["all"]["singular"]["accuracy"] == 6 / 16
    assert len(tables({"a": scores})) == 2


def test_an_absent_stratum_is_undefined() -> None:
    only = ROWS.filter(pa.compute.equal(ROWS["source"], "wsc"))
    block = score(only, [NONE] * only.num_rows)["by_source"]["dpr"]["singular"]
    assert block == {
        "n": 0,
        **dict.fromkeys(("accuracy", "group", "individual", "neither", "both")),
    }
