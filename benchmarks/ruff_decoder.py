"""Scoring RUFF with a causal model: prefix trees against one sentence at a time and plain batches.

All read the same filled sentences with the same random GPT-2 in this process by turns, ours as
loading leaves a model, with activations fused and weights packed; ratios are of CPU time on one
thread for a sentence's token, the median of the rounds. A tokenizer is trained on the sentences
first. The comparators are written here:

- ``upstream``: a sentence a forward, as the RUFF paper's script: with the graph for gradients, the
  logarithm of every probability, and one number fetched for every token;
- ``sorted``: sentences sorted by length in batches of 32, no graph, all logits.

``full`` scores whole sentences, ``options`` only what tells the options apart. Upstream and sorted
batches read fewer rows, spread over those of the trees.

``python benchmarks/ruff_decoder.py [--rows 64] [--plain-rows 6] [--rounds 3]`` prints one JSON
object; with the defaults some minutes, with whole samples an hour.
"""

import argparse
import copy
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from arithmetic import share_of_peak
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from pronominal.adapters.layers.activations import fuse_activations
from pronominal.adapters.layers.integers import multiply_integers, sums_are_exact
from pronominal.adapters.layers.packed import pack_weights
from pronominal.adapters.lm.scoring.decoder import CausalScorer
from pronominal.adapters.lm.scoring.tokens import Sequences, TextTokenizer
from pronominal.adapters.lm.scoring.trie import PrefixTree
from pronominal.dataset_scripts import ruff
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.ruff.assembly import Setting
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.instances import FillingInstance
from pronominal.pronouns import PRONOUN_SETS

SHARED = Path(__file__).resolve().parents[2] / "shared" / "upstream"
STRETCH = 80_640
"""A block of the largest setting whose sentences share a little less than the mean of all."""

PACK = 1024
WHERE = {
    "sample_0": (0, None),
    "sample_2": (2, None),
    "sample_5": (5, None),
    "stretch_5": (5, STRETCH),
}


BY_UPSTREAM = {"upstream", "sorted"}
"""The ways that feed every sentence alone."""


class Timed:
    """A way to score rows, with the CPU seconds of each round, all and in the model."""

    def __init__(self, score: Callable[[], Any], model: Any, tokens: int) -> None:
        self.score, self.model, self.tokens = score, model, tokens
        self.seconds: list[float] = []
        self.in_model: list[float] = []
        self.scores: Any = None

    def run(self) -> None:
        """Score once and note the seconds."""
        inside = 0.0
        forward = self.model.forward

        def timed(*args: Any, **inputs: Any) -> Any:
            nonlocal inside
            start = time.process_time()
            found = forward(*args, **inputs)
            inside += time.process_time() - start
            return found

        self.model.forward = timed
        start = time.process_time()
        self.scores = self.score()
        self.seconds.append(time.process_time() - start)
        self.in_model.append(inside)
        del self.model.forward

    def per_token(self) -> float:
        """Return the median seconds for one token of a sentence."""
        return statistics.median(self.seconds) / self.tokens

    def not_in_model(self) -> float:
        """Return which share of the time is spent outside the model's forward."""
        return round(1 - statistics.median(self.in_model) / statistics.median(self.seconds), 3)


def instances(sources: Path, where: tuple[int, int | None], rows: int) -> list[FillingInstance]:
    distractors, start = where
    templates, _ = ruff.read_templates(Sources(sources))
    setting = Setting(templates, PRONOUN_SETS, distractors)
    chosen = setting.sample(13)[:rows] if start is None else np.arange(start, start + rows)
    return [FillingInstance.from_row(r) for r in Instances(setting).table(chosen).to_pylist()]


def trained_tokenizer(asked: Sequence[FillingInstance]) -> Any:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    # neopronouns are rare in what real tokenizers are trained on
    texts = [text for one in asked for text in one.filled()[:3]]
    trainer = trainers.BpeTrainer(vocab_size=16_000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def random_model(layers: int) -> Any:
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=layers)).eval()
    with torch.no_grad():
        for tensor in model.parameters():
            if tensor.ndim > 1:
                tensor.mul_(2)  # else all options are nearly as likely
    return model


def upstream(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[float]:
    scores = []
    for text in texts:
        ids = torch.tensor([tokenizer(text).input_ids])
        log_probabilities = model(ids).logits.detach()[0].log_softmax(dim=1)
        every = (log_probabilities[i - 1, ids[0, i]].item() for i in range(1, ids.shape[1]))
        scores.append(sum(every))
    return scores


def sorted_batches(model: Any, tokenizer: Any, texts: Sequence[str]) -> Any:
    ids = tokenizer(list(texts)).input_ids
    order = sorted(range(len(ids)), key=lambda text: -len(ids[text]))
    scores = np.zeros(len(ids))
    for start in range(0, len(ids), 32):
        chosen = order[start : start + 32]
        rows = [torch.tensor(ids[text]) for text in chosen]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        with torch.inference_mode():
            found = model(padded).logits[:, :-1].log_softmax(dim=-1)
        found = found.gather(2, padded[:, 1:, None])[..., 0].double()
        for row, text in enumerate(chosen):
            scores[text] = found[row, : len(ids[text]) - 1].sum()
    return scores


def trees(model: Any, tokenizer: Any, asked: Sequence[FillingInstance], what: str) -> Any:
    sequences = TextTokenizer(tokenizer).read(asked)
    scorer = CausalScorer(model, batch_tokens=512, pack_tokens=512)
    return scorer.score(sequences, first_scored(sequences, what))


def first_scored(sequences: Sequences, what: str) -> Any:
    first = np.ones(len(sequences.lengths), np.int32)
    return first if what == "full" else np.maximum(first, sequences.common_prefixes())


def compared(model: Any, asked: Sequence[FillingInstance], arguments: Any) -> dict[str, Any]:
    """Run every way by turns and put the numbers of this place side by side."""
    tokenizer = trained_tokenizer(asked)
    few = np.linspace(0, len(asked) - 1, arguments.plain_rows).astype(int)
    texts = [text for row in few for text in asked[row].filled()]
    tokens = sum(map(len, tokenizer(texts).input_ids))
    sequences = TextTokenizer(tokenizer).read(asked)
    every = int(sequences.lengths.sum())
    ours = copy.deepcopy(model)
    fuse_activations(ours)
    pack_weights(ours)
    ways = {
        **_in_int16(model, tokenizer, asked, every),
        "upstream": Timed(lambda: upstream(model, tokenizer, texts), model, tokens),
        "sorted": Timed(lambda: sorted_batches(model, tokenizer, texts), model, tokens),
        "full": Timed(lambda: trees(ours, tokenizer, asked, "full"), ours, every),
        "options": Timed(lambda: trees(ours, tokenizer, asked, "options"), ours, every),
    }
    for _ in range(arguments.rounds):
        for way in ways.values():
            way.run()
    plain = np.reshape(ways["upstream"].scores, (-1, 4))
    found = {w: np.reshape(ways[w].scores, (-1, 4))[few] for w in ways.keys() - BY_UPSTREAM}
    seconds = {name: way.per_token() for name, way in ways.items()}
    return {
        "rows": len(asked),
        "ratio_to_upstream": ratios(seconds, "upstream"),
        "ratio_to_sorted_batches": ratios(seconds, "sorted"),
        "sentences_per_second": {
            n: round(1 / s / every * 4 * len(asked), 1) for n, s in seconds.items()
        },
        "share_not_in_the_model": {n: ways[n].not_in_model() for n in ("full", "options")},
        "share_of_peak": {
            n: share_of_peak(ways[n].score, statistics.median(ways[n].seconds))
            for n in ("full", "options")
        },
        "largest_difference": {
            n: float(np.abs(off if n == "full" else centred(off)).max())
            for n, off in ((n, scores - plain) for n, scores in found.items())
        },
        "same_decisions": bool(all((s.argmax(1) == plain.argmax(1)).all() for s in found.values())),
        "naive_tokens_to_fed": round(every / fed(sequences, 512), 2),
    }


def ratios(seconds: dict[str, float], slow: str) -> dict[str, float]:
    return {way: round(seconds[slow] / seconds[way], 2) for way in seconds.keys() - BY_UPSTREAM}


def _in_int16(model: Any, tokenizer: Any, asked: Sequence[FillingInstance], every: int) -> Any:
    """Return the way of trees whose layers multiply whole numbers, if this processor does."""
    if not sums_are_exact():
        return {}
    small = copy.deepcopy(model)
    fuse_activations(small)
    multiply_integers(small, "int16", "random weights")
    return {"int16": Timed(lambda: trees(small, tokenizer, asked, "options"), small, every)}


def centred(scores: Any) -> Any:
    return scores - scores.mean(axis=1, keepdims=True)


def fed(sequences: Sequences, pack: int) -> int:
    """Count the tokens that packs of this size feed for whole sentences."""
    tree = PrefixTree(sequences, first_scored(sequences, "full"))
    start = count = 0
    while start < len(tree.order):
        end = tree.end_of_pack(start, pack)
        count += len(tree.pack(start, end).tokens)
        start = end
    return count


def tokens_to_trie(sources: Path, where: tuple[int, int | None]) -> float:
    """Return how many tokens packs feed for each node of the trie, over 2,160 rows."""
    asked = instances(sources, where, 2160)
    sequences = TextTokenizer(trained_tokenizer(asked)).read(asked)
    return round(
        fed(sequences, PACK) / len(PrefixTree(sequences, first_scored(sequences, "full"))), 3
    )


def half_precision(asked: Sequence[FillingInstance], layers: int) -> dict[str, Any]:
    """Compare bfloat16 with float32: how far scores move, how close the two best are."""
    tokenizer, found = trained_tokenizer(asked), {}
    for dtype in (torch.float32, torch.bfloat16):
        model = random_model(layers).to(dtype)
        found[dtype] = np.reshape(trees(model, tokenizer, asked, "options"), (-1, 4))
    exact, half = found.values()
    best = np.sort(exact, axis=1)
    margins = best[:, -1] - best[:, -2]
    noise = np.abs(centred(exact) - centred(half)).max(axis=1)
    return {
        "layers": layers,
        "rows": len(asked),
        "largest_difference": round(float(noise.max()), 3),
        "median_margin": round(float(np.median(margins)), 3),
        "decisions_changed": int((exact.argmax(1) != half.argmax(1)).sum()),
        "margins_within_twice_the_noise": int((margins < 2 * noise.max()).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sources", type=Path, default=SHARED, help="as for pronominal build")
    parser.add_argument("--rows", type=int, default=64, help="for the trees; a whole sample: 2160")
    parser.add_argument("--plain-rows", type=int, default=6)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--places", default=",".join(WHERE))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    model, report = random_model(arguments.layers), {}
    for place in arguments.places.split(","):
        asked = instances(arguments.sources, WHERE[place], arguments.rows)
        report[place] = compared(model, asked, arguments)
        print(f"{place}: {report[place]}", file=sys.stderr)
    result = {
        "benchmark": "ruff_decoder",
        "layers": arguments.layers,
        "places": report,
        f"tokens_fed_to_trie_at_{PACK}": {
            place: tokens_to_trie(arguments.sources, WHERE[place]) for place in report
        },
        "bfloat16": half_precision(instances(arguments.sources, WHERE["sample_2"], 12), 4),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
