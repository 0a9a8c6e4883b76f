"""The loss of ranking antecedents rewards and punishes nothing that is unknown."""

import pytest

pytest.importorskip("torch")

import torch

from pronominal.adapters.training.antecedents import (
    NO_MENTION,
    UNKNOWN,
    GoldMentions,
    Targets,
    marginal_losses,
    mention_losses,
)
from pronominal.spans import Span

SPANS = [(0, 1), (2, 3), (3, 5), (6, 7), (8, 9)]
"""Ann, Eva, of no kind that is known, no mention, she."""

GOLD = GoldMentions([[Span(0, 1)], [Span(2, 3), Span(8, 9)]], lambda span: span == (6, 7))


def targets(gold: GoldMentions) -> Targets:
    numbers = torch.tensor(gold.numbers(SPANS))
    earlier = torch.ones(5, 5, dtype=torch.bool).tril(-1)
    return Targets.of(numbers, numbers.expand(5, 5), earlier, torch.tensor(gold.opening(SPANS)))


def losses(gold: GoldMentions, scores: torch.Tensor) -> torch.Tensor:
    earlier = torch.ones(5, 5, dtype=torch.bool).tril(-1)
    none = scores.new_zeros(5, 1)
    return marginal_losses(
        torch.cat([none, scores.masked_fill(~earlier, -torch.inf)], dim=1), targets(gold)
    )


def test_numbers() -> None:
    assert GOLD.numbers(SPANS) == [1, 2, UNKNOWN, NO_MENTION, 2]
    assert not GOLD.complete


def test_what_is_unknown_has_no_gradient() -> None:
    scores = torch.randn(5, 5, generator=torch.Generator().manual_seed(1), requires_grad=True)
    losses(GOLD, scores).sum().backward()
    pull = scores.grad
    assert pull is not None
    assert not pull[2].any()  # an unknown span asks for nothing
    assert pull[4, 2] == 0  # nor is it an antecedent that is right or wrong
    assert pull[4, 1] < 0  # the right one is rewarded
    assert (pull[4, [0, 3]] > 0).all()  # the other candidate and what is no mention are not
    assert pull[1, 0] > 0
    assert (pull[3, :3] > 0).all()  # what is no mention has no antecedent, known or not


def test_whole_annotation_knows_everything() -> None:
    gold = GoldMentions([[Span(0, 1)], [Span(2, 3), Span(8, 9)]])
    scores = torch.zeros(5, 5)
    wanted = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]).log()
    torch.testing.assert_close(losses(gold, scores), wanted)
    # where the right antecedent was not scored, none is right
    alone = targets(GoldMentions([[Span(8, 9), Span(20, 21)]]))
    assert alone.right[:, 0].all()


def test_a_mention_whose_antecedent_was_not_scored_asks_for_nothing() -> None:
    gold = GoldMentions([[Span(30, 31), Span(8, 9)]], lambda span: False)
    assert not losses(gold, torch.zeros(5, 5))[0].any()
    later = GoldMentions([[Span(1, 2), Span(8, 9)]], lambda span: False)
    assert not losses(later, torch.zeros(5, 5)).any()


def test_mentions_are_told_from_what_is_none() -> None:
    scores = torch.zeros(5, requires_grad=True)
    found = mention_losses(scores, torch.tensor(GOLD.numbers(SPANS)))
    torch.testing.assert_close(found, torch.tensor([2.0, 2.0, 1.0, 2.0, 2.0]).log())
    found.sum().backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [-0.5, -0.5, 0.0, 0.5, -0.5]
