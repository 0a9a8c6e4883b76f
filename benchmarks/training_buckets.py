"""Length buckets against padding every sequence to 128 subwords, in CPU time for one epoch.

Both ways train the same classifier (two copies of each text, the paper's scorer) at BERT-base's
width on the same instances of random subwords, whose lengths are distributed like those of
KnowRef's test sentences (mean 31, 95th percentile 45, at most 64). Batches from all over the epoch
are timed by turns, forward, backward and AdamW, on one thread; seconds are CPU time of the process.
Both ways have the same number of batches in an epoch. Ratios are measured at a few numbers of
layers and extrapolated to the 12 of BERT-base with a straight line through the seconds of each way.

``python benchmarks/training_buckets.py [--batches N] [--layers 1 2 4]``; about ten minutes.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np
import torch
import transformers
from torch import nn

from pronominal.adapters.bert.encoding import EncodedInstance
from pronominal.adapters.bert.model import AntecedentClassifier, InstanceBatch
from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.words.length_batches import length_buckets
from pronominal.spans import Span

FIXED = 128
FULL = 12
INSTANCES = 5_200
BATCH_SIZE = 16
VOCABULARY = 30_522


def instances() -> list[EncodedInstance]:
    """Return as many instances as KnowRef's training set has rows that can be learnt."""
    draw = np.random.default_rng(0)
    lengths = draw.normal(30.7, 8.7, INSTANCES).clip(12, 64).astype(int)
    return [
        EncodedInstance(
            sequences=tuple(
                tuple(draw.integers(1000, VOCABULARY, length + copy).tolist()) for copy in range(2)
            ),
            spans=(Span(5, 6), Span(5, 7)),
            first=0,
            label=int(draw.integers(2)),
        )
        for length in lengths
    ]


def evenly(batches: Sequence[list[int]], number: int) -> list[list[int]]:
    """Return batches from all over a sorted epoch, whose mean length is close to the epoch's."""
    return [batches[int((index + 0.5) * len(batches) / number)] for index in range(number)]


def padded(batch: InstanceBatch) -> InstanceBatch:
    """Pad a batch to the fixed length."""
    missing = (0, FIXED - batch.ids.shape[1])
    return InstanceBatch(
        ids=nn.functional.pad(batch.ids, missing),
        mask=nn.functional.pad(batch.mask, missing),
        spans=batch.spans,
        first=batch.first,
        labels=batch.labels,
    )


def classifier(layers: int) -> AntecedentClassifier:
    """Return a network of BERT-base's width with random weights."""
    torch.manual_seed(0)
    config = transformers.BertConfig(num_hidden_layers=layers)
    return AntecedentClassifier(
        transformers.BertModel(config, add_pooling_layer=False), Classifier()
    ).train()


def step(model: nn.Module, optimiser: torch.optim.Optimizer, batch: InstanceBatch) -> float:
    """Return the CPU seconds of one update."""
    start = time.process_time()
    nn.functional.cross_entropy(model(batch), batch.labels).backward()
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    return time.process_time() - start


def measure(layers: int, batches: Sequence[InstanceBatch]) -> dict[str, float]:
    """Return the mean CPU seconds of an update, for each way."""
    model = classifier(layers)
    optimiser = torch.optim.AdamW(model.parameters())
    step(model, optimiser, batches[0])  # the optimiser's state is made by its first step
    spent: dict[str, list[float]] = {"fixed": [], "buckets": []}
    for batch in batches:
        spent["fixed"].append(step(model, optimiser, padded(batch)))
        spent["buckets"].append(step(model, optimiser, batch))
    return {way: statistics.fmean(seconds) for way, seconds in spent.items()}


def full_size(seconds: dict[int, dict[str, float]]) -> float | None:
    """Return the ratio at all layers on straight lines through the seconds of each way."""
    if len(seconds) < 2:
        return None
    ways = {
        way: float(
            np.polyval(np.polyfit(list(seconds), [s[way] for s in seconds.values()], 1), FULL)
        )
        for way in ("fixed", "buckets")
    }
    return round(ways["fixed"] / ways["buckets"], 2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2, 4])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    encoded = instances()
    epoch = length_buckets([one.length for one in encoded], BATCH_SIZE, seed=1, epoch=0)
    fed = 2 * sum(len(batch) * max(encoded[i].length for i in batch) for batch in epoch)
    by_length = sorted(epoch, key=lambda batch: max(encoded[i].length for i in batch))
    sample = [
        InstanceBatch.of([encoded[i] for i in batch], padding=0)
        for batch in evenly(by_length, asked.batches)
    ]
    seconds = {}
    for layers in asked.layers:
        seconds[layers] = measure(layers, sample)
        print(f"{layers} layers: {seconds[layers]}", file=sys.stderr)
    report = {
        "benchmark": "training_buckets",
        "instances": len(encoded),
        "batch_size": BATCH_SIZE,
        "batches_in_an_epoch": len(epoch),
        "batches_timed": len(sample),
        "mean_subwords": round(statistics.fmean(one.length for one in encoded), 1),
        "positions_fed_ratio": round(2 * len(encoded) * FIXED / fed, 2),
        "seconds_of_a_step": {
            n: {way: round(s, 3) for way, s in spent.items()} for n, spent in seconds.items()
        },
        "ratio": {n: round(s["fixed"] / s["buckets"], 2) for n, s in seconds.items()},
        f"ratio_{FULL}_layers_extrapolated": full_size(seconds),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
