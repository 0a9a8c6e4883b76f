"""Scores of antecedents become clusters."""

import pytest

pytest.importorskip("torch")

import torch

from pronominal.adapters.c2f.head.prediction import decode, predicted_antecedents
from pronominal.adapters.c2f.head.units import AntecedentScores

FILLER = -torch.inf


def scores(*rows: list[float]) -> AntecedentScores:
    """Spans of one unit each, at 0, 1, ...; a row scores none, then the two spans before it."""
    count = len(rows)
    starts = torch.arange(count)
    before = torch.tensor([[max(span - 1, 0), max(span - 2, 0)] for span in range(count)])
    return AntecedentScores(
        starts, starts + 1, torch.zeros(count), before.reshape(count, 2), torch.tensor(rows)
    )


def test_each_span_takes_its_best_antecedent() -> None:
    given = scores([0, FILLER, FILLER], [0, 2.0, FILLER], [0, 1.0, 3.0], [0, -1.0, -2.0])
    assert predicted_antecedents(given) == [-1, 0, 0, -1]
    assert decode(given) == [[(0, 1), (1, 2), (2, 3)]]


def test_no_antecedent_wins_a_tie_and_the_nearer_of_two_does() -> None:
    given = scores([0, FILLER, FILLER], [0, 0.0, FILLER], [0, 1.0, 1.0])
    assert predicted_antecedents(given) == [-1, -1, 1]
    assert decode(given) == [[(1, 2), (2, 3)]]


def test_clusters_have_the_order_in_which_they_were_opened() -> None:
    given = scores([0, FILLER, FILLER], [0, -1.0, FILLER], [0, -1.0, 1.0], [0, -1.0, 1.0])
    assert decode(given) == [[(0, 1), (2, 3)], [(1, 2), (3, 4)]]
