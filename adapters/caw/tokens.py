"""Words to subwords, and subwords to the windows that an encoder reads."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

from pronominal.adapters.words.english import RAW_TEXT_GENRE
from pronominal.adapters.words.ontonotes import GENRES, word_speakers
from pronominal.errors import InputError
from pronominal.spans import Document, Span

UNMARKED = frozenset({".", ",", "!", "?", ":", ";", "'s"})
"""Words that stand right behind another word, for which RoBERTa's subwords have no space marker."""


@dataclass(frozen=True, slots=True)
class TokenizedDocument:
    """A document as the model reads it.

    Attributes:
        place: how messages call it, such as ``texts[3]``.
        subwords: ids of its subwords.
        word_starts: the first subword of each word, and behind them the number of subwords.
        sentences: its sentences, as half-open ranges of words.
        speakers: one number for each word, equal exactly where the speakers are.
        genre: index into `GENRES`.
    """

    place: str
    subwords: list[int]
    word_starts: list[int]
    sentences: list[Span]
    speakers: list[int]
    genre: int

    @property
    def words(self) -> int:
        """How many words it has."""
        return len(self.word_starts) - 1

    def subword_span(self, words: Span) -> Span:
        """Return the subwords of a range of words."""
        return Span(self.word_starts[words.start], self.word_starts[words.end])

    def sentence_of(self, word: int) -> Span:
        """Return the sentence that a word stands in."""
        return self.sentences[bisect_right(self.sentences, word, key=lambda span: span.start) - 1]


class SubwordTokenizer:
    """Tokenises one word at a time, as upstream's ``predict.py`` does.

    Where upstream collapses, a stated choice is made: a word without any subword is read as the
    unknown token, and a word that spells one of the tokens that frame a window (``</s>``) is read
    as the characters that it is made of.

    Args:
        tokenizer: a tokenizer of transformers that takes each word for one behind a space.
        model_type: the encoder's family, as transformers calls it.
    """

    def __init__(self, tokenizer: Any, model_type: str) -> None:
        self.tokenizer = tokenizer
        self._framing = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id}
        self._unwanted = (
            {tokenizer.convert_tokens_to_ids("\u2581")} if model_type == "albert" else set()
        )
        # by family: upstream asks for the name "roberta-large", and a path loses the rule
        unmarked = UNMARKED if model_type == "roberta" else ()
        self._known = {word: [tokenizer.convert_tokens_to_ids(word)] for word in unmarked}

    def read(self, document: Document, place: str) -> TokenizedDocument:
        """Tokenise one document.

        Args:
            document: words, with or without speakers and genre.
            place: how messages call it.

        Raises:
            InputError: the genre is none of `GENRES`, or the speakers are not one for each word.
        """
        words = list(chain.from_iterable(document.words))
        self._learn(words)
        subwords = [self._known[word] for word in words]
        borders = accumulate(map(len, document.words), initial=0)
        return TokenizedDocument(
            place=place,
            subwords=list(chain.from_iterable(subwords)),
            word_starts=list(accumulate(map(len, subwords), initial=0)),
            sentences=[Span(start, end) for start, end in pairwise(borders) if start < end],
            speakers=_speakers(document, place),
            genre=_genre(document, place),
        )

    def _learn(self, words: Iterable[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if not new:
            return
        for word, ids in zip(new, self._ids(new), strict=True):
            if not self._framing.isdisjoint(ids):
                (ids,) = self._ids([word], split_special_tokens=True)
            wanted = [number for number in ids if number not in self._unwanted]
            self._known[word] = wanted or [self.tokenizer.unk_token_id]

    def _ids(self, words: list[str], **options: bool) -> list[list[int]]:
        encoded = self.tokenizer(words, add_special_tokens=False, verbose=False, **options)
        ids: list[list[int]] = encoded["input_ids"]
        return ids


def windows(document: TokenizedDocument, capacity: int) -> Iterator[Span]:
    """Cut a document into the ranges of subwords that are encoded apart from each other.

    A window ends at the last sentence border that fits; inside a sentence that alone is too long,
    at the last word border, and inside such a word, where the window is full.
    """
    total = len(document.subwords)
    sentence_starts = [document.word_starts[sentence.start] for sentence in document.sentences]
    start = 0
    while start < total:
        end = min(start + capacity, total)
        if end < total:
            fitting = (_last(starts, end) for starts in (sentence_starts, document.word_starts))
            end = next((border for border in fitting if border > start), end)
        yield Span(start, end)
        start = end


def oversized_sentences(document: TokenizedDocument, capacity: int) -> Iterator[tuple[int, int]]:
    """Yield number and length in subwords of each sentence that no window holds."""
    for number, sentence in enumerate(document.sentences):
        start, end = document.subword_span(sentence)
        if end - start > capacity:
            yield number, end - start


def _last(borders: Sequence[int], limit: int) -> int:
    return borders[bisect_right(borders, limit) - 1]


def _speakers(document: Document, place: str) -> list[int]:
    numbers: dict[str, int] = {}
    every = word_speakers(document, "", place)
    return [numbers.setdefault(speaker, len(numbers)) for speaker in every]


def _genre(document: Document, place: str) -> int:
    genre = RAW_TEXT_GENRE if document.genre is None else document.genre
    if genre not in GENRES:
        raise InputError(
            f"there is no genre '{genre}'",
            cure=f"write one of {', '.join(GENRES)}, or None for {RAW_TEXT_GENRE}",
            row=place,
        )
    return GENRES.index(genre)
