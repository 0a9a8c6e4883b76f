"""Training in mixed precision on a GPU against full precision, with random weights.

The antecedent classifier at a real encoder's shape takes the same updates on the same instances of
random subwords, lengths distributed like KnowRef's, in each precision that `--precisions` names, as
``pronominal train`` would: through accelerate, with clipping. For each it prints the seconds of an
update (the median, by the clock), instances a second, the most memory, and the losses of the first
and last update; the last ones say how far the precisions part.

    python benchmarks/gpu_training.py --shape large
    python benchmarks/gpu_training.py --shape tiny --updates 3 --precisions no  # anywhere

Prints one JSON object.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import transformers
from accelerate.state import AcceleratorState
from torch import nn

from pronominal.adapters.bert.encoding import EncodedInstance
from pronominal.adapters.bert.model import AntecedentClassifier, InstanceBatch
from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.training.devices import Accelerated
from pronominal.adapters.words.length_batches import length_buckets
from pronominal.spans import Span

SHAPES: dict[str, dict[str, int]] = {
    "base": {},
    "large": {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
    "tiny": {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    },
}
VOCABULARY = 30_522


def instances(number: int) -> list[EncodedInstance]:
    draw = np.random.default_rng(0)
    lengths = draw.normal(30.7, 8.7, number).clip(12, 64).astype(int)
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


def classifier(shape: str) -> AntecedentClassifier:
    torch.manual_seed(0)
    config = transformers.BertConfig(**SHAPES[shape])
    return AntecedentClassifier(
        transformers.BertModel(config, add_pooling_layer=False), Classifier()
    ).train()


def synchronised() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def measured(
    precision: Any, shape: str, batches: Sequence[Sequence[EncodedInstance]]
) -> dict[str, Any]:
    """Train on the batches in one precision; the first update is not timed."""
    AcceleratorState._reset_state(reset_partial_state=True)  # it takes one precision a process
    devices = Accelerated(precision)
    model = classifier(shape).to(devices.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-5)
    wrapped = devices.prepare(model, [optimiser])
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    spent, losses = [], []
    for chosen in batches:
        batch = InstanceBatch.of(chosen, padding=0, device=devices.device)
        start = synchronised()
        loss = nn.functional.cross_entropy(wrapped(batch), batch.labels)
        devices.backward(loss)
        devices.clip(model, 1.0)
        devices.step(optimiser)
        optimiser.zero_grad(set_to_none=True)
        spent.append(synchronised() - start)
        losses.append(float(loss.detach()))
    update = statistics.median(spent[1:])
    return {
        "seconds_of_an_update": round(update, 5),
        "instances_per_second": round(len(batches[0]) / update, 1),
        "most_memory": torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None,
        "first_loss": losses[0],
        "last_loss": losses[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--shape", choices=SHAPES, default="base")
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--precisions", default="no,bf16,fp16", help="as accelerate names them")
    arguments = parser.parse_args()
    drawn = instances(arguments.updates * arguments.batch_size)
    lengths = [one.length for one in drawn]
    buckets = length_buckets(lengths, arguments.batch_size, seed=1, epoch=0)
    batches = [[drawn[place] for place in bucket] for bucket in buckets]
    found = {}
    for precision in arguments.precisions.split(","):
        found[precision] = measured(precision, arguments.shape, batches)
        print(f"{precision}: {found[precision]}", file=sys.stderr)
    cuda = torch.cuda.is_available()
    result = {
        "benchmark": "gpu_training",
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "shape": arguments.shape,
        "batch_size": arguments.batch_size,
        "updates": len(batches),
        "precisions": found,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
