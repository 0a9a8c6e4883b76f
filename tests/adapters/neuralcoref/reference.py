"""Tiny weights in neuralcoref's file layout, parses by hand, and a plain reading of its algorithm.

The reference scores one pair at a time, in float64, with tokens in the place of arrays.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

HIDDEN = (14, 12, 12)
WORDS = ["*UNK*", "<missing>", "0", "ann", "eve", "she", "her", "the", "pilot", "said", ".", "his"]
BINS = [*range(5), *[5] * 3, *[6] * 8, *[7] * 16, *[8] * 32]
ENTITIES = {"PERSON", "NORP", "FACILITY", "ORG", "GPE", "LOC", "PRODUCT", "EVENT"}
ENTITIES |= {"WORK_OF_ART", "LANGUAGE"}


@dataclass
class Tiny:
    """Random weights; layers are pairs of weights and bias."""

    seed: int = 0
    single: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    pairs: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    static: dict[str, np.ndarray] = field(default_factory=dict)
    tuned: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        random = np.random.default_rng(self.seed)
        for layers, inputs in ((self.single, 668), (self.pairs, 1364)):
            widths = [inputs, *HIDDEN, 1, 1]
            for before, after in pairwise(widths):
                scale = 4 / np.sqrt(before)
                weights = random.normal(scale=scale, size=(after, before)).astype(np.float32)
                layers.append((weights, random.normal(size=after).astype(np.float32)))
        for vectors, words in ((self.static, WORDS), (self.tuned, WORDS[1:8])):
            vectors |= {word: random.normal(size=50).astype(np.float32) for word in words}

    def save(self, folder: Path) -> Path:
        """Write the files that neuralcoref 4.0 downloads."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cfg").write_text('{"h1": 14, "h2": 12, "h3": 12}')
        for name, layers in (("single_model", self.single), ("pairs_model", self.pairs)):
            entries: list[Any] = [{b"dims": {}, b"params": []}]
            entries += [
                {b"params": [{b"name": "W", b"value": w}, {b"name": "b", b"value": b}]}
                for w, b in layers
            ]
            (folder / name).write_bytes(srsly.msgpack_dumps({b"weights": entries}))
        for name, vectors in (("static_vectors", self.static), ("tuned_vectors", self.tuned)):
            (folder / name).mkdir(exist_ok=True)
            with (folder / name / "vectors").open("wb") as stream:
                np.save(stream, np.stack([*vectors.values()]))
            rows = {get_string_id(word): row for row, word in enumerate(vectors)}
            (folder / name / "key2row").write_bytes(srsly.msgpack_dumps(rows))
        return folder


# parses by hand

Parse = list[tuple[str, str, str, int, str]]
"""For each word: text, tag, part of speech, head (a place in the text) and dependency."""


def parsed(nlp: Language, parse: Parse, entities: list[tuple[int, int, str]] = ()) -> Doc:
    """Return a document as a parser would; each entity is (start, end, label)."""
    words, tags, pos, heads, dependencies = (list(column) for column in zip(*parse, strict=True))
    document = Doc(nlp.vocab, words=words, tags=tags, pos=pos, heads=heads, deps=dependencies)
    document.ents = [Span(document, start, end, label) for start, end, label in entities]
    return document


# the reference


def reference_spans(document: Doc, blacklist: bool) -> list[tuple[int, int]]:
    """Which spans are mentions, token by token, as neuralcoref.pyx looks at them."""
    found = {(entity.start, entity.end) for entity in document.ents if entity.label_ in ENTITIES}
    for sentence in document.sents:
        for token in sentence:
            for start, end in _spans_of(token, sentence, blacklist):
                if end > start:
                    found.add((start, end))
    spans = [document[start:end] for start, end in sorted(found)]
    return [(s.start, s.end) for s in sorted(spans, key=lambda span: (span.root.i, span.start))]


def _spans_of(token: Any, sentence: Span, blacklist: bool) -> list[tuple[int, int]]:
    if blacklist and token.lower_ in ("i", "me", "my", "you", "your"):
        return []
    keep = ["NN", "NNP", "NNPS", "NNS", "PRP", "PRP$", "DT", "IN"]
    if token.tag_ not in keep or token.dep_ in ("det", "compound", "appos"):
        return []
    if token.tag_ in ("PRP", "PRP$"):
        children = [*token.lefts, *token.rights]
        wide = [(token.left_edge.i, token.right_edge.i + 1)] if children else []
        return [(token.i, token.i + 1), *wide]
    if token.lower_ == "'s":
        place = token.head.i
        for _ in range(100):
            if place == 0:
                break
            if document_dep(sentence, place) == "nsubj":
                start, end = _enlarged(place, sentence, ("nsubj", "dep"))
                return [(start, end + 1)]
            place = sentence.doc[place].head.i
        return []
    start, end = _enlarged(token.i, sentence, None)
    if token.tag_ == "IN" and token.dep_ == "mark" and start == end:
        start, end = _enlarged(token.head.i, sentence, None)
    if start == end or sentence.doc[start].lower_ == "'s":
        return []
    return [(start, end)]


def document_dep(sentence: Span, place: int) -> str:
    return sentence.doc[place].dep_


def _enlarged(place: int, sentence: Span, only: tuple[str, ...] | None) -> tuple[int, int]:
    document = sentence.doc
    first = last = place
    for child in sentence:
        if child.head.i == place and child.i != place and (only is None or child.dep_ in only):
            first, last = min(first, child.left_edge.i), max(last, child.right_edge.i)

    def border(at: int) -> bool:
        remove = document[at].pos_ in ("CCONJ", "SCONJ", "INTJ", "ADP")
        return remove or document[at].lower_ in ("'s", ",", ".", "!", "?", ":", ";")

    while last >= first and last > sentence.start and border(last):
        last -= 1
    while first <= last and first < sentence.end - 1 and border(first):
        first += 1
    return first, last + 1


def reference_scores(
    tiny: Tiny, document: Doc, blacklist: bool = True
) -> tuple[list[float], dict[tuple[int, int], float]]:
    """Score every mention alone and every pair (mention, antecedent)."""
    spans = [document[a:b] for a, b in reference_spans(document, blacklist)]
    singles = [_single(number, spans) for number in range(len(spans))]
    vectors = [_vector(tiny, span) for span in spans]
    alone = [
        _forward(tiny.single, [*vectors[number], *singles[number], 0])
        for number in range(len(spans))
    ]
    together = {}
    for men in range(len(spans)):
        for ant in range(men):
            features = [*_pair(ant, men, spans), *singles[ant], *singles[men], 0]
            inputs = [*vectors[ant], *vectors[men], *features]
            together[men, ant] = _forward(tiny.pairs, inputs)
    return alone, together


def _forward(layers: list[tuple[np.ndarray, np.ndarray]], inputs: list[float]) -> float:
    values = np.array(inputs, dtype=np.float64)
    for number, (weights, bias) in enumerate(layers):
        values = weights.astype(np.float64) @ values + bias
        if number < 3:
            values = np.maximum(values, 0)
    return float(values[0])


def _binned(distance: int) -> list[float]:
    hot = [0.0] * 10
    hot[BINS[distance] if distance < 64 else 9] = 1
    return [*hot, min(distance, 64) / 64]


def _kind(span: Span) -> int:
    if any(t.tag_ in ("CC", ",") and t.ent_type_ not in ENTITIES for t in span):
        return 3
    if span.root.tag_ in ("PRP", "PRP$"):
        return 0
    return 2 if span.root.ent_type_ in ENTITIES or span.root.tag_ in ("NNP", "NNPS") else 1


def _single(number: int, spans: list[Span]) -> list[float]:
    span = spans[number]
    kind = [0.0] * 4
    kind[_kind(span)] = 1
    inside = any(
        place != number
        and other.sent.start == span.sent.start
        and other.start <= span.start
        and other.end >= span.end
        for place, other in enumerate(spans)
    )
    return [*kind, *_binned(len(span) - 1), number / len(spans), float(inside)]


def _pair(ant: int, men: int, spans: list[Span]) -> list[float]:
    one, other = spans[ant], spans[men]
    nouns = [
        {t.lower_ for t in span if t.tag_ in ("NN", "NNS", "NNP", "NNPS")} for span in (one, other)
    ]
    starts = [sentence.start for sentence in one.doc.sents]
    sentences = starts.index(other.sent.start) - starts.index(one.sent.start)
    same = float(one.root.lower_ == other.root.lower_)
    return [
        *(1, 0, 0, same, float(one.text.lower() == other.text.lower())),
        float(bool(nouns[0] & nouns[1])),
        *_binned(sentences),
        *_binned(men - ant - 1),
        float(sentences == 0 and one.end > other.start),
    ]


def _vector(tiny: Tiny, span: Span) -> list[float]:
    document, sentence = span.doc, span.sent

    def static(token: Any) -> np.ndarray:
        return tiny.static.get("0" if token.is_digit else token.lower_, tiny.static["*UNK*"])

    def tuned(token: Any) -> np.ndarray:
        return tiny.tuned.get("0" if token.is_digit else token.lower_, static(token))

    def mean(tokens: Span) -> np.ndarray:
        total = sum((static(token) for token in tokens), np.zeros(50))
        return total / max(len(tokens), 1)

    def beside(place: int) -> np.ndarray:
        inside = sentence.start <= place < sentence.end
        return tuned(document[place]) if inside else tiny.tuned["<missing>"]

    parts = [
        mean(span),
        mean(document[max(span.start - 5, sentence.start) : span.start]),
        mean(document[span.end : min(span.end + 5, sentence.end)]),
        mean(sentence),
        np.zeros(50),
        *(tuned(token) for token in (span.root, span[0], span[-1])),
        *(beside(p) for p in (span.start - 1, span.end, span.start - 2, span.end + 1)),
        tuned(span.root.head),
    ]
    return [float(number) for part in parts for number in part]


def reference_clusters(
    tiny: Tiny, document: Doc, greedyness: float = 0.5
) -> list[list[tuple[int, int]]]:
    """Link every mention to its best antecedent within 50 mentions, and merge."""
    spans = reference_spans(document, True)
    alone, together = reference_scores(tiny, document)
    owner = list(range(len(spans)))
    clusters = {number: [number] for number in owner}
    for men in range(len(spans)):
        best, chosen = alone[men] - 50 * (greedyness - 0.5), men
        for ant in range(max(0, men - 50), men):
            if together[men, ant] > best:
                best, chosen = together[men, ant], ant
        keep, remove = owner[chosen], owner[men]
        if keep != remove:
            for number in clusters.pop(remove):
                owner[number] = keep
                clusters[keep].append(number)
    return [[spans[n] for n in numbers] for numbers in clusters.values() if len(numbers) > 1]
