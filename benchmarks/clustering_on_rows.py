"""Clustering systems that learn from rows: KnowRef and GAP, with and without antecedent switching.

Builds the datasets from upstream's files, trains each head a little and takes the one whose
validation rows are right in both versions more often (the rule, fixed before any test is looked
at), then trains it for each seed with and without switching at equal updates, and evaluates all of
them on KnowRef's and GAP's tests, WinoPron and WinoNB. Every step resumes: give the same command
again. The files stay in ``--out``, which is no place in a repository, for they hold the texts.
Prints one JSON object.

``python benchmarks/clustering_on_rows.py --sources UPSTREAM --encoder ENCODER --out FOLDER``
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pronominal.eval.training.data.rows import published_data
from pronominal.instances import ResolutionInstance

RATES = ("--encoder-learning-rate", "1e-4", "--task-learning-rate", "1e-3", "--batch-size", "16")
HEADS: dict[str, tuple[str, ...]] = {
    "caw": (*RATES, "--freeze-embeddings", "--ffnn-size", "256", "--rough-k", "20"),
    "spanbert": (*RATES, "--size", "small"),
}
TESTS = {
    "knowref": (("--config", "original"), ("--config", "switched")),
    "gap": (("--config", "original"), ("--config", "switched")),
    "winopron": (("--config", "double"),),
    "winonb": (("--config", "generic"),),
}
CORPORA = ("knowref", "gap")


def pronominal(*arguments: object) -> None:
    """Run a command; what it prints goes to stderr."""
    command = [sys.executable, "-m", "pronominal", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=sys.stderr)


def write_rows(file: Path, rows: Iterable[tuple[str, ResolutionInstance]]) -> None:
    """Write the rows of several corpora, whose ids get the corpus's name."""
    lines = (json.dumps(row.to_row() | {"id": f"{corpus}-{row.id}"}) + "\n" for corpus, row in rows)
    file.write_text("".join(lines), encoding="utf-8")


def prepare(sources: Path, out: Path) -> None:
    """Build the datasets, and write what is learnt and what is stopped by."""
    for name in TESTS:
        if not (out / "data" / name).exists():
            pronominal("build", name, "--sources", sources, "--out", out / "data")
    if not (out / "validation.jsonl").exists():
        read = {name: published_data(name, None, sources) for name in CORPORA}
        learnt = [(name, row) for name, data in read.items() for row in data.rows]
        stopping = [(name, row) for name, data in read.items() for row in data.validation_rows]
        write_rows(out / "train.jsonl", learnt)
        write_rows(out / "pilot.jsonl", stopping[::8])
        write_rows(out / "validation.jsonl", stopping)


def trained(
    head: str, asked: argparse.Namespace, folder: Path, *given: object, stopping: str
) -> Path:
    """Train a head on the rows; return the folder of its seeds."""
    data = ("--data", asked.out / "train.jsonl", "--validation", asked.out / stopping)
    encoder = ("--encoder", asked.encoder)
    pronominal("train", head, *data, *encoder, *HEADS[head], *given, "--out", folder)
    return folder


def right_in_both(folder: Path) -> float:
    """Return the share of validation rows that a training got right in both versions."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    share: float = summary["validation"]["switching"]["consistently_correct"]["mean"]
    return share


def best_head(asked: argparse.Namespace) -> tuple[str, dict[str, float]]:
    """Return the head that learns more in a short training with switching, and what each did."""
    length = ("--switching", "--updates", asked.pilot_updates, "--validate-every", 100)
    shares = {
        head: right_in_both(
            trained(head, asked, asked.out / "pilot" / head, *length, stopping="pilot.jsonl")
        )
        for head in HEADS
    }
    return max(shares, key=shares.__getitem__), shares


def train_and_test(head: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Train all seeds with and without switching, seed by seed, and evaluate each at once."""
    length = ("--updates", asked.updates, "--validate-every", max(1, asked.updates // 3))
    folders = {kind: asked.out / f"{head}-{kind}" for kind in ("as-it-is", "switching")}
    for seed in range(1, asked.seeds + 1):
        for kind, folder in folders.items():
            switching = ("--switching",) if kind == "switching" else ()
            one = ("--first-seed", seed)
            trained(head, asked, folder, *length, *switching, *one, stopping="validation.jsonl")
            system = f"{folder.name}.{seed}={head}={folder / f'seed-{seed}'}"
            for name, configs in TESTS.items():
                for config in configs:
                    where = ("--dataset", asked.out / "data" / name, *config)
                    pronominal("evaluate", *where, "--system", system, "--out", asked.out / "runs")
    return {
        kind: json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        for kind, folder in folders.items()
    }


def main() -> None:
    """Do every step that is not done yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pilot-updates", type=int, default=400)
    parser.add_argument("--updates", type=int, default=1950)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    prepare(asked.sources, asked.out)
    head, shares = best_head(asked)
    print(json.dumps({"pilot": shares, "head": head, **train_and_test(head, asked)}, indent=2))


if __name__ == "__main__":
    main()
