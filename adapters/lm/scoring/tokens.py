"""Texts as a tokenizer cuts them, many at a time.

RUFF's millions of texts are made of a few thousand sentences. A sentence is tokenized once, and
put together with its neighbours only where the tokenizer was seen to cut the two of them alike.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pronominal.adapters.checkpoints.transformers_models import special_tokens
from pronominal.instances import FillingInstance

IntArray = NDArray[np.signedinteger[Any]]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

Tokens = Sequence[int]

PADDING = -1
"""Fills rows behind the end of a sequence; no token has this number."""

Piece = IntArray
"""Consecutive tokens as [2, tokens]: their numbers, and 1 where one begins a word, else 0."""

_SENTENCE_BORDER = re.compile(r"(?<=[.!?]) (?=\w)")
_MOST_REMEMBERED = 400_000


@dataclass(frozen=True, slots=True)
class Sequences:
    """Token sequences, one a row.

    Attributes:
        ids: numbers of the tokens, [sequences, positions]; `PADDING` behind a sequence's end.
        word_starts: which tokens begin a word of the tokenizer's, in the same shape.
        lengths: tokens of each sequence, special ones included, [sequences].
        owners: to which instance a sequence belongs, ascending from 0, [sequences].
    """

    ids: IntArray
    word_starts: BoolArray
    lengths: IntArray
    owners: IntArray

    def first_rows(self) -> IntArray:
        """Return where the sequences of each instance begin, [instances]."""
        return np.searchsorted(self.owners, np.arange(self.owners[-1] + 1))

    def common_prefixes(self) -> IntArray:
        """Return for each sequence how many first tokens all sequences of its instance share."""
        first_rows = self.first_rows()
        differs = self.ids != self.ids[first_rows[self.owners]]
        width = self.ids.shape[1]
        first = np.where(differs.any(axis=1), differs.argmax(axis=1), width)
        shared = np.minimum.reduceat(first, first_rows)[self.owners]
        return np.minimum(shared, self.lengths).astype(np.int32)

    def common_suffixes(self) -> IntArray:
        """Return for each sequence how many last tokens all sequences of its instance share."""
        from_the_end = self.lengths[:, None] - 1 - np.arange(self.ids.shape[1])
        ids = np.take_along_axis(self.ids, np.maximum(from_the_end, 0), axis=1)
        ids = np.where(from_the_end < 0, PADDING, ids)
        return replace(self, ids=ids).common_prefixes()

    def inside(self, frame: tuple[int, int]) -> BoolArray:
        """Say where tokens are behind and before so many special ones, [sequences, positions]."""
        places = np.arange(self.ids.shape[1])
        return (places >= frame[0]) & (places < self.lengths[:, None] - frame[1])

    def of(self, owner: int) -> "Sequences":
        """Return the sequences of one instance alone."""
        rows = self.owners == owner
        width = self.lengths[rows].max()
        return Sequences(
            self.ids[rows, :width],
            self.word_starts[rows, :width],
            self.lengths[rows],
            np.zeros(rows.sum(), np.int32),
        )


def padded(rows: Sequence[Tokens | IntArray], filler: int = 0) -> tuple[IntArray, BoolArray]:
    """Return token sequences as one array with a filler behind them, and where there are tokens."""
    lengths = np.array([len(row) for row in rows])
    there = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(there.shape, filler, np.int64)
    for place, row in zip(ids, rows, strict=True):
        place[: len(row)] = row
    return ids, there


class TextTokenizer:
    """Cuts texts exactly as the tokenizer does, sentence by sentence where that is the same.

    Whether two sentences can be cut apart is tried for each pair that ever meets; a text with a
    pair that cannot is tokenized whole.

    Attributes:
        frame: how many special tokens are before and behind a text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        # each one begins a word: nothing is masked together with a special token
        self._opening, self._closing = (
            np.array([ids, [1] * len(ids)], np.int32) for ids in special_tokens(tokenizer)
        )
        self.frame = self._opening.shape[1], self._closing.shape[1]
        self._first: dict[str, Piece] = {}
        self._later: dict[str, Piece] = {}
        self._separable: dict[tuple[str, str], bool] = {}

    def read(self, instances: Sequence[FillingInstance]) -> Sequences:
        """Return the sequences of all filled texts: instance by instance, option by option."""
        if len(self._separable) >= _MOST_REMEMBERED:
            self._first, self._later, self._separable = {}, {}, {}
        texts = [instance.filled() for instance in instances]
        cut = [self._pieces(text) for filled in texts for text in filled]
        owners = np.repeat(np.arange(len(texts)), [len(filled) for filled in texts])
        lengths = np.array([sum(piece.shape[1] for piece in pieces) for pieces in cut], np.int32)
        inside = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(inside.shape, PADDING, np.int32)
        word_starts = np.zeros(inside.shape, np.bool_)
        ids[inside], word_starts[inside] = np.concatenate([p for ps in cut for p in ps], axis=1)
        return Sequences(ids, word_starts, lengths, owners.astype(np.int32))

    def whole(self, text: str) -> Piece:
        """Return the tokens of a text, without special ones."""
        encoded = self._tokenizer(text, add_special_tokens=False)
        ids = encoded["input_ids"]
        if not self._tokenizer.is_fast:
            return np.array([ids, [0] * len(ids)], np.int32)
        words = np.array(encoded.word_ids(), np.int32)
        return np.array([ids, np.diff(words, prepend=-1) != 0], np.int32)

    def _pieces(self, text: str) -> tuple[Piece, ...]:
        sentences = _SENTENCE_BORDER.split(text)
        if not all(self._cut_apart(*pair) for pair in pairwise(sentences)):
            return self._opening, self.whole(text), self._closing
        later = (self._later[sentence] for sentence in sentences[1:])
        return self._opening, self._first_piece(sentences[0]), *later, self._closing

    def _first_piece(self, sentence: str) -> Piece:
        if sentence not in self._first:
            self._first[sentence] = self.whole(sentence)
        return self._first[sentence]

    def _cut_apart(self, sentence: str, following: str) -> bool:
        """Say whether two sentences have the same tokens together as apart."""
        pair = sentence, following
        if pair not in self._separable:
            before, both = self._first_piece(sentence), self.whole(f"{sentence} {following}")
            border = before.shape[1]
            behind = self._later.setdefault(following, both[:, border:])
            apart = np.concatenate((before, behind), axis=1)
            self._separable[pair] = np.array_equal(both, apart)
        return self._separable[pair]


def form_tokens(tokenizer: Any, forms: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return how a tokenizer splits each form, such as a pronoun's, inside a sentence."""
    before = tokenizer("a", add_special_tokens=False)["input_ids"]
    return {
        form: tuple(
            tokenizer.convert_ids_to_tokens(
                tokenizer(f"a {form}", add_special_tokens=False)["input_ids"][len(before) :]
            )
        )
        for form in forms
    }


def unknown_forms(tokenizer: Any, tokens: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the forms, with their tokens from `form_tokens`, of which some part is unknown."""
    unknown = tokenizer.unk_token
    # byte-level tokenizers know every part, and may call their end of text unknown
    return sorted(form for form, parts in tokens.items() if not parts or unknown in parts)
