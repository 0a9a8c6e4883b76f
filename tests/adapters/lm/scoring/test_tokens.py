"""Texts are cut as the tokenizer cuts them, and trees hold each beginning once."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if find_spec("transformers") is None:
    pytest.skip("needs the extra lm", allow_module_level=True)

from pronominal.adapters.lm.scoring.tokens import (
    PADDING,
    Sequences,
    TextTokenizer,
    form_tokens,
    unknown_forms,
)
from pronominal.adapters.lm.scoring.trie import Pack, PrefixTree
from pronominal.instances import FillingInstance
from pronominal.spans import Mention
from tests.adapters.lm import language_models
from tests.adapters.lm.language_models import filled, own_instances

TOKENIZERS = ["gpt2", "opt", "llama", "bert", "roberta", "albert", "t5"]
TEXTS = filled(own_instances())


@cache
def tokenizer(name: str) -> Any:
    make: Callable[..., Any] = getattr(language_models, f"{name}_tokenizer")
    return make(TEXTS)


@cache
def remembering(name: str) -> TextTokenizer:
    return TextTokenizer(tokenizer(name))


def instance(text: str) -> FillingInstance:
    start = text.index("___")
    return FillingInstance("it", text, Mention("___", start, start + 3), ("he", "xe", "they"), 0)


def assert_cut_alike(name: str, texts: list[str]) -> None:
    sequences = remembering(name).read([instance(text) for text in texts])
    every = [text for asked in map(instance, texts) for text in asked.filled()]
    assert sequences.owners.tolist() == [i for i in range(len(texts)) for _ in range(3)]
    for row, text in enumerate(every):
        encoded = tokenizer(name)(text)
        length = sequences.lengths[row]
        assert sequences.ids[row, :length].tolist() == encoded.input_ids
        assert (sequences.ids[row, length:] == PADDING).all()
        words = np.cumsum(sequences.word_starts[row, :length])
        for i, one in enumerate(encoded.word_ids()):
            for j, other in enumerate(encoded.word_ids()[:i]):
                together = one == other and one is not None
                assert together == (words[i] == words[j])


@pytest.mark.parametrize("name", TOKENIZERS)
def test_own_texts(name: str) -> None:
    assert_cut_alike(name, [asked.text for asked in own_instances()[:12]])


WORDS = st.sampled_from(
    [
        "a",
        "Then",
        "the",
        "baker",
        "Dr.",
        "no.",
        "3.5",
        "was",
        "ill!",
        "é.",
        "¿Qué?",
        "x,",
        "…",
        "İ.",
    ]
)
GAPS = st.sampled_from([" ", " ", " ", "  ", "\n", ". ", "", "! ", " \u00a0"])
PASSAGES = st.lists(st.tuples(WORDS, GAPS), min_size=1, max_size=9)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=40)
@given(before=PASSAGES, after=PASSAGES)
def test_any_text_is_cut_as_if_whole(
    name: str, before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    text = "".join(map("".join, before)) + "___" + "".join(map("".join, after))
    assert_cut_alike(name, [text, text])


def test_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, asked = TextTokenizer(tokenizer("llama")), own_instances()
    expected = texts.read(asked)
    monkeypatch.setattr("pronominal.adapters.lm.scoring.tokens._MOST_REMEMBERED", 1)
    for start in range(0, len(asked), 5):
        found = texts.read(asked[start : start + 5])
        rows = slice(4 * start, 4 * start + len(found.lengths))
        assert (found.lengths == expected.lengths[rows]).all()
        assert (found.ids == expected.ids[rows, : found.ids.shape[1]]).all()


@pytest.mark.parametrize("name", TOKENIZERS)
def test_how_each_form_is_split(name: str) -> None:
    parts = form_tokens(tokenizer(name), ["they", "xyr", "zir"])
    assert list(parts) == ["they", "xyr", "zir"]
    assert len(parts["they"]) == 1
    assert len(parts["zir"]) > 1 or name == "bert"
    joined = {form: "".join(split).strip("Ġ▁").replace("##", "") for form, split in parts.items()}
    known = {form for form in joined if form not in unknown_forms(tokenizer(name), parts)}
    assert all(joined[form] == form for form in known)
    assert "they" in known


def test_a_form_with_an_unknown_letter_is_named() -> None:
    parts = form_tokens(tokenizer("bert"), ["she", "ʒe"])
    assert unknown_forms(tokenizer("bert"), parts) == ["ʒe"]
    assert unknown_forms(tokenizer("gpt2"), form_tokens(tokenizer("gpt2"), ["she", "ʒe"])) == []


# few tokens and short sequences, so that many share their beginnings
ROWS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=14)


def as_sequences(rows: list[list[int]]) -> Sequences:
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), PADDING)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = tokens
    return Sequences(ids, np.ones(ids.shape, bool), lengths, np.arange(len(rows)))


def paths(pack: Pack) -> list[tuple[int, ...]]:
    """What each node can look at, as the mask says: the tokens of its ancestors and its own."""
    nodes = np.arange(len(pack.tokens))
    return [tuple(pack.tokens[(nodes <= node) & (node < pack.ends)].tolist()) for node in nodes]


@settings(max_examples=150)
@given(rows=ROWS, size=st.integers(1, 12), data=st.data())
def test_packs_hold_every_scored_token_behind_its_own_text(
    rows: list[list[int]], size: int, data: st.DataObject
) -> None:
    first = np.array([data.draw(st.integers(1, len(row))) for row in rows])
    tree = PrefixTree(as_sequences(rows), first)
    start, scored = 0, []
    while start < len(tree.order):
        end = tree.end_of_pack(start, size)
        pack = tree.pack(start, end)
        assert len(pack.tokens) <= size or end == start + 1
        seen = paths(pack)
        assert len(set(seen)) == len(seen)
        assert pack.positions.tolist() == [len(path) - 1 for path in seen]
        assert sorted(set(pack.parents.tolist())) == list(range(len(pack.read)))
        for parent, token, sequence in zip(pack.parents, pack.scored, pack.sequences, strict=True):
            path = seen[pack.read[parent]]
            assert list(path) == rows[sequence][: len(path)]
            assert rows[sequence][len(path)] == token
            scored.append((int(sequence), len(path)))
        start = end
    expected = [(s, p) for s, row in enumerate(rows) for p in range(first[s], len(row))]
    assert sorted(scored) == expected


@settings(max_examples=100)
@given(rows=ROWS)
def test_the_whole_tree_has_each_beginning_once(rows: list[list[int]]) -> None:
    tree = PrefixTree(as_sequences(rows), np.ones(len(rows), int))
    beginnings = {tuple(row[:end]) for row in rows for end in range(1, len(row))}
    assert len(tree) == len(beginnings)
    if len(tree.order):
        assert sorted(paths(tree.pack(0, len(tree.order)))) == sorted(beginnings)


def test_what_the_sequences_of_an_instance_share() -> None:
    rows = [[5, 1, 2], [5, 1, 3, 4], [5, 1], [7, 7], [7, 7]]
    owners = np.array([0, 0, 0, 1, 1])
    sequences = as_sequences(rows)
    asked = Sequences(sequences.ids, sequences.word_starts, sequences.lengths, owners)
    assert asked.common_prefixes().tolist() == [2, 2, 2, 2, 2]
    assert asked.common_suffixes().tolist() == [0, 0, 0, 2, 2]
    assert asked.of(1).ids.tolist() == [[7, 7], [7, 7]]
