"""LingMess at Longformer-large's width against fastcoref's ``predict``, by sentence and at once.

All have 1,024 hidden, 16 heads, a window of 512, the head's sizes of the LingMess paper (2,048) and
the same random weights, and run in this process by turns; seconds are CPU time of the process on
one thread for one sentence, the median of three rounds. fastcoref is so slow that it reads the
first few sentences alone. Ratios are measured at a few numbers of layers and extrapolated to
Longformer-large's 24 with a straight line through the seconds of each way. Encoders in int16,
bfloat16 and int8 answer as well; of random weights, more clusters change than of weights that have
learnt.

``python benchmarks/lingmess_dense.py``; about six CPU minutes, 8 GiB and 1 GB of disk.
"""

import itertools
import json
import logging
import random
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import spacy
import torch
import transformers
from arithmetic import FEWER_BITS, share_of_peak

from pronominal.adapters.fastcoref.lingmess import LingMess
from pronominal.adapters.fastcoref.package import LingMessModel, contract_clusters
from pronominal.spans import Cluster

CHECKPOINT = Path(__file__).parent.parent / "tests" / "goldens" / "lingmess" / "checkpoint"
LAYERS = (1, 2, 4)
FULL = 24
SENTENCES = 480
SENTENCES_OF_UPSTREAM = 4
ROUNDS = 3
WIDTH = {"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
HEAD = {
    "dropout_prob": 0.3,
    "ffnn_size": 2048,
    "max_segment_len": 512,
    "max_span_length": 30,
    "top_lambda": 0.4,
}

# mostly words that are one subtoken of the tests' tokenizer, as they are of a real one
FIRST = ("farmer", "owner", "student", "visitor", "man", "witness")
SECOND = ("guest", "customer", "patient", "homeowner", "dog", "child")
EVENTS = (
    ("asked", "what {} had wanted to find in the house"),
    ("needed", "because {} would be away from home"),
    ("told", "that the questions were put to {} then"),
    ("met", "when the questions about {} work were asked"),
    ("was told about", "after {} car had been taken"),
)
PRONOUNS = ("he", "him", "his", "she", "her", "they", "them", "their", "xe", "xem", "xyr")

Answer = Callable[[Sequence[str]], list[list[Cluster]]]


class Way:
    """One way to answer, with the seconds it spends on a sentence, in its encoder and in all."""

    def __init__(self, package: Any, answer: Answer, texts: Sequence[str]) -> None:
        self.answer, self.texts = answer, texts
        self.package = package
        self.total: list[float] = []
        self.encoder: list[float] = []
        self.found: list[list[Cluster]] = []

    def run(self) -> None:
        """Answer once and note the seconds."""
        encode, spent = self.package.model.forward_transformer, 0.0

        def timed(batch: Any) -> Any:
            nonlocal spent
            start = time.process_time()
            states = encode(batch)
            spent += time.process_time() - start
            return states

        self.package.model.forward_transformer = timed
        start = time.process_time()
        self.found = self.answer(self.texts)
        self.total.append((time.process_time() - start) / len(self.texts))
        self.encoder.append(spent / len(self.texts))
        self.package.model.forward_transformer = encode

    def seconds(self) -> dict[str, float]:
        """Return the median of the rounds."""
        total, encoder = statistics.median(self.total), statistics.median(self.encoder)
        return {"sentence": total, "encoder": encoder, "head_and_rest": total - encoder}


def sentences() -> list[str]:
    """Return sentences of WinoPron's length; grammar is no concern of a timing."""
    every = [
        f"The {first} {verb} the {second} {rest.format(pronoun)}."
        for first, (verb, rest), second, pronoun in itertools.product(
            FIRST, EVENTS, SECOND, PRONOUNS
        )
    ]
    return random.Random(0).sample(every, SENTENCES)


def write_checkpoint(folder: Path) -> None:
    """Write random weights of these sizes, with as many layers as are ever used."""
    shutil.copytree(CHECKPOINT, folder, dirs_exist_ok=True)
    (folder / "model.safetensors").unlink()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    layers = max(LAYERS)
    sizes = WIDTH | {"num_hidden_layers": layers, "attention_window": [512] * layers}
    (folder / "config.json").write_text(json.dumps(config | sizes | {"coref_head": HEAD}))
    torch.manual_seed(0)
    model: Any = LingMessModel(transformers.AutoConfig.from_pretrained(folder))
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if name.startswith("antecedent_"):
                tensor.mul_(3)  # else no score is above that of no antecedent
    model.save_pretrained(folder)


def upstream(folder: Path) -> Any:
    """Return the package's own model, made to load under transformers 5 and to be quiet."""
    from fastcoref import LingMessCoref

    logging.getLogger("fastcoref").setLevel(logging.WARNING)
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore", FutureWarning)
    return LingMessCoref(
        str(folder), device="cpu", nlp=spacy.blank("en"), enable_progress_bar=False
    )


def measure(ours: dict[str, LingMess], theirs: Any, texts: list[str]) -> dict[str, Any]:
    """Return each way's seconds, and for how many sentences others answer the same."""

    def one_by_one(texts: Sequence[str]) -> list[list[Cluster]]:
        return [plain(theirs.predict(text)) for text in texts]

    few = texts[:SENTENCES_OF_UPSTREAM]
    ways = {
        "predict": Way(theirs, one_by_one, few),
        "predict_all": Way(theirs, lambda texts: [*map(plain, theirs.predict(texts))], few),
        **{name: Way(system._package, system.cluster, texts) for name, system in ours.items()},
    }
    for _ in range(ROUNDS):
        for way in ways.values():
            way.run()
        alone, found = ways["predict"].found, ways["pronominal"].found
        assert alone == found[: len(few)], "the clusters differ"
        assert all(alone), "there is nothing to compare"
    pairs = zip(alone, ways["predict_all"].found, strict=True)
    same = sum(one == other for one, other in pairs)
    plain_way = ways["pronominal"]
    seconds = plain_way.seconds()["sentence"] * len(texts)
    return {
        "share_of_peak": share_of_peak(lambda: plain_way.answer(texts), seconds),
        "seconds": {name: way.seconds() for name, way in ways.items()},
        "same_at_once": same,
        "changed": {
            dtype: sum(one != other for one, other in zip(found, ways[dtype].found, strict=True))
            for dtype in FEWER_BITS
        },
    }


def plain(result: Any) -> list[Cluster]:
    return contract_clusters(result.get_clusters(as_strings=False))


def ratios(seconds: dict[str, float]) -> dict[str, float]:
    """Return how many times less time ours takes than upstream's ways, and fewer bits than ours."""
    ours = seconds["pronominal"]
    of_upstream = {way: round(seconds[way] / ours, 1) for way in ("predict", "predict_all")}
    return of_upstream | {dtype: round(ours / seconds[dtype], 2) for dtype in FEWER_BITS}


def extrapolated(measured: dict[int, dict[str, float]], way: str) -> float:
    """Return the seconds at all 24 layers on the straight line through the measured ones."""
    slope, intercept = np.polyfit(list(measured), [spent[way] for spent in measured.values()], 1)
    return float(intercept + slope * FULL)


def main() -> None:
    torch.set_num_threads(1)
    LingMessModel.all_tied_weights_keys = {}
    LingMessModel._supports_sdpa = False
    texts = sentences()
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoint(Path(folder))
        theirs, ours = upstream(Path(folder)), {"pronominal": LingMess(folder, device="cpu")}
        ours |= {dtype: LingMess(folder, device="cpu", dtype=dtype) for dtype in FEWER_BITS}
    lengths = [example["length"] for example in ours["pronominal"]._encoded(texts)]
    packages = [theirs, *(system._package for system in ours.values())]
    every_layer = {id(p.model): p.model.base_model.encoder.layer for p in packages}
    results = {}
    for layers in LAYERS:
        for package in packages:
            package.model.base_model.encoder.layer = every_layer[id(package.model)][:layers]
        results[layers] = measure(ours, theirs, texts)
        print(f"{layers} layers: {results[layers]}", file=sys.stderr)
    totals = {
        layers: {way: spent["sentence"] for way, spent in result["seconds"].items()}
        for layers, result in results.items()
    }
    full = {way: extrapolated(totals, way) for way in totals[LAYERS[0]]}
    report = {
        "benchmark": "lingmess_dense",
        "sentences": {"predict": SENTENCES_OF_UPSTREAM, "pronominal": len(texts)},
        "subtokens_in_a_sentence": [min(lengths), max(lengths)],
        "ratio": {layers: ratios(total) for layers, total in totals.items()},
        "ratio_24_layers_extrapolated": ratios(full),
        "milliseconds_of_a_sentence": {
            layers: {
                way: {part: round(1000 * s, 1) for part, s in spent.items()}
                for way, spent in result["seconds"].items()
            }
            for layers, result in results.items()
        },
        "share_of_peak": {n: r["share_of_peak"] for n, r in results.items()},
        "identical_clusters": True,
        "identical_clusters_of_predict_all": {n: r["same_at_once"] for n, r in results.items()},
        "sentences_with_other_clusters": {n: r["changed"] for n, r in results.items()},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
