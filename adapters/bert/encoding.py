"""From instances to the subwords that a classifier reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pronominal.adapters.bert.mentions import first_mentioned, nearest_mention, with_placeholders
from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.checkpoints.transformers_models import special_tokens
from pronominal.instances import ResolutionInstance
from pronominal.spans import Span


@dataclass(frozen=True, slots=True)
class EncodedInstance:
    """One instance in subwords.

    Attributes:
        sequences: ids with special tokens: one for ``span``; for ``cls`` one for each candidate.
        spans: half-open ranges in the sequences: for ``span`` both candidates and the pronoun;
            for ``cls`` the substituted candidate in each copy.
        first: index of the candidate that is mentioned first.
        label: index of the right candidate.
    """

    sequences: tuple[tuple[int, ...], ...]
    spans: tuple[Span, ...]
    first: int
    label: int

    @property
    def length(self) -> int:
        """Number of subwords of the longest sequence."""
        return max(map(len, self.sequences))


class Unencodable(ValueError):  # noqa: N818 - a property of the instance, not a mistake
    """An instance that a classifier cannot read; `reason` is a phrase without its text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text to encode, what a window of it must hold, and what of that is looked up afterwards."""

    text: str
    kept: tuple[Span, ...]
    marked: tuple[Span, ...]


class InstanceEncoder:
    """Encodes instances for a classifier.

    A text that is longer than the encoder takes is cut to a window around both candidates and
    the pronoun.
    """

    def __init__(self, tokenizer: Any, classifier: Classifier) -> None:
        self.tokenizer = tokenizer
        self.classifier = classifier
        self._opening, self._closing = special_tokens(tokenizer)

    def encode(
        self, instances: Sequence[ResolutionInstance]
    ) -> list[EncodedInstance | Unencodable]:
        """Encode each instance, or say why that is impossible."""
        readings = [self._readings(instance) for instance in instances]
        texts = [one.text for r in readings if not isinstance(r, Unencodable) for one in r]
        tokenized = iter(self._tokenize(texts))
        encoded: list[EncodedInstance | Unencodable] = []
        for instance, reading in zip(instances, readings, strict=True):
            try:
                if isinstance(reading, Unencodable):
                    raise reading
                subwords = [next(tokenized) for _ in reading]
                encoded.append(self._encoded(instance, reading, subwords))
            except Unencodable as refusal:
                encoded.append(refusal)
        return encoded

    def _readings(self, instance: ResolutionInstance) -> tuple[_Reading, ...] | Unencodable:
        for index, candidate in enumerate(instance.candidates):
            if not candidate.located:
                return Unencodable(f"candidate {index} is not in the text")
        if not instance.pronoun.located:
            return Unencodable("the pronoun is not in the text")
        if self.classifier.placeholder_names:
            renamed = with_placeholders(instance)
            if renamed is None:
                return Unencodable("a candidate is marked inside a longer word, and keeps its name")
            instance = renamed
        pronoun = instance.pronoun.span
        mentions = tuple(nearest_mention(instance, index) for index in (0, 1))
        if self.classifier.scorer == "span":
            places = (*mentions, pronoun)
            return (_Reading(instance.text, places, places),)
        return tuple(
            _substituted(instance.text, mentions, pronoun, candidate.text)
            for candidate in instance.candidates
        )

    def _tokenize(self, texts: Sequence[str]) -> list[tuple[list[int], list[Span]]]:
        if not texts:
            return []
        batch = self.tokenizer(
            list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        return [
            (ids, [Span(*offsets) for offsets in mapping])
            for ids, mapping in zip(batch["input_ids"], batch["offset_mapping"], strict=True)
        ]

    def _encoded(
        self,
        instance: ResolutionInstance,
        readings: Sequence[_Reading],
        subwords: Sequence[tuple[list[int], list[Span]]],
    ) -> EncodedInstance:
        sequences, spans = [], []
        for reading, (ids, offsets) in zip(readings, subwords, strict=True):
            window = self._window(len(ids), [_covering(one, offsets) for one in reading.kept])
            shift = len(self._opening) - window.start
            sequences.append((*self._opening, *ids[window.start : window.end], *self._closing))
            for place in reading.marked:
                start, end = _covering(place, offsets)
                spans.append(Span(start + shift, end + shift))
        return EncodedInstance(
            tuple(sequences), tuple(spans), first_mentioned(instance), instance.label
        )

    def _window(self, length: int, kept: Sequence[Span]) -> Span:
        """Return the range of subwords to read: all, or as much as fits around those to keep."""
        room = self.classifier.max_length - len(self._opening) - len(self._closing)
        if length <= room:
            return Span(0, length)
        first, last = min(one.start for one in kept), max(one.end for one in kept)
        if last - first > room:
            raise Unencodable(
                f"the candidates and the pronoun lie {last - first} subwords apart, "
                f"and {room} fit into a window"
            )
        start = min(max(0, first - (room - (last - first)) // 2), length - room)
        return Span(start, start + room)


def _substituted(text: str, mentions: tuple[Span, ...], pronoun: Span, name: str) -> _Reading:
    """Put a name into the pronoun's place; a possessive becomes the bare name, as upstream's."""
    place = Span(pronoun.start, pronoun.start + len(name))
    shift = place.end - pronoun.end
    kept = [Span(m.start + shift, m.end + shift) if m.start >= pronoun.end else m for m in mentions]
    return _Reading(text[: pronoun.start] + name + text[pronoun.end :], (*kept, place), (place,))


def _covering(place: Span, offsets: Sequence[Span]) -> Span:
    """Return the subwords that a place in the text touches."""
    touched = [
        index
        for index, (start, end) in enumerate(offsets)
        if start < place.end and place.start < end
    ]
    if not touched:
        raise Unencodable("a mention has no subwords in this tokenizer")
    return Span(touched[0], touched[-1] + 1)
