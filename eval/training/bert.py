"""``pronominal train bert``: a classifier of antecedents for each seed, tested and summed up."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from pronominal.adapters.bert.checkpoint import save_classifier
from pronominal.adapters.bert.model import AntecedentClassifier
from pronominal.adapters.bert.system import probabilities
from pronominal.adapters.bert.training import antecedent_training
from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.adapters.training import LoopSettings, Validation, train
from pronominal.adapters.training.curves import draw_curves, read_curves
from pronominal.adapters.training.devices import OneProcess, open_devices
from pronominal.adapters.training.loop import CURVES, remove_state
from pronominal.adapters.training.random_states import seeded
from pronominal.decisions import from_probabilities
from pronominal.eval.training.bert_settings import BertTraining
from pronominal.eval.training.card import write_model_card
from pronominal.eval.training.data import TrainingData, resolution_table
from pronominal.eval.training.figures import answer_figures
from pronominal.eval.training.left_out import write_left_out
from pronominal.eval.training.preparation import PreparedTraining, prepare
from pronominal.eval.training.seed_folder import SeedFolder, refuse_other_trainings
from pronominal.eval.training.summary import summarise
from pronominal.eval.training.testing import Progress, digests_of, run_tests, score_tests


def train_bert(
    data: TrainingData, asked: BertTraining, seeds: Sequence[int], out: Path, progress: Progress
) -> dict[str, Any]:
    """Train one classifier for each seed, going on with trainings that were stopped.

    Writes ``OUT/left-out.jsonl``, ``OUT/seed-N`` (a classifier that
    ``pronominal.adapters.load("bert", checkpoint=...)`` opens, with curves, card and test runs)
    and ``OUT/summary.json``.

    Returns:
        The summary: counts, and mean, standard deviation and values over the seeds of everything
        that was measured.

    Raises:
        InputError: the encoder or a setting is wrong, nothing is left to learn from, or a folder
            holds another training.
    """
    prepared = prepare(data, asked)
    devices = open_devices(asked.precision)
    defaults = BertTraining("").settings()
    refuse_other_trainings(out, prepared.identity, defaults)
    if devices.rank == 0:
        out.mkdir(parents=True, exist_ok=True)
        write_left_out(out, prepared.left_out)
    devices.wait()
    for seed in seeds:
        folder = SeedFolder(out / f"seed-{seed}", {**prepared.identity, "seed": seed}, defaults)
        was_complete = folder.was_complete()
        devices.wait()  # until every process has looked
        if devices.rank == 0:
            with folder.opened():
                if not folder.complete:
                    _train_seed(prepared, seed, folder, devices, progress)
                elif data.tests and folder.description.get("tests") != digests_of(data.tests):
                    _test(prepared, folder, progress)
        elif not was_complete:
            _train_seed(prepared, seed, folder, devices, progress)
        devices.wait()
    if devices.rank != 0:
        return {}
    return summarise(out, prepared.identity, digests_of(data.tests))


def _train_seed(
    prepared: PreparedTraining,
    seed: int,
    folder: SeedFolder,
    devices: OneProcess,
    progress: Progress,
) -> None:
    started = time.monotonic()
    asked = prepared.asked
    with seeded(seed):
        encoder, tokenizer, _ = open_encoder(asked.encoder)
        model = AntecedentClassifier(encoder, asked.classifier)
        training = antecedent_training(
            model,
            prepared.units,
            asked.recipe,
            seed=seed,
            updates=prepared.updates,
            validate=_validator(prepared),
        )
        with progress(f"seed {seed}", prepared.updates) as bar:
            outcome = train(
                training, _loop_settings(prepared), folder.path, devices=devices, progress=bar
            )
    if devices.rank != 0:
        return
    seconds = folder.description.get("seconds", 0.0) + time.monotonic() - started
    folder.describe(outcome=asdict(outcome), counts=prepared.counts(), seconds=round(seconds, 1))
    draw_curves(
        read_curves(folder.path / CURVES),
        folder.path / "curves.svg",
        f"{asked.settings()['classifier']['scorer']}, seed {seed}",
    )
    folder.save(
        "classifier", lambda beside: save_classifier(model, tokenizer, asked.classifier, beside)
    )
    _test(prepared, folder, progress)
    folder.describe(complete=True)
    remove_state(folder.path)


def _test(prepared: PreparedTraining, folder: SeedFolder, progress: Progress) -> None:
    data, classifier = prepared.data, prepared.asked.classifier
    # answers that leave the prior out already are not corrected again
    prior = 0.5 if classifier.prior_correction else classifier.first_prior
    run_tests(data.tests, folder.path, progress)
    scores = score_tests(data.tests, data.test_name, folder.path, prior)
    folder.describe(scores=scores, tests=digests_of(data.tests))
    write_model_card(folder.path, folder.description, prepared.encoder_name)


def _loop_settings(prepared: PreparedTraining) -> LoopSettings:
    asked = prepared.asked
    return LoopSettings(
        updates=prepared.updates,
        save_every=asked.save_every,
        validate_every=asked.validate_every,
        patience=asked.patience,
        keep=asked.keep,
    )


def _validator(prepared: PreparedTraining) -> Callable[[nn.Module], Validation]:
    """Return what measures a model on the validation rows; its score is balanced accuracy.

    How often the first mention is right differs between splits (KnowRef: 55 % in train, 47 % in
    test), and plain accuracy would reward answering it always.
    """
    rows = resolution_table([instance for instance, _ in prepared.validation])
    encoded = [one for _, one in prepared.validation]
    classifier = prepared.asked.classifier

    def validate(model: nn.Module) -> Validation:
        assert isinstance(model, AntecedentClassifier)
        found = probabilities(
            model,
            encoded,
            batch_size=64,
            prior=classifier.first_prior if classifier.prior_correction else None,
        )
        measured = answer_figures(rows, [from_probabilities(answer) for answer in found])
        score = measured["balanced_accuracy"]
        return Validation(measured["accuracy"] or 0.0 if score is None else score, measured)

    return validate
