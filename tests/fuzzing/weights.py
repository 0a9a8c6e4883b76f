"""The commands that load or train models, and what they read besides: tiny weights."""

import json
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from unittest import mock

from tests.cli.test_main import pronominal
from tests.conftest import ROOT
from tests.fuzzing.commands import DATASET, Case

TRAINED = "trained/a/seed-1"

BEGINNINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "bert": ("--encoder {}/encoder", ("encoder/*",)),
    "caw": ("--encoder {}/goldens/caw/checkpoint/roberta-large", ("goldens/caw/checkpoint/*/*",)),
    "e2e": ("--checkpoint {}/goldens/e2e/checkpoint", ("goldens/e2e/checkpoint/*",)),
    "fcoref": ("--checkpoint {}/goldens/fcoref/checkpoint", ("goldens/fcoref/checkpoint/*",)),
    "lingmess": ("--checkpoint {}/goldens/lingmess/checkpoint", ("goldens/lingmess/checkpoint/*",)),
    "spanbert": ("--encoder {}/encoder --size small", ("encoder/*",)),
}
"""System -> what its training begins with, and the files of that."""


def training(system: str, out: str) -> str:
    """Return what follows the command that trains a system, with its tests."""
    rows = "--data {}/own-rows.jsonl --test {}/own-rows.jsonl"
    return f"{rows} {BEGINNINGS[system][0]} --updates 2 --batch-size 4 --out {{}}/{out}"


DISTILLED = {"e2e": "--elmo-weights {}/elmo"}
"""System -> what else it needs to learn from another one's answers."""

CHECKPOINTS = {
    "bert": TRAINED,
    "caw": "goldens/caw/checkpoint",
    "e2e": "goldens/e2e/checkpoint",
    "fcoref": "goldens/fcoref/checkpoint",
    "lingmess": "goldens/lingmess/checkpoint",
    "lm": "opt",
}
"""System -> weights that it is called with."""

WITH_WEIGHTS = [
    Case(
        "convert",
        "caw {}/goldens/caw/checkpoint {}/converted",
        tuple(f"goldens/caw/checkpoint/{name}" for name in ("config.toml", "*.pt", "*/*.json")),
    ),
    Case(
        "convert",
        "e2e {}/goldens/e2e/checkpoint {}/converted",
        ("goldens/e2e/checkpoint/*", "goldens/e2e/checkpoint/tf_checkpoint/*"),
    ),
    *(
        Case(f"train {system}", training(system, "new"), ("own-rows.jsonl", *files), ("new",))
        for system, (_, files) in BEGINNINGS.items()
    ),
    *(
        Case(
            f"train {system}",
            training(system, f"begun-{system}"),
            (f"begun-{system}/seed-1/*",),
            (f"begun-{system}",),
        )
        for system in BEGINNINGS
    ),
    *(
        Case(
            f"distil {system}",
            f"--teacher fcoref={{}}/goldens/fcoref/checkpoint --text {{}}/texts.jsonl "
            f"{begins} {DISTILLED.get(system, '')} --updates 2 --batch-size 4 --out {{}}/distilled",
            ("texts.jsonl", "goldens/fcoref/checkpoint/*"),
            ("distilled",),
        )
        for system, (begins, _) in BEGINNINGS.items()
        if system != "bert"
    ),
    *(
        Case(
            "check-system",
            f"{system}={{}}/{checkpoint}",
            (f"{checkpoint}/*",),
        )
        for system, checkpoint in CHECKPOINTS.items()
    ),
    *(
        Case(
            "run",
            f"{DATASET} --system {system}={{}}/{checkpoint} --out {{}}/out",
            (f"{checkpoint}/*",),
            ("out",),
        )
        for system, checkpoint in CHECKPOINTS.items()
        if system != "lm"  # whose slots the rows do not have; a table is replicated with it
    ),
    Case(
        "replicate",
        "ruff:figure-4 --only opt-125m --weights opt-125m={}/opt --limit 4 --out {}/replication",
        ("opt/*", "replication/data/ruff/*.md", "replication/data/ruff/*/*.parquet"),
        ("replication",),
    ),
    Case(
        "replicate",
        "ruff:figure-4 --only opt-125m --weights opt-125m={}/opt --limit 4 --out {}/replicated",
        ("replicated/runs/*/*/*.json*",),
        ("replicated",),
    ),
    Case(
        "train compare",
        "{}/trained/a {}/trained/b --test {}/own-rows.jsonl --json",
        ("trained/a/*.json", f"{TRAINED}/*.json", f"{TRAINED}/runs/*/*.json*", "own-rows.jsonl"),
    ),
]


def write_weights(folder: Path, systems: Collection[str] = (*BEGINNINGS, "lm")) -> None:
    """Write weights, trainings of some systems that were begun, and finished ones of BERT."""
    from tests.adapters.c2f.elmo.test_network import options, random_weights, written
    from tests.eval.training import test_bert

    shutil.copytree(ROOT / "tests" / "goldens", folder / "goldens")
    test_bert.write_encoder("bert", folder / "encoder")
    test_bert.write_rows(folder / "own-rows.jsonl", [test_bert.row(number) for number in range(12)])
    text = "Ann told Eve that she had found her keys and kept them ."
    line = json.dumps({"text": text}) + "\n"
    (folder / "texts.jsonl").write_text(line * 12, encoding="utf-8")
    for name in ("a", "b") if "bert" in systems else ():
        call = Case("train bert", f"{training('bert', f'trained/{name}')} --seeds 2", ())
        done = pronominal(*call.words(folder))
        assert done.returncode == 0, done.stderr
    if "e2e" in systems:
        elmo = options(projection_dim=4)
        written(folder / "elmo", elmo, random_weights(elmo))
    if "lm" in systems:
        _write_language_model(folder)
    for system in BEGINNINGS.keys() & systems:
        stopped = mock.patch(
            "pronominal.eval.training.seed_folder.SeedFolder.save", side_effect=KeyError
        )
        begun = f"begun-{system}"
        with stopped, suppress(KeyError):
            pronominal(*Case(f"train {system}", training(system, begun), ()).words(folder))
        assert (folder / begun / "seed-1" / "state.pt").exists()


def _write_language_model(folder: Path) -> None:
    """Write a tiny model that a paper's table has, and begin to replicate its row."""
    from tests.adapters.lm.language_models import CAUSAL, filled, own_instances, save

    save(folder / "opt", CAUSAL["opt"], filled(own_instances()))
    built = ("build", "ruff", "--sources", folder / "sources", "--allow-changed", "--out")
    row = ("--only", "opt-125m", "--weights", f"opt-125m={folder / 'opt'}", "--limit", 4)
    calls = [(*built, folder / name / "data") for name in ("replication", "replicated")]
    calls.append(("replicate", "ruff:figure-4", *row, "--out", folder / "replicated"))
    for call in calls:
        done = pronominal(*call)
        assert done.returncode == 0, done.stderr
