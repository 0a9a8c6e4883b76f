"""``pronominal train e2e`` and ``c2f``: a coreference system for each seed, tested, summed up."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pronominal.adapters.c2f.learning.training import coreference_training
from pronominal.adapters.training import LoopSettings, train
from pronominal.adapters.training.curves import draw_curves, read_curves
from pronominal.adapters.training.devices import OneProcess, open_devices
from pronominal.adapters.training.loop import CURVES, remove_state
from pronominal.adapters.training.random_states import seeded
from pronominal.errors import InputError
from pronominal.eval.training.coreference_card import write_coreference_card
from pronominal.eval.training.coreference_data import CoreferenceData
from pronominal.eval.training.coreference_preparation import PreparedCoreference, prepare
from pronominal.eval.training.coreference_settings import CoreferenceTraining
from pronominal.eval.training.left_out import write_left_out
from pronominal.eval.training.seed_folder import SeedFolder, refuse_other_trainings
from pronominal.eval.training.summary import summarise
from pronominal.eval.training.testing import Progress, digests_of, run_tests, score_clusters


def train_coreference(
    data: CoreferenceData,
    asked: CoreferenceTraining,
    seeds: Sequence[int],
    out: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Train one system for each seed, going on with trainings that were stopped.

    Writes ``OUT/left-out.jsonl``, ``OUT/seed-N`` (a checkpoint that
    ``pronominal.adapters.load("e2e" or "spanbert", checkpoint=...)`` opens, with curves, card and
    test runs) and ``OUT/summary.json``.

    Returns:
        The summary: counts, and mean, standard deviation and values over the seeds of everything
        that was measured.

    Raises:
        InputError: a file or a setting is wrong, nothing is left to learn from, or a folder holds
            another training.
    """
    devices = open_devices("no")
    if devices.processes > 1:
        raise InputError(
            "it trains in one process", cure="start it without accelerate launch, a seed at a time"
        )
    out.mkdir(parents=True, exist_ok=True)
    prepared = prepare(data, asked, out)
    refuse_other_trainings(out, prepared.identity, {})
    write_left_out(out, prepared.left_out)
    for seed in seeds:
        folder = SeedFolder(out / f"seed-{seed}", {**prepared.identity, "seed": seed}, {})
        with folder.opened():
            if not folder.complete:
                _train_seed(prepared, seed, folder, devices, progress)
            elif data.tests and folder.description.get("tests") != digests_of(data.tests):
                _test(prepared, folder, progress)
    return summarise(out, prepared.identity, digests_of(data.tests))


def _train_seed(
    prepared: PreparedCoreference,
    seed: int,
    folder: SeedFolder,
    devices: OneProcess,
    progress: Progress,
) -> None:
    started = time.monotonic()
    asked, trainee = prepared.asked, prepared.trainee
    with seeded(seed):
        model = trainee.new_model()
        training = coreference_training(
            trainee,
            model,
            prepared.documents,
            batch_size=asked.batch_size,
            seed=seed,
            updates=prepared.updates,
            validate=prepared.validation,
        )
        with progress(f"seed {seed}", prepared.updates) as bar:
            outcome = train(
                training, _loop_settings(prepared), folder.path, devices=devices, progress=bar
            )
    seconds = folder.description.get("seconds", 0.0) + time.monotonic() - started
    folder.describe(outcome=asdict(outcome), counts=prepared.counts(), seconds=round(seconds, 1))
    points = read_curves(folder.path / CURVES)
    draw_curves(points, folder.path / "curves.svg", f"{trainee.system}, seed {seed}")
    folder.save("system", lambda beside: prepared.trainee.save(model, beside))
    _test(prepared, folder, progress)
    folder.describe(complete=True)
    remove_state(folder.path)


def _test(prepared: PreparedCoreference, folder: SeedFolder, progress: Progress) -> None:
    data, system = prepared.data, prepared.trainee.system
    run_tests(data.tests, folder.path, progress, system, prepared.asked.load_settings())
    scores = score_clusters(data.tests, data.test_name, folder.path, system)
    folder.describe(scores=scores, tests=digests_of(data.tests))
    write_coreference_card(folder.path, folder.description)


def _loop_settings(prepared: PreparedCoreference) -> LoopSettings:
    asked = prepared.asked
    return LoopSettings(
        updates=prepared.updates,
        clip=None,  # each optimiser clips its own, as the recipes have it
        save_every=asked.save_every,
        validate_every=asked.validate_every,
        patience=asked.patience,
        keep=asked.keep,
    )
