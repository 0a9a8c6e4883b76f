"""From the server's JSON to spans of the text (``JSONOutputter.java`` upstream)."""

from collections.abc import Mapping, Sequence
from typing import Any

from pronominal.spans import Span


class MisplacedTokenError(ValueError):
    """A token is not the part of the text that its offsets say."""


def clusters_of(answer: Mapping[str, Any], text: str) -> list[list[Span | None]]:
    """Return the chains of an answer as character spans; None for a mention without characters.

    Sentences and tokens count from 1, a mention's ``endIndex`` is the token behind it, and offsets
    count UTF-16 units, as Java does.

    Raises:
        MisplacedTokenError: the tokens are not this text's.
        LookupError, TypeError, ValueError, AttributeError: the answer has another structure.
    """
    characters = _code_points(text)
    sentences = []
    for sentence in answer["sentences"]:
        spans = [_character_span(token, characters) for token in sentence["tokens"]]
        for token, (start, end) in zip(sentence["tokens"], spans, strict=True):
            # the full stop that CoreNLP adds after a final abbreviation has no text
            if token.get("originalText") not in (None, "", text[start:end]):
                raise MisplacedTokenError
        sentences.append(spans)
    return [
        [_mention_span(mention, sentences) for mention in chain]
        for chain in answer["corefs"].values()
    ]


def _mention_span(mention: Mapping[str, Any], sentences: Sequence[Sequence[Span]]) -> Span | None:
    number, first, behind = mention["sentNum"], mention["startIndex"], mention["endIndex"]
    if number < 1 or not 1 <= first < behind:
        raise ValueError("a mention without tokens")
    sentence = sentences[number - 1]
    start, end = sentence[first - 1].start, sentence[behind - 2].end
    return Span(start, end) if start < end else None


def _character_span(token: Mapping[str, Any], characters: Sequence[int]) -> Span:
    begin, end = token["characterOffsetBegin"], token["characterOffsetEnd"]
    if not 0 <= begin <= end < len(characters):
        raise MisplacedTokenError
    start = characters[begin]
    return Span(start, characters[end - 1] + 1 if begin < end else start)


def _code_points(text: str) -> list[int]:
    r"""Return the code point that each UTF-16 unit belongs to, and the text's length.

    >>> _code_points("a\N{SNAIL}b")
    [0, 1, 1, 2, 3]
    """
    units = (1 + (character > "\uffff") for character in text)
    places = [place for place, count in enumerate(units) for _ in range(count)]
    return [*places, len(text)]
