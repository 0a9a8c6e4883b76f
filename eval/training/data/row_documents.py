"""From rows with a pronoun to documents with a gold cluster."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pronominal.adapters.bert.mentions import nearest_mention
from pronominal.adapters.words.english import EnglishWords
from pronominal.instances import ResolutionInstance
from pronominal.spans import AnnotatedDocument, Span


@dataclass(frozen=True, slots=True)
class RowDocument:
    """A row as a document.

    Attributes:
        gold: its text in words, split as the trained system splits raw texts. Its first cluster
            has the pronoun and the right candidate's nearest mention; each wrong candidate's
            nearest mention is one of its own.
        places: the characters of each word.
    """

    gold: AnnotatedDocument
    places: Sequence[Span]


class RowReader:
    """Makes documents of rows.

    The mention of a candidate is its last one before the pronoun, or the first one after it where
    there is none before.

    Args:
        complete: whether what a row says nothing of is known to corefer with nothing.
    """

    def __init__(self, *, complete: bool = False) -> None:
        self._words = EnglishWords()
        self._complete = complete

    def read(self, instances: Sequence[ResolutionInstance]) -> list[RowDocument | str]:
        """Return each row as a document, or why it cannot be one, without text of the row."""
        return [self._document(instance) for instance in instances]

    def _document(self, instance: ResolutionInstance) -> RowDocument | str:
        if not instance.candidates[instance.label].located:
            return "the right candidate is not in the text"
        document, places = self._words.read(instance.text)
        starts = {place.start: word for word, place in enumerate(places)}
        ends = {place.end: word + 1 for word, place in enumerate(places)}

        def in_words(span: Span) -> Span | None:
            whole = span.start in starts and span.end in ends
            return Span(starts[span.start], ends[span.end]) if whole else None

        spans = []
        mentions = [nearest_mention(instance, index) for index in range(len(instance.candidates))]
        right = mentions.pop(instance.label)
        for name, place in (("pronoun", instance.pronoun.span), ("candidate", right)):
            span = in_words(place)
            if span is None:
                return f"the {name} does not begin and end with a word"
            spans.append(span)
        others = {in_words(place) for place in mentions} - {None, *spans}
        clusters = [sorted(spans), *([span] for span in others if span is not None)]
        # each system has a genre of its own for what says none
        gold = AnnotatedDocument(replace(document, genre=None), clusters, complete=self._complete)
        return RowDocument(gold, places)
