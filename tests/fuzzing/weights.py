"""The commands that load or train models, and what they read besides: tiny weights."""

import json
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from unittest import mock

from tests.cli.test_main import pronominal
from tests.conftest import ROOT
from tests.fuzzing.commands import Case

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
    return f"{rows} {BEGINNINGS[system][0]} --updates 2 --batch-size 8 --out {{}}/{out}"


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
            f"{begins} --updates 2 --batch-size 8 --out {{}}/distilled",
            ("texts.jsonl", "goldens/fcoref/checkpoint/*"),
            ("distilled",),
        )
        for system, (begins, _) in BEGINNINGS.items()
        if system != "bert"
    ),
    Case(
        "train compare",
        "{}/trained/a {}/trained/b --test {}/own-rows.jsonl --json",
        ("trained/a/*.json", f"{TRAINED}/*.json", f"{TRAINED}/runs/*/*.json*", "own-rows.jsonl"),
    ),
]


def write_weights(folder: Path, systems: Collection[str] = BEGINNINGS) -> None:
    """Write weights, trainings of some systems that were begun, and finished ones of BERT."""
    from tests.eval.training import test_bert

    shutil.copytree(ROOT / "tests" / "goldens", folder / "goldens")
    test_bert.write_encoder("bert", folder / "encoder")
    test_bert.write_rows(folder / "own-rows.jsonl", [test_bert.row(number) for number in range(30)])
    text = "Ann told Eve that she had found her keys and kept them ."
    line = json.dumps({"text": text}) + "\n"
    (folder / "texts.jsonl").write_text(line * 30, encoding="utf-8")
    for name in ("a", "b") if "bert" in systems else ():
        call = Case("train bert", f"{training('bert', f'trained/{name}')} --seeds 2", ())
        done = pronominal(*call.words(folder))
        assert done.returncode == 0, done.stderr
    for system in systems:
        stopped = mock.patch(
            "pronominal.eval.training.seed_folder.SeedFolder.save", side_effect=KeyError
        )
        begun = f"begun-{system}"
        with stopped, suppress(KeyError):
            pronominal(*Case(f"train {system}", training(system, begun), ()).words(folder))
        assert (folder / begun / "seed-1" / "state.pt").exists()
