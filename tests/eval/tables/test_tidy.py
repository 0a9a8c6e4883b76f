"""Tidy scores: each figure once, with the rows that it is of."""

from pronominal.eval.scores import task_of
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.tidy import tidy_rows


def figures(dataset: str, scores: dict[str, object]) -> dict[tuple[str, str], tuple[float, int]]:
    rows = [*tidy_rows(task_of(dataset).measures, Scores(scores))]
    found = {(row["subset"], row["measure"]): (row["value"], row["n"]) for row in rows}
    assert len(found) == len(rows)
    return found


def test_the_f1_of_a_gender_is_that_of_a_subset() -> None:
    scores = {
        "overall": {"n": 8, "f1": 0.5},
        "masculine": {"n": 4, "f1": 0.6},
        "feminine": {"n": 4, "f1": 0.3},
        "bias": 0.5,
    }
    assert figures("gap", scores) == {
        ("overall", "f1"): (0.5, 8),
        ("gender=masculine", "f1"): (0.6, 4),
        ("gender=feminine", "f1"): (0.3, 4),
        ("overall", "bias"): (0.5, 8),
    }


def test_all_sources_are_no_source() -> None:
    sources = {name: {"singular": {"n": 4, "accuracy": 0.5}} for name in ("all", "wsc")}
    assert figures("winonb", {"by_source": sources}) == {
        ("overall", "singular"): (0.5, 4),
        ("source=wsc", "singular"): (0.5, 4),
    }


def test_n_counts_rows_where_the_figure_is_of_groups() -> None:
    scores = {
        "overall": {"n": 16, "accuracy": 0.5},
        "by_case": {"nominative": {"n": 8, "accuracy": 0.5}},
        "pronoun_consistency": {
            "groups": 4,
            "score": 0.25,
            "by_case": {"nominative": {"groups": 2, "score": 0.5}},
        },
    }
    assert figures("winopron", scores) == {
        ("overall", "accuracy"): (0.5, 16),
        ("case=nominative", "accuracy"): (0.5, 8),
        ("overall", "pronoun_consistency"): (0.25, 16),
        ("case=nominative", "pronoun_consistency"): (0.5, 8),
    }
