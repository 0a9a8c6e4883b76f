"""From rows with a pronoun to documents with a gold cluster."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pronominal.adapters.bert.mentions import nearest_mention
from pronominal.adapters.words.english import EnglishWords
from pronominal.eval.exchange.gold_conll2012 import AnnotatedDocument
from pronominal.instances import ResolutionInstance
from pronominal.spans import Span


@dataclass(frozen=True, slots=True)
class RowDocument:
    """A row as a document.

    Attributes:
        gold: its text in words, split as the trained system splits raw texts, and one cluster: the
            pronoun and the right candidate's nearest mention.
        places: the characters of each word.
    """

    gold: AnnotatedDocument
    places: Sequence[Span]


class RowReader:
    """Makes documents of rows.

    The gold cluster holds the pronoun and the last mention of the right candidate before it, or
    the first one after it where there is none before. The wrong candidate gets no label: it is
    taught to have no antecedent, as everything outside of gold clusters is.
    """

    def __init__(self) -> None:
        self._words = EnglishWords()

    def read(self, instances: Sequence[ResolutionInstance]) -> list[RowDocument | str]:
        """Return each row as a document, or why it cannot be one, without text of the row."""
        return [self._document(instance) for instance in instances]

    def _document(self, instance: ResolutionInstance) -> RowDocument | str:
        if not instance.candidates[instance.label].located:
            return "the right candidate is not in the text"
        document, places = self._words.read(instance.text)
        starts = {place.start: word for word, place in enumerate(places)}
        ends = {place.end: word + 1 for word, place in enumerate(places)}
        spans = []
        mention = nearest_mention(instance, instance.label)
        for name, (start, end) in (("pronoun", instance.pronoun.span), ("candidate", mention)):
            if start not in starts or end not in ends:
                return f"the {name} does not begin and end with a word"
            spans.append(Span(starts[start], ends[end]))
        # each system has a genre of its own for what says none
        return RowDocument(
            AnnotatedDocument(replace(document, genre=None), [sorted(spans)]), places
        )
