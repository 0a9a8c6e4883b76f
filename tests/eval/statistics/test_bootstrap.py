import numpy as np
import pyarrow as pa
import pytest

from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.score import score
from pronominal.eval.statistics.bootstrap import Bootstrap
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import RIGHT, Outcomes

COUNTS = np.random.default_rng(1).integers(0, 5, size=(7, 3, 4))


def table(pairs: int, rows: int) -> pa.Table:
    """Pairs of templates whose rows are all of one set, as many in each pair."""
    return pa.Table.from_pylist(
        [
            {
                "id": f"{pair}-{row}",
                "label": row % 2,
                "case": "nominative",
                "pronoun_set": "xe",
                "template_id": f"{pair}-{row % 2}",
                "pair_id": str(pair),
                "occupation": str(pair),
                "candidates": [{"start": 0}, {"start": 1}],
            }
            for pair in range(pairs)
            for row in range(rows)
        ]
    )


def resampled(bootstrap: Bootstrap, counts: np.ndarray) -> Outcomes:
    """Resample counts by unit and column, shape ``[units, columns, 4]``."""
    rows = np.arange(len(counts))
    return Outcomes(bootstrap.tally(counts, rows, Strata(("all",), np.zeros_like(rows)))[1][:, 0])


def half_right(rows: pa.Table) -> list[Decision]:
    """Every other pair is right in all its rows, the others in none."""
    pairs = zip(rows["label"].to_pylist(), rows["pair_id"].to_pylist(), strict=True)
    return [Decision(label ^ int(pair) % 2) for label, pair in pairs]


def test_every_resample_has_as_many_units() -> None:
    draws = Bootstrap.of(units=7, resamples=50).draws
    assert draws.shape == (50, 7)
    assert (draws.sum(axis=1) == 7).all()


def test_resampling_equals_a_loop_over_units() -> None:
    bootstrap = Bootstrap.of(units=len(COUNTS), resamples=20, seed=3)
    drawn = resampled(bootstrap, COUNTS).counts
    for draw, counts in zip(bootstrap.draws, drawn, strict=True):
        units = np.repeat(np.arange(len(COUNTS)), draw.astype(int))
        assert (counts == sum(COUNTS[unit] for unit in units)).all()


def test_intervals_are_percentiles() -> None:
    bootstrap = Bootstrap.of(units=len(COUNTS), resamples=200, level=0.9)
    accuracy = resampled(bootstrap, COUNTS).accuracy
    expected = [list(np.percentile(column, [5, 95])) for column in accuracy.T]
    assert bootstrap.intervals(accuracy) == [pytest.approx(ends) for ends in expected]


def test_the_seed_decides() -> None:
    def accuracy(seed: int) -> Outcomes:
        return resampled(Bootstrap.of(units=len(COUNTS), seed=seed), COUNTS)

    assert (accuracy(0).counts == accuracy(0).counts).all()
    assert (accuracy(0).counts != accuracy(1).counts).any()


def test_undefined_resamples_do_not_count() -> None:
    # one unit of three has an answer, so many resamples have none
    counts = np.zeros((3, 1, 4), dtype=np.int64)
    counts[0, 0, RIGHT] = 1
    bootstrap = Bootstrap.of(units=3)
    accuracy = resampled(bootstrap, counts).accuracy
    assert np.isnan(accuracy).any()
    assert bootstrap.intervals(accuracy) == [[1.0, 1.0]]
    assert bootstrap.intervals(np.full((1000, 1), np.nan)) == [None]


@pytest.mark.parametrize("units", [0, 1])
def test_few_units(units: int) -> None:
    bootstrap = Bootstrap.of(units, resamples=10)
    counts = np.full((units, 1, 4), 1)
    expected = [[0.25, 0.25]] if units else [None]
    assert bootstrap.intervals(resampled(bootstrap, counts).accuracy) == expected


def test_scores_resample_pairs_and_not_rows() -> None:
    few, many = table(pairs=20, rows=2), table(pairs=20, rows=16)
    intervals = [score(rows, half_right(rows))["overall"]["interval"] for rows in (few, many)]
    # more rows of the same pairs bring no certainty
    assert intervals[0] == intervals[1]
    low, high = intervals[0]["accuracy"]
    # the standard error of 20 fair coins is 0.11
    assert low == pytest.approx(0.5 - 1.96 * 0.112, abs=0.06)
    assert high == pytest.approx(0.5 + 1.96 * 0.112, abs=0.06)


def test_scores_say_how_intervals_were_made() -> None:
    rows = table(pairs=20, rows=2)
    result = score(rows, half_right(rows), resamples=30, seed=5)
    assert result["bootstrap"] == {
        "unit": "pair_id",
        "units": 20,
        "resamples": 30,
        "seed": 5,
        "level": 0.95,
    }
    assert result == score(rows, half_right(rows), resamples=30, seed=5)
    assert result["overall"]["interval"] != score(rows, half_right(rows))["overall"]["interval"]


def test_without_resamples_there_are_no_intervals() -> None:
    rows = table(pairs=4, rows=2)
    result = score(rows, half_right(rows), resamples=0)
    assert result["overall"]["interval"] == {"accuracy": None, "f1": None}
    assert result["pronoun_consistency"]["interval"] == {"score": None, "f1": None}
