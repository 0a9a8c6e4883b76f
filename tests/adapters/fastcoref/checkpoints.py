"""The tiny checkpoints of fastcoref's two systems, damaged copies of them, and their goldens."""

import functools
import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from pronominal.adapters.fastcoref.fcoref import FCoref
from pronominal.adapters.fastcoref.lingmess import LingMess
from pronominal.adapters.fastcoref.package import FastcorefSystem
from pronominal.spans import Cluster, Span
from tests.conftest import ROOT, SHARED

SYSTEMS: dict[str, type[FastcorefSystem]] = {"fcoref": FCoref, "lingmess": LingMess}
FILES = ("clean.jsonl", "goldens-public.jsonl")
SENTENCES = ["The pilot thanked the nurse because she had helped.", "", "Where is my other shoe?"]

Tensors = dict[str, torch.Tensor]


def checkpoint(name: str) -> Path:
    return ROOT / "tests" / "goldens" / name / "checkpoint"


@functools.cache
def tiny(name: str, batch_size: int = 32) -> FastcorefSystem:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return SYSTEMS[name](str(checkpoint(name)), device="cpu", batch_size=batch_size)


@functools.cache
def goldens(name: str, file: str) -> dict[str, tuple[str, list[Cluster]]]:
    """Texts and expected clusters by golden id; tests take ids so that no report shows a text."""
    folder = checkpoint(name).parent if file == "clean.jsonl" else SHARED / "goldens" / name
    if not (folder / file).exists():
        return {}
    rows = [json.loads(line) for line in (folder / file).read_text(encoding="utf-8").splitlines()]
    return {row["id"]: (row["text"], contract(row["clusters"])) for row in rows}


def contract(raw: list[list[list[int] | None]]) -> list[Cluster]:
    clusters = []
    for mentions in raw:
        cluster: Cluster = []
        for mention in mentions:
            if mention is not None and Span(*mention) not in cluster:
                cluster.append(Span(*mention))
        if len(cluster) >= 2:
            clusters.append(cluster)
    return clusters


def changed(name: str, folder: Path, change: Callable[[Tensors], object]) -> str:
    """Copy a checkpoint with other weights."""
    copy = shutil.copytree(checkpoint(name), folder / "checkpoint")
    tensors = load_file(copy / "model.safetensors")
    change(tensors)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    return str(copy)


def reconfigured(name: str, folder: Path, **settings: object) -> str:
    """Copy a checkpoint with another head; a setting that is None is left out."""
    copy = shutil.copytree(checkpoint(name), folder / "checkpoint")
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    head = config["coref_head"] | settings
    config["coref_head"] = {key: value for key, value in head.items() if value is not None}
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(copy)
