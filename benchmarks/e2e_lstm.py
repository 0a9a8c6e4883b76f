"""E2E's LSTM over a batch of sentences against a loop over words, one sentence at a time.

Both run three layers of the published sizes with the same random weights, in this process by
turns; seconds are CPU time of the process on one thread, the median of three rounds. The loop is
written as one would write the cell of kentonl/e2e-coref: one matrix product of input and state for
each word, direction and sentence. What the two say is compared.

``python benchmarks/e2e_lstm.py [--sentences 400]``; about a minute.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pronominal.adapters.c2f.e2e.coupled_lstm import CoupledLSTM, HighwayLSTM

INPUTS, SIZE, LAYERS = 1474, 200, 3
"""Embedding, spelling and ELMo; states of one direction; as in the configuration ``best``."""

ROUNDS = 3

Way = Callable[[Tensor, Sequence[int]], Tensor]


def sentence_lengths(sentences: int) -> list[int]:
    """Return lengths like those of WinoPron's and KnowRef's sentences, 10 to 31 words."""
    draw = random.Random(0)
    return [draw.randint(10, 31) for _ in range(sentences)]


def random_lstm() -> HighwayLSTM:
    torch.manual_seed(0)
    lstm = HighwayLSTM(INPUTS, SIZE, LAYERS, dropout=0.4).eval()
    for parameter in lstm.parameters():
        torch.nn.init.normal_(parameter, std=0.05)
    return lstm


def by_steps(lstm: HighwayLSTM) -> Way:
    """Return what reads one sentence after the other, word for word."""

    def states(words: Tensor, lengths: Sequence[int]) -> Tensor:
        return torch.cat([sentence(inputs) for inputs in torch.split(words, list(lengths))])

    def sentence(inputs: Tensor) -> Tensor:
        for number, layer in enumerate(lstm.layers):
            both = [direction(layer, inputs, 0), direction(layer, inputs.flip(0), 1).flip(0)]
            found = torch.cat(both, dim=1)
            if number > 0:
                gate = lstm.highways[number - 1](found).sigmoid()
                found = gate * found + (1 - gate) * inputs
            inputs = found
        return inputs

    def direction(layer: CoupledLSTM, inputs: Tensor, which: int) -> Tensor:
        cell, hidden = layer.initial_cell[which], layer.initial_hidden[which]
        found = []
        for word in inputs:
            gates = torch.cat([word, hidden]) @ layer.weights[which] + layer.bias[which]
            i, j, o = gates.chunk(3)
            cell = (1 - i.sigmoid()) * cell + i.sigmoid() * j.tanh()
            hidden = cell.tanh() * o.sigmoid()
            found.append(hidden)
        return torch.stack(found)

    return states


def measure(ways: dict[str, Way], words: Tensor, lengths: Sequence[int]) -> dict[str, float]:
    """Return each way's seconds for all sentences."""
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        found = {}
        for name, states in ways.items():
            start = time.process_time()
            found[name] = states(words, lengths)
            rounds[name].append(time.process_time() - start)
        assert torch.allclose(found["by_steps"], found["batched"], atol=1e-5), "the states differ"
    return {name: statistics.median(spent) for name, spent in rounds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="E2E's LSTM: batched against word for word.")
    parser.add_argument("--sentences", type=int, default=400)
    sentences = parser.parse_args().sentences
    torch.set_num_threads(1)
    lstm = random_lstm()
    lengths = sentence_lengths(sentences)
    words = torch.randn(sum(lengths), INPUTS)
    with torch.inference_mode():
        seconds = measure({"by_steps": by_steps(lstm), "batched": lstm}, words, lengths)
    report = {
        "benchmark": "e2e_lstm",
        "sentences": sentences,
        "words": sum(lengths),
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
        "ratio": round(seconds["by_steps"] / seconds["batched"], 1),
        "same_states": True,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
