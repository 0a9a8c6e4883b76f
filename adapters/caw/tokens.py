"""Words to subwords, and subwords to the windows that an encoder reads."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

from pronominal.adapters.words.english import RAW_TEXT_GENRE
from pronominal.adapters.words.ontonotes import GENRES, known_genre, word_speakers
from pronominal.adapters.words.windows import windows
from pronominal.spans import Document, Span

UNMARKED = frozenset({".", ",", "!", "?", ":", ";", "'s"})
"""Words that follow another one without a space: RoBERTa's subwords have no space marker."""


@dataclass(frozen=True, slots=True)
class TokenizedDocument:
    """A document as the model reads it.

    Attributes:
        place: its name in messages, such as ``texts[3]``.
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

    def windows(self, capacity: int) -> list[Span]:
        """Return the ranges of subwords that are encoded apart from each other."""
        total = len(self.subwords)
        return list(windows(total, capacity, self.sentence_starts, self.word_starts))

    @property
    def sentence_starts(self) -> list[int]:
        """The first subword of each sentence, and behind them the number of subwords."""
        starts = (self.word_starts[sentence.start] for sentence in self.sentences)
        return [*starts, len(self.subwords)]

    def sentence_of(self, word: int) -> Span:
        """Return the sentence that a word is in."""
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
        """Tokenise one document; `place` is its name in messages.

        `InputError` if the genre is none of `GENRES`, or the speakers are not one for each word.
        """
        words = list(chain.from_iterable(document.words))
        self._learn(words)
        subwords = [self._known[word] for word in words]
        borders = accumulate(map(len, document.words), initial=0)
        speakers, numbers = word_speakers(document, "", place), dict[str, int]()
        return TokenizedDocument(
            place=place,
            subwords=list(chain.from_iterable(subwords)),
            word_starts=list(accumulate(map(len, subwords), initial=0)),
            sentences=[Span(start, end) for start, end in pairwise(borders) if start < end],
            speakers=[numbers.setdefault(speaker, len(numbers)) for speaker in speakers],
            genre=GENRES.index(known_genre(document.genre, RAW_TEXT_GENRE, GENRES, place)),
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
