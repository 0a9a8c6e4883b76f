"""LingMess in batches of equal length against fastcoref's own ``predict``, sentence by sentence.

Both run the tiny checkpoint of the tests in this process, in turn; seconds are CPU time of the
process, the median of three rounds. With so small a model the ratio shows the fixed costs of a
``predict`` call, not the speed of the published model. ``python benchmarks/lingmess_batching.py``
"""

import itertools
import json
import logging
import random
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import datasets
import spacy
import torch
import transformers

from pronominal.adapters.fastcoref.lingmess import LingMess
from pronominal.adapters.fastcoref.package import LingMessModel, contract_clusters
from pronominal.spans import Cluster

CHECKPOINT = Path(__file__).parent.parent / "tests" / "goldens" / "lingmess" / "checkpoint"
SENTENCES = 480
ROUNDS = 3

FIRST = ("gardener", "pilot", "translator", "night guard", "violinist", "mayor")
SECOND = ("florist", "passenger", "customer", "cook", "visitor", "new neighbour")
EVENTS = (
    ("called", "because {} had left the keys in the car"),
    ("waited for", "although {} was already late for the train home"),
    ("told", "that the letter on the table was for {}"),
    ("met", "at the harbour and gave {} a ticket"),
    ("apologised to", "after the dog had broken {} window"),
)
PRONOUNS = ("he", "him", "his", "she", "her", "they", "them", "their", "xe", "xem", "xyr")


def sentences() -> list[str]:
    """Return sentences of 10 to 20 words; grammar is no concern of a timing."""
    choices = itertools.product(FIRST, EVENTS, SECOND, PRONOUNS)
    every = [
        f"The {first} {verb} the {second} {rest.format(pronoun)}."
        for first, (verb, rest), second, pronoun in choices
    ]
    return random.Random(0).sample(every, SENTENCES)


def upstream() -> Callable[[str], Any]:
    """Return the package's ``predict``, made to load under transformers 5 and to be quiet."""
    from fastcoref import LingMessCoref

    LingMessModel.all_tied_weights_keys = {}
    LingMessModel._supports_sdpa = False
    logging.getLogger("fastcoref").setLevel(logging.WARNING)
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore", FutureWarning)
    predict: Callable[[str], Any] = LingMessCoref(
        str(CHECKPOINT), device="cpu", nlp=spacy.blank("en"), enable_progress_bar=False
    ).predict
    return predict


def timed(
    answer: Callable[[Sequence[str]], list[list[Cluster]]], texts: Sequence[str]
) -> tuple[float, list[list[Cluster]]]:
    start = time.process_time()
    clusters = answer(texts)
    return time.process_time() - start, clusters


def main() -> None:
    torch.set_num_threads(1)
    texts, predict = sentences(), upstream()

    def one_by_one(texts: Sequence[str]) -> list[list[Cluster]]:
        return [contract_clusters(predict(text).get_clusters(as_strings=False)) for text in texts]

    ways = {"predict": one_by_one, "pronominal": LingMess(str(CHECKPOINT), device="cpu").cluster}
    for answer in ways.values():
        answer(texts[:5])
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        found = {}
        for name, answer in ways.items():
            spent, found[name] = timed(answer, texts)
            rounds[name].append(spent)
        assert found["predict"] == found["pronominal"], "the clusters differ"
    seconds = {name: round(statistics.median(spent), 3) for name, spent in rounds.items()}
    report = {
        "benchmark": "lingmess_batching",
        "sentences": len(texts),
        "ratio": round(seconds["predict"] / seconds["pronominal"], 1),
        "seconds": seconds,
        "identical_clusters": True,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
