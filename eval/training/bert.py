"""``pronominal train bert``: a classifier of antecedents for each seed, tested and summed up."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from pronominal.adapters.bert.folder import open_encoder, save_classifier
from pronominal.adapters.bert.model import AntecedentClassifier
from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.bert.system import probabilities
from pronominal.adapters.bert.training import antecedent_training
from pronominal.adapters.training import LoopSettings, Validation, train
from pronominal.adapters.training.curves import draw_curves, read_curves
from pronominal.adapters.training.devices import OneProcess, open_devices
from pronominal.adapters.training.loop import CURVES, remove_state
from pronominal.adapters.training.random_states import seeded
from pronominal.atomic import new_file, new_folder
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError
from pronominal.eval.run_store import write_json
from pronominal.eval.training.bert_settings import BertTraining
from pronominal.eval.training.card import write_model_card
from pronominal.eval.training.data import TrainingData, resolution_table
from pronominal.eval.training.figures import answer_figures, over_seeds
from pronominal.eval.training.preparation import PreparedTraining, prepare
from pronominal.eval.training.seed_folder import SeedFolder, read_training
from pronominal.eval.training.testing import Progress, run_tests, score_tests
from pronominal.eval.training.units import LeftOut

LEFT_OUT = "left-out.jsonl"
SUMMARY = "summary.json"


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
    if devices.rank == 0:
        out.mkdir(parents=True, exist_ok=True)
        _write_left_out(out / LEFT_OUT, prepared.left_out)
    devices.wait()
    for seed in seeds:
        folder = SeedFolder(
            out / f"seed-{seed}", prepared.identity(seed), BertTraining("").settings()
        )
        if devices.rank == 0:
            with folder.opened():
                if not folder.complete:
                    _train_seed(prepared, seed, folder, devices, progress)
        else:
            _train_seed(prepared, seed, folder, devices, progress)
        devices.wait()
    return _summarise(prepared, seeds, out) if devices.rank == 0 else {}


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
    _save(model, tokenizer, asked.classifier, folder.path)
    run_tests(prepared.data.tests, folder.path, progress)
    folder.describe(scores=_scores(prepared, folder.path))
    write_model_card(folder.path, folder.description, prepared.encoder_name)
    folder.describe(complete=True)
    remove_state(folder.path)


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


def _scores(prepared: PreparedTraining, folder: Path) -> dict[str, Any]:
    prior = prepared.asked.classifier.first_prior
    return score_tests(prepared.data.tests, prepared.data.name, folder, prior)


def _save(
    model: AntecedentClassifier, tokenizer: Any, classifier: Classifier, folder: Path
) -> None:
    """Move a saved classifier into the seed's folder, its weights last: without them it is none."""
    try:
        with new_folder(folder / "checkpoint") as beside:
            save_classifier(model, tokenizer, classifier, beside)
        whole = folder / "checkpoint"
        for file in sorted(whole.iterdir(), key=lambda file: file.suffix == ".safetensors"):
            file.replace(folder / file.name)
        whole.rmdir()
    except OSError as error:
        raise InputError(
            f"the classifier cannot be saved ({error.strerror}), its training's state is whole",
            cure="make room and give the same command: it goes on from there",
            file=folder,
        ) from error


def _write_left_out(path: Path, left_out: Sequence[LeftOut]) -> None:
    with new_file(path) as beside:
        lines = [json.dumps(one.to_json()) + "\n" for one in left_out]
        beside.write_text("".join(lines), encoding="utf-8")


def _summarise(prepared: PreparedTraining, seeds: Sequence[int], out: Path) -> dict[str, Any]:
    """Sum up the seeds of this command and others of the same training that are done."""
    identity = prepared.identity(0)
    done = {}
    for path in sorted(out.glob("seed-*")):
        found = read_training(path)
        if found["complete"] and all(
            found[name] == identity[name] for name in identity if name != "seed"
        ):
            done[found["seed"]] = found
    kept = [done[seed] for seed in sorted(done)]
    summary = {
        **{name: value for name, value in identity.items() if name != "seed"},
        "seeds": sorted(done),
        "counts": kept[0]["counts"],
        "validation": over_seeds([one["outcome"]["validation"] for one in kept]),
        "scores": over_seeds([_scores(prepared, out / f"seed-{one['seed']}") for one in kept]),
    }
    write_json(out / SUMMARY, summary)
    return summary
