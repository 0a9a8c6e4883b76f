"""neuralcoref's pair network with a mention's share computed once, against a row for each pair.

The other way puts both mentions' vectors and the features of every pair side by side and sends all
rows through all layers, as upstream does. Both have the published widths and the same random
weights and run in this process by turns; seconds are CPU time of the process, the median of five
rounds. Only the network is timed: no parse, and no features.

``python benchmarks/neuralcoref_pairs.py``; less than a minute and 1 GiB.
"""

import json
import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pronominal.adapters.neuralcoref.features import GENRE_WIDTH, PAIR_INPUT, PAIR_WIDTH
from pronominal.adapters.neuralcoref.network import UNRECTIFIED, Layer, score_pairs
from pronominal.adapters.neuralcoref.word_vectors import MENTION_WIDTH

WIDTHS = (PAIR_INPUT, 1000, 500, 500, 1, 1)
MENTIONS = (10, 50, 250)
MAX_DIST = 50
ROUNDS = 5

Floats = NDArray[np.float32]
Score = Callable[[], Floats]


def layers() -> list[Layer]:
    """Return random weights of the published widths."""
    random = np.random.default_rng(0)
    return [
        Layer(
            random.normal(scale=before**-0.5, size=(after, before)).astype(np.float32),
            random.normal(size=after).astype(np.float32),
        )
        for before, after in pairwise(WIDTHS)
    ]


def side_by_side(network: list[Layer], rows: Floats) -> Floats:
    hidden = rows
    for number, layer in enumerate(network):
        hidden = hidden @ layer.weights.T + layer.bias
        if number < len(network) - UNRECTIFIED:
            hidden = np.maximum(hidden, 0)
    return hidden[:, 0]


def ways(network: list[Layer], mentions: int) -> dict[str, Score]:
    """Return both ways to score the pairs of a text with so many mentions."""
    random = np.random.default_rng(mentions)
    vectors = random.normal(size=(mentions, MENTION_WIDTH)).astype(np.float32)
    found = [(a, m) for m in range(mentions) for a in range(max(0, m - MAX_DIST), m)]
    earlier, later = np.array(found).T
    features = random.normal(size=(len(found), PAIR_WIDTH + GENRE_WIDTH)).astype(np.float32)
    return {
        "side_by_side": lambda: side_by_side(
            network, np.concatenate([vectors[earlier], vectors[later], features], axis=1)
        ),
        "pronominal": lambda: score_pairs(network, vectors, earlier, later, features),
    }


def measure(network: list[Layer], mentions: int) -> tuple[dict[str, float], float]:
    """Return the seconds of each way, and by how much their scores differ at most."""
    rounds: dict[str, list[float]] = {}
    scores = {}
    for _ in range(ROUNDS):
        for name, score in ways(network, mentions).items():
            start = time.process_time()
            scores[name] = score()
            rounds.setdefault(name, []).append(time.process_time() - start)
    difference = float(np.abs(scores["side_by_side"] - scores["pronominal"]).max())
    return {name: statistics.median(spent) for name, spent in rounds.items()}, difference


def main() -> None:
    network = layers()
    measured = {mentions: measure(network, mentions) for mentions in MENTIONS}
    seconds = {mentions: spent for mentions, (spent, _) in measured.items()}
    report = {
        "benchmark": "neuralcoref_pairs",
        "seconds": {n: {w: round(s, 4) for w, s in one.items()} for n, one in seconds.items()},
        "ratio": {n: round(s["side_by_side"] / s["pronominal"], 2) for n, s in seconds.items()},
        "largest_difference": max(difference for _, difference in measured.values()),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
