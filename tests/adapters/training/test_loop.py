"""A training that is killed goes on with the same command and ends with the same weights."""

import json
import random
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from pronominal import InputError
from pronominal.adapters.training.curves import draw_curves, read_curves
from pronominal.adapters.training.loop import CURVES, remove_state, train
from pronominal.adapters.training.optimisation import linear_with_warmup
from pronominal.adapters.training.settings import LoopSettings
from pronominal.adapters.training.state import STATE, seeded
from pronominal.adapters.training.trainable import Outcome, Training, Validation
from pronominal.adapters.words.length_batches import length_buckets

UPDATES = 14


def noisy_loss(model: nn.Module, share: Any, batch: Any) -> Tensor:
    """Draw from every generator, so that a resumed one that was not restored shows."""
    inputs = torch.tensor([[item / 10, random.random(), np.random.rand()] for item in share])
    errors = model(inputs)[:, 0] - torch.tensor([item % 2.0 for item in share])
    return (errors**2).sum() / len(batch)


Weights = dict[str, Tensor]


def weights(model: nn.Module) -> Weights:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def training(
    loss: Callable[[nn.Module, Any, Any], Tensor] = noisy_loss,
    validate: Callable[[nn.Module], Validation] | None = None,
    updates: int = UPDATES,
    clip: float | None = 1.0,
) -> Training:
    """A small network with two optimisers, each with a schedule of its own."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    optimisers = [
        torch.optim.AdamW(model[0].parameters(), lr=0.01),
        torch.optim.SGD(model[2].parameters(), lr=0.1, momentum=0.9),
    ]
    return Training(
        model=model,
        optimisers=optimisers,
        schedules=[linear_with_warmup(one, UPDATES, 0.2) for one in optimisers],
        batches=lambda number: length_buckets(range(10), 2, seed=3, epoch=number),
        loss=loss,
        updates=updates,
        clip=clip,
        validate=validate,
    )


def trained(folder: Path, **changes: Any) -> tuple[Outcome, Weights]:
    parts = ("loss", "validate", "updates", "clip")
    made = {key: changes.pop(key) for key in parts if key in changes}
    progress = changes.pop("progress", lambda update: None)
    settings = LoopSettings(**{"save_every": 3, **changes})
    folder.mkdir(exist_ok=True)
    with seeded(7):
        one = training(**made)
        outcome = train(one, settings, folder, progress=progress)
    return outcome, weights(one.model)


def same(one: Weights, other: Weights) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


class Killed(BaseException):
    pass


def killer(update: int) -> Callable[[int], None]:
    def progress(done: int) -> None:
        if done == update:
            raise Killed

    return progress


@pytest.mark.parametrize("update", range(1, UPDATES))
def test_a_killed_training_ends_with_the_same_weights(tmp_path: Path, update: int) -> None:
    _, expected = trained(tmp_path / "whole")
    with pytest.raises(Killed):
        trained(tmp_path / "killed", progress=killer(update))
    _, found = trained(tmp_path / "killed")
    assert same(found, expected)
    curves = [(tmp_path / name / CURVES).read_bytes() for name in ("whole", "killed")]
    assert curves[0] == curves[1]


def test_a_training_killed_again_and_again_ends_with_the_same_weights(tmp_path: Path) -> None:
    _, expected = trained(tmp_path / "whole")
    for update in (4, 8, 12):
        with pytest.raises(Killed):
            trained(tmp_path / "killed", progress=killer(update))
    assert same(trained(tmp_path / "killed")[1], expected)


def test_without_the_saved_random_numbers_it_would_not(tmp_path: Path) -> None:
    _, expected = trained(tmp_path / "whole")
    with pytest.raises(Killed):
        trained(tmp_path / "killed", progress=killer(5))
    content = torch.load(tmp_path / "killed" / STATE, weights_only=True)
    with seeded(8):
        content["random"]["torch"] = torch.get_rng_state()
    torch.save(content, tmp_path / "killed" / STATE)
    assert not same(trained(tmp_path / "killed")[1], expected)


def test_a_finished_training_is_not_repeated(tmp_path: Path) -> None:
    outcome, expected = trained(tmp_path)

    def refuse(*_: Any) -> Tensor:
        raise AssertionError("it was trained again")

    again, found = trained(tmp_path, loss=refuse)
    assert again == outcome
    assert same(found, expected)
    remove_state(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [CURVES]


@pytest.mark.parametrize(
    ("scores", "changes", "updates", "kept"),
    [
        ([0.5, 0.7, 0.6], {}, 14, 10),  # five updates an epoch, and the last one
        ([0.5, 0.7, 0.6], {"keep": "last"}, 14, 14),
        ([0.5, 0.7, 0.7], {}, 14, 10),
        ([0.5, 0.7, 0.6, 0.9], {"patience": 1, "validate_every": 2}, 6, 4),
        ([0.5, 0.5, 0.5, 0.9], {"patience": 2, "validate_every": 2}, 6, 2),
        ([0.5, 0.6, 0.7], {"patience": 1}, 14, 14),
    ],
)
def test_the_weights_of_the_best_validation_are_kept(
    tmp_path: Path, scores: list[float], changes: dict[str, Any], updates: int, kept: int
) -> None:
    seen: list[Weights] = []

    def validate(model: nn.Module) -> Validation:
        assert not model.training
        seen.append(weights(model))
        return Validation(scores[len(seen) - 1], {"number": len(seen) - 1})

    outcome, found = trained(tmp_path, validate=validate, **changes)
    assert (outcome.updates, outcome.kept_update) == (updates, kept)
    assert outcome.validation is not None
    assert same(found, seen[outcome.validation["number"]])


def test_a_killed_training_keeps_its_best_validation(tmp_path: Path) -> None:
    def falling() -> Callable[[nn.Module], Validation]:
        # what is measured depends on the weights, as in a real training
        return lambda model: Validation(float(model[0].weight.sum()))

    outcome, expected = trained(tmp_path / "whole", validate=falling(), validate_every=2)
    for update in (5, 9):
        with pytest.raises(Killed):
            trained(
                tmp_path / "killed",
                validate=falling(),
                validate_every=2,
                progress=killer(update),
            )
    again, found = trained(tmp_path / "killed", validate=falling(), validate_every=2)
    assert again == outcome
    assert same(found, expected)


def test_the_last_state_survives_a_full_disk(tmp_path: Path) -> None:
    _, expected = trained(tmp_path / "whole")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(done: int) -> None:
        if done == 7:  # states are saved at 3, 5 and 6; the next one at 9
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))

    try:
        with pytest.raises(InputError, match=r"cannot be written.*had saved before is whole"):
            trained(tmp_path / "full", progress=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    kept = torch.load(tmp_path / "full" / STATE, weights_only=True)
    assert kept["place"]["update"] == 6
    assert sorted(path.name for path in (tmp_path / "full").iterdir()) == [CURVES, STATE]
    assert same(trained(tmp_path / "full")[1], expected)


def test_a_damaged_state_is_an_error(tmp_path: Path) -> None:
    (tmp_path / STATE).write_bytes(b"PK")
    with pytest.raises(InputError, match="state is damaged; remove its folder"):
        trained(tmp_path)


def test_a_loss_that_is_no_number_stops_the_training(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="update 1 is no finite number; lower the learning rate"):
        trained(tmp_path, loss=lambda *given: noisy_loss(*given) / 0)


def diverged(*given: Any) -> Any:
    raise FloatingPointError


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("loss", "the loss of update 1 is no finite number; lower the learning rate"),
        ("validate", "a score of the validation at update 3 is no finite number; lower the"),
    ],
)
def test_a_model_that_answers_nothing_any_more_stops_the_training(
    tmp_path: Path, part: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        trained(tmp_path, validate_every=3, **{part: diverged})


def test_gradients_are_clipped(tmp_path: Path) -> None:
    _, before = trained(tmp_path / "none", updates=0)
    _, small = trained(tmp_path / "clipped", updates=1, clip=1e-9)
    _, large = trained(tmp_path / "free", updates=1, clip=None)
    moved = {name: (small[name] - before[name]).abs().max() for name in ("2.weight", "2.bias")}
    assert all(distance < 1e-8 for distance in moved.values())  # SGD moves as far as gradients say
    assert (large["2.bias"] - before["2.bias"]).abs().max() > 1e-4


def test_the_random_numbers_of_the_user_go_on_as_if_nothing_were(tmp_path: Path) -> None:
    def drawn() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), float(torch.rand(1))

    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    expected = drawn()
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    trained(tmp_path)
    assert drawn() == expected


def test_curves(tmp_path: Path) -> None:
    trained(tmp_path, validate=lambda _: Validation(0.5, {"n": 3}))
    points = read_curves(tmp_path / CURVES)
    assert [p["update"] for p in points if "loss" in p] == list(range(1, UPDATES + 1))
    assert [p["update"] for p in points if "validation" in p] == [5, 10, 14]
    rates = [p["learning_rates"] for p in points if "loss" in p]
    assert max(rate for rate, _ in rates) == pytest.approx(0.01)
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for picture in pictures:
        draw_curves(points, picture, "tiny")
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    draw_curves(points, tmp_path / "curves.png", "tiny")
    assert (tmp_path / "curves.png").read_bytes()[:4] == b"\x89PNG"


def test_a_line_that_a_kill_cut_off_is_no_point(tmp_path: Path) -> None:
    (tmp_path / CURVES).write_text(json.dumps({"update": 1, "loss": 0.5}) + '\n{"update": 2, "lo')
    assert read_curves(tmp_path / CURVES) == [{"update": 1, "loss": 0.5}]


LENGTHS = st.lists(st.integers(1, 60), max_size=200)


@given(LENGTHS, st.integers(1, 9), st.integers(0, 3), st.integers(0, 3), st.integers(1, 4))
def test_every_item_is_in_one_batch(
    lengths: list[int], size: int, seed: int, epoch: int, pool: int
) -> None:
    batches = length_buckets(lengths, size, seed=seed, epoch=epoch, pool=pool)
    assert sorted(item for batch in batches for item in batch) == list(range(len(lengths)))
    assert all(1 <= len(batch) <= size for batch in batches)
    assert len(batches) == -(-len(lengths) // size)
    assert batches == length_buckets(lengths, size, seed=seed, epoch=epoch, pool=pool)


def test_epochs_and_seeds_differ_and_batches_pad_little() -> None:
    lengths = [int(n) for n in np.random.default_rng(0).normal(30, 9, 2000).clip(9, 64)]
    orders = {
        (seed, epoch): length_buckets(lengths, 16, seed=seed, epoch=epoch)
        for seed in range(2)
        for epoch in range(2)
    }
    assert len({str(batches) for batches in orders.values()}) == 4
    fed = sum(len(batch) * max(lengths[item] for item in batch) for batch in orders[0, 0])
    assert fed < 1.05 * sum(lengths)
    shuffled = [batch[0] for batch in orders[0, 0]]
    assert shuffled != sorted(shuffled, key=lengths.__getitem__)


def test_the_learning_rate_rises_and_falls() -> None:
    optimiser = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = linear_with_warmup(optimiser, 10, 0.2)
    rates = []
    for _ in range(10):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        schedule.step()
    assert rates == pytest.approx([1 / 3, 2 / 3, *(1 - n / 8 for n in range(8))])
    assert optimiser.param_groups[0]["lr"] == 0
