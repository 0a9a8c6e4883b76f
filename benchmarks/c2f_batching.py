"""SpanBERT in batches against one document at a time, padded and dense as upstream works.

Both have SpanBERT-base's sizes (12 layers, 768 hidden, scorers of 3,000), share their random
weights and run in this process by turns; seconds are CPU time of the process on one thread. The
padded way encodes one segment of 384 pieces after the other, writes out every candidate's vector
and every pair's, and attends in a matrix of candidates by pieces, as lxucs/coref-hoi does. It runs
on every n-th sentence, for it takes minutes, and its seconds are multiplied; sentences are ordered
at random. Clusters are compared on those.

The second part measures the head's memory above its weights on one document of 3,000 pieces, each
way in a process of its own.

``python benchmarks/c2f_batching.py``; about four minutes and 6 GiB. ``--sentences 400 --every 1``
measures everything in full.
"""

import argparse
import itertools
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import transformers
from torch import Tensor

from pronominal.adapters.c2f.bert.encoder import TransformerEncoder, TransformerModel
from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.c2f.head.model import CoarseToFineHead
from pronominal.adapters.c2f.head.prediction import decode
from pronominal.adapters.c2f.head.top_spans import Antecedents, TopSpans, keep_best
from pronominal.adapters.c2f.head.units import AntecedentScores, Encoded, UnitBatch, Units
from pronominal.spans import Cluster

SEGMENT = 384
PIECES = 3000
BASE = HeadConfig(boundary_size=768, head_value_size=768)
VOCABULARY = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}

FIRST = ("farmer", "owner", "student", "visitor", "man", "witness", "clerk")
SECOND = ("guest", "customer", "patient", "homeowner", "dog", "child", "buyer")
EVENTS = (
    ("asked", "what {} had wanted to find out about the house the other day ."),
    ("needed", "because {} would be away from home for one more day ."),
    ("told", "that the three questions were put to {} before noon ."),
    ("met", "when all the other questions about {} work had been asked ."),
    ("was told about", "after {} car had been taken off the road ."),
)
PRONOUNS = ("he", "him", "his", "she", "her", "they", "them", "their", "xe", "xem", "xyr")


class PaddedEncoder(TransformerEncoder):
    """Encodes one segment at a time, padded to its full length."""

    def _encode(self, rows: Sequence[Sequence[int]]) -> Tensor:
        found = []
        for row in rows:
            ids = torch.tensor([[*row, *[0] * (SEGMENT - len(row))]])
            mask = (torch.arange(SEGMENT) < len(row)).long().unsqueeze(0)
            found.append(self.bert(ids, attention_mask=mask).last_hidden_state[0])
        return torch.stack(found)


class DenseHead(CoarseToFineHead):
    """Scores one document with every candidate's vector and every pair's written out."""

    def forward(self, encoded: Sequence[Encoded], units: Sequence[Units]) -> list[AntecedentScores]:
        """Return the scores of each document, one after the other."""
        return [self._one(*document) for document in zip(encoded, units, strict=True)]

    def _one(self, encoded: Encoded, units: Units) -> AntecedentScores:
        batch = UnitBatch.of([encoded], [units], self.config)
        starts, ends = _candidates(batch.sentences, self.config.max_span_width)
        vectors = self._vectors(encoded, starts, ends)
        widths = ends - starts
        prior = self.span_width_score_ffnn(self.emb_span_width_prior.weight).squeeze(1)
        scores = self.span_emb_score_ffnn(vectors).squeeze(1) + prior[widths]
        ranking = scores.argsort(descending=True, stable=True).tolist()
        chosen = torch.tensor(
            keep_best(starts.tolist(), (ends + 1).tolist(), ranking, batch.spans_to_keep[0])
        )
        top = TopSpans.of(starts[chosen], ends[chosen] + 1, [len(chosen)])
        antecedents = self._preselect(top, vectors[chosen], scores[chosen])
        fine = self._dense_fine(batch, top, vectors[chosen], antecedents)
        return AntecedentScores(top.starts, top.ends, scores[chosen], antecedents.spans[0], fine[0])

    def _vectors(self, encoded: Encoded, starts: Tensor, ends: Tensor) -> Tensor:
        pieces = torch.arange(len(encoded.boundary)).repeat(len(starts), 1)
        mask = (pieces >= starts.unsqueeze(1)) & (pieces <= ends.unsqueeze(1))
        logits = self.mention_token_attn(encoded.boundary).squeeze(1)
        attention = (torch.log(mask.float()) + logits).softmax(1)
        widths = self.emb_span_width.weight[ends - starts]
        values = attention @ encoded.head_values
        boundary = encoded.boundary
        return torch.cat([boundary[starts], boundary[ends], widths, values], dim=1)

    def _dense_fine(
        self, batch: UnitBatch, top: TopSpans, vectors: Tensor, antecedents: Antecedents
    ) -> Tensor:
        count, wide = antecedents.spans.shape[1:]
        spans = torch.arange(count).repeat_interleave(wide)
        others = antecedents.spans.flatten()
        features = self._pair_features(batch, top, spans, others, (spans - others).clamp(min=0))
        none = vectors.new_zeros(1, count, 1)
        for repeat in range(self.config.depth):
            one, other = vectors[spans], vectors[others]
            pairs = torch.cat([one, other, one * other, features], dim=1)
            fine = self.coref_score_ffnn(pairs).view(1, count, wide)
            scores = torch.cat([none, antecedents.scores + fine], dim=2)
            if repeat + 1 < self.config.depth:
                vectors = self._refined(top, vectors, antecedents.spans, scores)
        return scores


def _candidates(sentences: Tensor, width: int) -> tuple[Tensor, Tensor]:
    total = len(sentences)
    starts = torch.arange(total).repeat_interleave(width)
    ends = starts + torch.arange(width).repeat(total)
    inside = ends < total
    inside[inside.clone()] = sentences[starts[inside]] == sentences[ends[inside]]
    return starts[inside], ends[inside]


def sentences(count: int) -> list[Units]:
    """Return sentences of 15 to 20 words that are one piece each, with [CLS] and [SEP]."""
    every = [
        f"the {first} {verb} the {second} {rest.format(pronoun)}"
        for first, (verb, rest), second, pronoun in itertools.product(
            FIRST, EVENTS, SECOND, PRONOUNS
        )
    ]
    return [units(text.split()) for text in random.Random(0).sample(every, count)]


def units(words: Sequence[str]) -> Units:
    for word in words:
        VOCABULARY.setdefault(word, len(VOCABULARY))
    length = len(words) + 2
    strings = ["[CLS]", *words, "[SEP]"]
    speakers = ["[SPL]", *["-"] * len(words), "[SPL]"]
    return Units(strings, [0] * length, [0] * length, speakers, range(length))


def models() -> dict[str, TransformerModel]:
    """Return both ways, with the same random weights, scaled so that there are clusters."""
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=200)
    bert = transformers.BertModel(config, add_pooling_layer=False)
    ours = TransformerModel(bert, VOCABULARY, BASE).eval()
    ours.head = scaled_head(CoarseToFineHead)
    padded = TransformerModel(bert, VOCABULARY, BASE).eval()
    padded.encoder = PaddedEncoder(bert, VOCABULARY)
    padded.head = DenseHead(BASE).eval()
    padded.head.load_state_dict(ours.head.state_dict(), assign=True)
    return {"padded": padded, "pronominal": ours}


def scaled_head(kind: type[CoarseToFineHead]) -> CoarseToFineHead:
    torch.manual_seed(1)
    head = kind(BASE).eval()
    head.reset_parameters()
    with torch.no_grad():
        head.span_emb_score_ffnn[3].weight.mul_(20)
        head.coref_score_ffnn[3].weight.mul_(20)
        head.coarse_bilinear.weight.mul_(0.1)
    return head


def measure(count: int, every: int, batch: int) -> dict[str, object]:
    texts = sentences(count)
    both = models()
    # similar lengths go together, as in the system
    order = sorted(range(count), key=lambda index: len(texts[index]))
    found: dict[int, list[Cluster]] = {}
    spent = {"pronominal": 0.0, "padded": 0.0}
    same = compared = clusters = 0
    with torch.inference_mode():
        for first in range(0, count, batch):
            numbers = order[first : first + batch]
            answer, seconds = timed(both["pronominal"], [texts[index] for index in numbers])
            spent["pronominal"] += seconds
            found |= dict(zip(numbers, map(decode, answer), strict=True))
            # by turns, so that neither way has the machine to itself
            for index in (index for index in numbers if index % every == 0):
                (padded,), seconds = timed(both["padded"], [texts[index]])
                spent["padded"] += seconds
                same += decode(padded) == found[index]
                compared += 1
                clusters += len(found[index])
    spent["padded"] *= count / compared
    assert clusters, "there is nothing to compare"
    return {
        "sentences": count,
        "pieces_in_a_sentence": sum(map(len, texts)) / count,
        "seconds": {way: round(seconds, 2) for way, seconds in spent.items()},
        "padded_measured_on": compared,
        "ratio": round(spent["padded"] / spent["pronominal"], 1),
        "identical_clusters": f"{same} of {compared}",
    }


def timed(
    model: Callable[[Sequence[Units]], list[AntecedentScores]], texts: Sequence[Units]
) -> tuple[list[AntecedentScores], float]:
    start = time.process_time()
    answer = model(texts)
    return answer, time.process_time() - start


def memory_of(way: str, pieces: int) -> None:
    """Print the head's peak memory above its weights on a long document, in MiB (Linux)."""
    head = scaled_head(DenseHead if way == "dense" else CoarseToFineHead)
    vectors = torch.randn(pieces, BASE.boundary_size)
    sentence = [piece // 25 for piece in range(pieces)]
    segment = [piece // SEGMENT for piece in range(pieces)]
    document = Units([""] * pieces, sentence, segment, ["-"] * pieces, range(pieces))
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    with torch.inference_mode():
        (scores,) = head([Encoded(vectors, vectors)], [document])
    print(json.dumps({"mib": round(status("VmHWM") - before, 1), "clusters": decode(scores)}))


def status(name: str) -> float:
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{name}:")[1].split()[0]) / 1024


def measure_memory(pieces: int) -> dict[str, object]:
    found = {}
    for way in ("dense", "windows"):
        command = [sys.executable, __file__, "--memory-of", way, "--pieces", str(pieces)]
        found[way] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {
        "pieces": pieces,
        "peak_mib_above_weights": {way: result["mib"] for way, result in found.items()},
        "share": round(found["windows"]["mib"] / found["dense"]["mib"], 3),
        "identical_clusters": found["windows"]["clusters"] == found["dense"]["clusters"],
        "clusters": len(found["windows"]["clusters"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=400)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--pieces", type=int, default=PIECES)
    parser.add_argument("--memory-of", choices=["dense", "windows"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.memory_of:
        memory_of(arguments.memory_of, arguments.pieces)
        return
    speed = measure(arguments.sentences, arguments.every, arguments.batch)
    report = {"benchmark": "c2f_batching", "speed": speed}
    print(json.dumps(report | {"memory": measure_memory(arguments.pieces)}))


if __name__ == "__main__":
    main()
