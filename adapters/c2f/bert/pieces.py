"""Words to word pieces, and word pieces to the segments that BERT reads.

The same as ``minimize.py`` of mandarjoshi90/coref and ``preprocess.py`` of lxucs/coref-hoi, which
agree; where these stop with an error, a stated choice is made.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from pronominal.adapters.c2f.head.units import FRAME_SPEAKER, Units, inside_frame, word_span
from pronominal.adapters.words.ontonotes import SLASHED, word_speakers
from pronominal.adapters.words.windows import oversized, windows
from pronominal.errors import InputError
from pronominal.json_files import read_object, write_json
from pronominal.spans import Document, Span

OPENING, CLOSING, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"

VOCABULARIES = ("vocab.txt", "tokenizer.json")
"""Where a model's pieces may be, the published models' own file first."""

CURE = "add the model's vocab.txt"

FRAME = 2
"""Units of a segment that are [CLS] and [SEP]."""

NO_SPEAKER = "-"
"""Who says the words of a document without speakers, as in CoNLL-2012."""

CONTINUED = "##"
"""What a piece begins with that goes on inside a word."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The word pieces of a document, without [CLS] and [SEP]; all have one entry for each piece.

    Attributes:
        strings: the pieces.
        words: number of the word that each is a part of.
        sentences: number of the sentence of each.
        speakers: who says each.
    """

    strings: list[str]
    words: list[int]
    sentences: list[int]
    speakers: list[str]


class WordPieces:
    """BERT's tokenizer, without special tokens: a word that spells one is read as characters.

    Args:
        vocabulary: ``vocab.txt``, one piece a line, or ``tokenizer.json``, as transformers 5 saves
            one.
        lowercase: whether the model is an uncased one; none of the published ones is. None is what
            ``tokenizer.json`` says.
    """

    def __init__(self, vocabulary: Path, *, lowercase: bool | None = None) -> None:
        self.numbers, uncased = _read(vocabulary)
        self.lowercase = uncased if lowercase is None else bool(lowercase)
        for piece in (OPENING, CLOSING, UNKNOWN):
            if piece not in self.numbers:
                raise InputError(f"there is no {piece}", cure=CURE, file=vocabulary)
        self._tokenizer = Tokenizer(WordPiece(self.numbers, unk_token=UNKNOWN))
        self._tokenizer.normalizer = BertNormalizer(
            lowercase=self.lowercase, strip_accents=self.lowercase
        )
        self._tokenizer.pre_tokenizer = BertPreTokenizer()
        self._known: dict[str, list[str]] = {}

    @classmethod
    def of_checkpoint(cls, folder: Path) -> "WordPieces":
        """Read ``vocab.txt`` or else ``tokenizer.json``, and ``tokenizer_config.json`` if any."""
        config = folder / "tokenizer_config.json"
        given = (
            read_object(config, cure="drop it if the model is cased") if config.is_file() else {}
        )
        names = (name for name in VOCABULARIES if (folder / name).is_file())
        vocabulary = folder / next(names, VOCABULARIES[0])
        return cls(vocabulary, lowercase=given.get("do_lower_case"))

    def save(self, folder: Path) -> None:
        """Write what `of_checkpoint` reads."""
        pieces = sorted(self.numbers, key=self.numbers.__getitem__)
        vocabulary = "".join(f"{piece}\n" for piece in pieces)
        (folder / "vocab.txt").write_text(vocabulary, encoding="utf-8", newline="\n")
        write_json(folder / "tokenizer_config.json", {"do_lower_case": self.lowercase})

    def of_word(self, word: str) -> list[str]:
        """Return the pieces of one word; none for one of control characters or white space."""
        if word not in self._known:
            self._known[word] = self._tokenizer.encode(word).tokens
        return self._known[word]

    def of_text(self, text: str) -> tuple[list[str], list[Span]]:
        """Return the pieces of a text and the characters of each."""
        encoding = self._tokenizer.encode(text)
        return encoding.tokens, [Span(*place) for place in encoding.offsets]

    def read(self, document: Document, place: str) -> Pieces:
        """Cut the words of a document into pieces, one at a time.

        `place` is the document's name in messages, such as ``documents[3]``; `InputError` if the
        speakers are not one for each word.
        """
        sentence_of = (n for n, sentence in enumerate(document.words) for _ in sentence)
        speakers = word_speakers(document, NO_SPEAKER, place)
        said = zip(chain(*document.words), sentence_of, speakers, strict=True)
        rows = [
            (piece, number, sentence, speaker)
            for number, (word, sentence, speaker) in enumerate(said)
            for piece in self.of_word(SLASHED.get(word, word))
        ]
        strings, words, sentences, of_pieces = (
            map(list, zip(*rows, strict=True)) if rows else ([],) * 4
        )
        return Pieces(strings, words, sentences, of_pieces)


def segments(pieces: Pieces, capacity: int) -> list[Span]:
    """Cut a document into the pieces that are encoded apart from each other.

    Where a word alone is too long, upstream gives up; here it is cut.
    """
    borders = (_starts(pieces.sentences), _starts(pieces.words))
    return list(windows(len(pieces.strings), capacity, *borders))


def framed(pieces: Pieces, cut: Sequence[Span], genre: str | None, key: str | None) -> Units:
    """Put [CLS] and [SEP] around segments, with the numbers that upstream gives them.

    [CLS] belongs to the word of the piece before it, which is in the segment before, and [SEP]
    likewise. Sentences are counted behind their last piece, so that a [SEP] behind the end of a
    sentence is in the next one.
    """
    strings, speakers, words = [], [], []
    sentences, numbers = [], []
    last_word = sentence = 0
    for number, (start, end) in enumerate(cut):
        strings += [OPENING, *pieces.strings[start:end], CLOSING]
        speakers += [FRAME_SPEAKER, *pieces.speakers[start:end], FRAME_SPEAKER]
        words += [last_word, *pieces.words[start:end], pieces.words[end - 1]]
        last_word = pieces.words[end - 1]
        sentences.append(sentence)
        for piece in range(start, end):
            sentences.append(sentence)
            sentence += _ends(pieces.sentences, piece)
        sentences.append(sentence)
        numbers += [number] * (end - start + FRAME)
    return Units(strings, sentences, numbers, speakers, words, genre, key)


def oversized_sentences(pieces: Pieces, capacity: int) -> dict[int, int]:
    """Return the sentences that no segment holds: their number and their length in pieces."""
    starts = _starts(pieces.sentences)
    lengths = oversized([*starts, len(pieces.strings)], capacity)
    return {pieces.sentences[starts[place]]: length for place, length in lengths.items()}


def _starts(numbers: Sequence[int]) -> list[int]:
    return [place for place in range(len(numbers)) if place == 0 or _ends(numbers, place - 1)]


def _ends(numbers: Sequence[int], piece: int) -> bool:
    return piece + 1 == len(numbers) or numbers[piece] != numbers[piece + 1]


def _read(vocabulary: Path) -> tuple[dict[str, int], bool]:
    """Return the number of each piece, and whether the file says that the model is uncased."""
    try:
        content = vocabulary.read_text(encoding="utf-8")
        if vocabulary.suffix != ".json":
            lines = content.removesuffix("\n").split("\n")
            return {line.rstrip("\r"): number for number, line in enumerate(lines)}, False
        tokenizer = json.loads(content)
        model, normalizer = tokenizer["model"], tokenizer.get("normalizer") or {}
        if model["type"] != "WordPiece":
            raise ValueError(f"it holds a {model['type']} vocabulary")
        numbers = {str(piece): int(number) for piece, number in model["vocab"].items()}
        lowercase = bool(normalizer.get("lowercase", False))
    except (
        *(OSError, ValueError, KeyError, TypeError, AttributeError),
        *(OverflowError, RecursionError),
    ) as error:
        raise InputError("no word pieces could be read", cure=CURE, file=vocabulary) from error
    if sorted(numbers.values()) != list(range(len(numbers))):
        raise InputError("its pieces are not numbered from 0 on", cure=CURE, file=vocabulary)
    return numbers, lowercase


@dataclass(frozen=True, slots=True)
class PieceText:
    """A raw text, cut into pieces, with the characters of each word by its number."""

    units: Units
    places: Sequence[Span]


def character_span(text: PieceText, span: Span) -> Span | None:
    """Return the characters of the words that a span has pieces of; None for [CLS] or [SEP]."""
    inner = inside_frame(text.units, span)
    if inner is None:
        return None
    words = word_span(text.units, inner)
    return Span(text.places[words.start].start, text.places[words.end - 1].end)


def is_widened(units: Units, span: Span) -> bool:
    """Say whether a span begins or ends inside a word."""
    inner = inside_frame(units, span)
    if inner is None:
        return False
    return _same_word(units, inner.start - 1, inner.start) or _same_word(
        units, inner.end - 1, inner.end
    )


def read_as_winopron(text: str, tokenizer: WordPieces) -> PieceText:
    """Cut a text into pieces as the WinoPron authors did (``convert_for_spanbert.py``).

    One segment and one sentence, [SEP] included, for any length; every piece without ``##``
    is a new word, so that punctuation and parts of contractions are words; the genre is unknown.
    """
    pieces, characters = tokenizer.of_text(text)
    words: list[int] = []
    places: list[Span] = []
    for piece, place in zip(pieces, characters, strict=True):
        if places and piece.startswith(CONTINUED):
            places[-1] = Span(places[-1].start, place.end)
        else:
            places.append(place)
        words.append(len(places) - 1)
    length = len(pieces) + 2
    units = Units(
        strings=[OPENING, *pieces, CLOSING],
        sentences=[0] * length,
        segments=[0] * length,
        speakers=[FRAME_SPEAKER, *[NO_SPEAKER] * len(pieces), FRAME_SPEAKER],
        words=[0, *words, words[-1] if words else 0],
    )
    return PieceText(units, places)


def _same_word(units: Units, one: int, other: int) -> bool:
    return (
        one >= 0
        and other < len(units)
        and FRAME_SPEAKER not in (units.speakers[one], units.speakers[other])
        and units.words[one] == units.words[other]
    )
