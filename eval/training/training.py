"""One training for each seed, of any system: begun or resumed, tested and summed up."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pronominal.adapters.training.curves import draw_curves, read_curves
from pronominal.adapters.training.devices import OneProcess, open_devices
from pronominal.adapters.training.loop import CURVES, remove_state, train
from pronominal.adapters.training.settings import ClusteringTraining, TrainingSettings
from pronominal.adapters.training.state import seeded
from pronominal.errors import InputError
from pronominal.eval.training.card import write_card
from pronominal.eval.training.choosing import prepare_chooser
from pronominal.eval.training.clustering import prepare_clusterer
from pronominal.eval.training.data.rows import TrainingData
from pronominal.eval.training.data.versions import write_left_out
from pronominal.eval.training.measures.testing import Progress, digests_of, run_tests, score_tests
from pronominal.eval.training.preparation import PreparedTraining
from pronominal.eval.training.seed_folder import SeedFolder, refuse_other_trainings
from pronominal.eval.training.summary import summarise


def train_seeds(
    data: TrainingData, asked: TrainingSettings, seeds: Sequence[int], out: Path, progress: Progress
) -> dict[str, Any]:
    """Train one system for each seed, going on with trainings that were stopped.

    Writes ``OUT/left-out.jsonl``, ``OUT/seed-N`` (a checkpoint that `pronominal.adapters.load`
    opens, with curves, card and test runs) and ``OUT/summary.json``.

    Returns:
        The summary: counts, and mean, standard deviation and values over the seeds of everything
        that was measured; empty in any process but the first.

    Raises:
        InputError: a file or a setting is wrong, nothing is left to learn from, or a folder holds
            another training.
    """
    if asked.switching and not data.rows:
        raise InputError("--switching has no effect without rows to switch", cure="leave it out")
    devices = open_devices(asked.precision)
    prepared = (
        prepare_clusterer(data, asked, out)
        if isinstance(asked, ClusteringTraining)
        else prepare_chooser(data, asked)
    )
    earlier = asked.earlier()
    refuse_other_trainings(out, prepared.identity, earlier)
    if devices.rank == 0:
        out.mkdir(parents=True, exist_ok=True)
        write_left_out(out, prepared.left_out)
    devices.wait()
    for seed in seeds:
        folder = SeedFolder(out / f"seed-{seed}", {**prepared.identity, "seed": seed}, earlier)
        _Seed(prepared, seed, folder, devices, progress).go_on()
        devices.wait()
    if devices.rank != 0:
        return {}
    return summarise(out, prepared.identity, digests_of(data.tests))


@dataclass(frozen=True, slots=True)
class _Seed:
    prepared: PreparedTraining
    seed: int
    folder: SeedFolder
    devices: OneProcess
    progress: Progress

    def go_on(self) -> None:
        """Do what is still to be done: the training, or tests on other rows than before."""
        tests = self.prepared.data.tests
        was_complete = self.folder.was_complete()
        self.devices.wait()  # until every process has looked
        if self.devices.rank == 0:
            with self.folder.opened():
                if not self.folder.complete:
                    self._train()
                elif tests and self.folder.description.get("tests") != digests_of(tests):
                    self._test()
                # also what one left that was killed before it came here
                remove_state(self.folder.path)
        elif not was_complete:
            self._train()

    def _train(self) -> None:
        started = time.monotonic()
        system, folder, updates = self.prepared.system, self.folder, self.prepared.updates
        with seeded(self.seed):
            model = system.new_model()
            training = system.training(model, seed=self.seed, updates=updates)
            training = replace(training, validate=self.prepared.validate)
            with self.progress(f"seed {self.seed}", updates) as bar:
                outcome = train(
                    training, system.asked, folder.path, devices=self.devices, progress=bar
                )
        if self.devices.rank != 0:
            return
        seconds = folder.description.get("seconds", 0.0) + time.monotonic() - started
        counts = self.prepared.counts()
        folder.describe(outcome=asdict(outcome), counts=counts, seconds=round(seconds, 1))
        points = read_curves(folder.path / CURVES)
        draw_curves(points, folder.path / "curves.svg", f"{system.title}, seed {self.seed}")
        folder.save(lambda new: system.save(model, new))
        self._test()
        folder.describe(complete=True)

    def _test(self) -> None:
        prepared, path = self.prepared, self.folder.path
        tests, system = prepared.data.tests, prepared.system
        run_tests(tests, path, self.progress, system.name, system.asked.load_settings())
        scores = score_tests(
            tests, prepared.data.test_name, path, system.name, prepared.figures, prepared.prior
        )
        self.folder.describe(scores=scores, tests=digests_of(tests))
        write_card(path, self.folder.description, system, prepared.figures)
