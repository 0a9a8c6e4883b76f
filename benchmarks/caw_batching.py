"""CAW in batches against one document at a time, padded to the window as upstream pads it.

Both have RoBERTa-large's width (1,024 hidden, 16 heads, 4,096 inner) and the released sizes of the
scorers, share their random weights, and run in this process by turns; seconds are CPU time of the
process on one thread, the median of three rounds. The one-by-one way has our scorers too, so the
ratio understates what is gained over upstream's. Ratios are measured at a few numbers of layers
and extrapolated to RoBERTa-large's 24 with a straight line through the seconds of each way.
Encoders in fewer bits answer as well, where the processor has them; of random weights, more
clusters change than of weights that have learnt.

``python benchmarks/caw_batching.py``; about three minutes and 3 GiB.
"""

import itertools
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import transformers
from arithmetic import FEWER_BITS
from torch import Tensor

from pronominal.adapters.caw import model
from pronominal.adapters.caw.model import Encoder
from pronominal.adapters.caw.system import CAW
from pronominal.spans import Cluster

CHECKPOINT = Path(__file__).parent.parent / "tests" / "goldens" / "caw" / "checkpoint"
LAYERS = (2, 4, 6)
FULL = 24
SENTENCES = 32
ROUNDS = 3
SETTINGS = model.Hyperparameters(
    bert_window_size=512, embedding_size=20, hidden_size=1024, n_hidden_layers=1, rough_k=50
)

# mostly words that are one subword of the tests' tokenizer, as they are of a real one
FIRST = ("farmer", "owner", "student", "visitor", "man", "witness")
SECOND = ("guest", "customer", "patient", "homeowner", "dog", "child")
EVENTS = (
    ("asked", "what {} had wanted to find out about the house the other day"),
    ("needed", "because {} would be away from home for one more day"),
    ("told", "that the three questions were put to {} before the war"),
    ("met", "when all the other questions about {} work had been asked"),
    ("was told about", "after {} car had been taken off the dead dog"),
)
PRONOUNS = ("he", "him", "his", "she", "her", "they", "them", "their", "xe", "xem", "xyr")

Answer = Callable[[Sequence[str]], list[list[Cluster]]]


class WindowPadded(Encoder):
    """Encodes one window at a time, padded to its full width."""

    def _encode(self, windows: Sequence[Sequence[int]]) -> Tensor:
        opening, closing = self.frame
        padding = [self.padding] * (SETTINGS.capacity - len(windows[0]))
        ids = torch.tensor([[opening, *windows[0], closing, *padding]])
        mask = (ids != self.padding).long()
        hidden: Tensor = self.transformer(ids, attention_mask=mask).last_hidden_state
        return hidden


def sentences() -> list[str]:
    """Return sentences of about 17 words, full stop included; grammar is no concern of a timing."""
    every = [
        f"The {first} {verb} the {second} {rest.format(pronoun)}."
        for first, (verb, rest), second, pronoun in itertools.product(
            FIRST, EVENTS, SECOND, PRONOUNS
        )
    ]
    return random.Random(0).sample(every, SENTENCES)


def subwords(texts: Sequence[str]) -> float:
    """Return how many subwords a sentence has on average; in WinoPron it is 17.7."""
    system = CAW(str(CHECKPOINT), device="cpu")
    read = [system._tokenizer.read(system._words.read(text)[0], "it") for text in texts]
    return statistics.mean(len(document.subwords) for document in read)


def write_checkpoint(folder: Path, layers: int) -> None:
    """Write random weights of these sizes in upstream's form."""
    torch.manual_seed(0)
    encoder = folder / "roberta-large"
    shutil.copytree(CHECKPOINT / "roberta-large", encoder)
    (encoder / "model.safetensors").unlink()
    config = transformers.AutoConfig.from_pretrained(encoder)
    config.update({"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096})
    config.num_hidden_layers = layers
    config.save_pretrained(encoder)
    transformer = transformers.AutoModel.from_config(config)
    framed = Encoder(transformer, frame=(0, 2), padding=1, batch_size=1)
    network = model.WordLevelModel(framed, config.hidden_size, SETTINGS)
    entries = {"bert": transformer.state_dict()} | {
        entry: network.get_submodule(module).state_dict() for entry, module in model.ENTRIES.items()
    }
    torch.save(entries, folder / "large.pt")
    lines = [f"{name} = {getattr(SETTINGS, name)}" for name in SETTINGS.__slots__]
    (folder / "config.toml").write_text(
        "\n".join(["[DEFAULT]", 'bert_model = "roberta-large"', *lines, "[large]"])
    )


def one_by_one(checkpoint: Path) -> Answer:
    """Return what answers one sentence at a time, padded to the window."""
    system = CAW(str(checkpoint), device="cpu", batch_size=1)
    ours = system._model.encoder
    system._model.encoder = WindowPadded(
        ours.transformer, frame=ours.frame, padding=ours.padding, batch_size=1
    )
    return lambda texts: [system.cluster([text])[0] for text in texts]


class Measured(NamedTuple):
    """Seconds for all texts, the process's peak above the loaded weights, changed sentences.

    Attributes:
        seconds: of each way.
        peaks: of each way, in MiB.
        changed: how many sentences each dtype gives other clusters.
    """

    seconds: dict[str, float]
    peaks: dict[str, float]
    changed: dict[str, int]


def measure(checkpoint: Path, texts: Sequence[str]) -> Measured:
    """Answer all texts in each way, by turns."""
    ways = {
        "padded": one_by_one(checkpoint),
        "pronominal": CAW(str(checkpoint), device="cpu").cluster,
        **{d: CAW(str(checkpoint), device="cpu", dtype=d).cluster for d in FEWER_BITS},
    }
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    peaks: dict[str, float] = {}
    for _ in range(ROUNDS):
        found = {}
        for name, answer in ways.items():
            before = reset_peak()
            start = time.process_time()
            found[name] = answer(texts)
            rounds[name].append(time.process_time() - start)
            peaks[name] = round(max(peaks.get(name, 0), memory("VmHWM") - before), 1)
        assert found["padded"] == found["pronominal"], "the clusters differ"
        assert all(found["padded"]), "there is nothing to compare"
    seconds = {name: statistics.median(spent) for name, spent in rounds.items()}
    changed = {
        dtype: sum(a != b for a, b in zip(found[dtype], found["pronominal"], strict=True))
        for dtype in FEWER_BITS
    }
    return Measured(seconds, peaks, changed)


def reset_peak() -> float:
    """Forget the process's highest memory (Linux) and return what it has now, in MiB."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(field: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


def extrapolated(seconds: dict[int, dict[str, float]], way: str) -> float:
    """Return the seconds at all 24 layers on the straight line through the measured ones."""
    slope, intercept = np.polyfit(list(seconds), [spent[way] for spent in seconds.values()], 1)
    return float(intercept + slope * FULL)


def main() -> None:
    torch.set_num_threads(1)
    texts = sentences()
    measured: dict[int, Measured] = {}
    for layers in LAYERS:
        with tempfile.TemporaryDirectory() as folder:
            write_checkpoint(Path(folder), layers)
            measured[layers] = measure(Path(folder), texts)
        print(f"{layers} layers: {measured[layers]}", file=sys.stderr)
    seconds = {layers: one.seconds for layers, one in measured.items()}
    full = {way: extrapolated(seconds, way) for way in seconds[LAYERS[0]]}
    report = {
        "benchmark": "caw_batching",
        "sentences": len(texts),
        "subwords_in_a_sentence": subwords(texts),
        "seconds": {n: {w: round(s, 3) for w, s in spent.items()} for n, spent in seconds.items()},
        "ratio": {n: round(s["padded"] / s["pronominal"], 1) for n, s in seconds.items()},
        "ratio_24_layers_extrapolated": {
            "padded": round(full["padded"] / full["pronominal"], 1),
            **{dtype: round(full["pronominal"] / full[dtype], 2) for dtype in FEWER_BITS},
        },
        "peak_mib_above_weights": {n: one.peaks for n, one in measured.items()},
        "identical_clusters": True,
        "sentences_with_other_clusters": {n: one.changed for n, one in measured.items()},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
