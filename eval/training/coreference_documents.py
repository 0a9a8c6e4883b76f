"""From rows with a pronoun to documents with a gold cluster, with everything left out named."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pronominal.adapters.bert.mentions import nearest_mention
from pronominal.adapters.c2f.learning.documents import TrainingDocument
from pronominal.adapters.c2f.learning.training import Trainee
from pronominal.adapters.words.english import EnglishWords
from pronominal.eval.exchange.gold_conll2012 import AnnotatedDocument
from pronominal.eval.training.left_out import LeftOut
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Document, Span
from pronominal.switching import SAME_NAME, Unswitchable, switch


@dataclass(frozen=True, slots=True)
class RowDocument:
    """A row as a document.

    Attributes:
        instance: the row.
        document: its text in words, split as the trained system splits raw texts.
        places: the characters of each word.
        cluster: the pronoun and the right candidate's nearest mention, in words.
        version: ``original`` or ``switched``.
    """

    instance: ResolutionInstance
    document: Document
    places: Sequence[Span]
    cluster: Cluster
    version: str = "original"


class RowReader:
    """Makes documents of rows.

    The gold cluster holds the pronoun and the last mention of the right candidate before it, or
    the first one after it where there is none before. The wrong candidate gets no label: it is
    taught to have no antecedent, as everything outside of gold clusters is.

    Args:
        genre: that the documents get.
    """

    def __init__(self, genre: str | None) -> None:
        self._genre = genre
        self._words = EnglishWords()

    def read(self, instance: ResolutionInstance) -> RowDocument | str:
        """Return a row as a document, or why it cannot be one, without text of the row."""
        if instance.label not in (0, 1):
            return "neither candidate is right"
        if len({candidate.text for candidate in instance.candidates}) < 2:
            return SAME_NAME
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
        return RowDocument(instance, replace(document, genre=self._genre), places, sorted(spans))


def row_documents(
    rows: Sequence[ResolutionInstance], reader: RowReader, split: str, *, switching: bool = False
) -> tuple[list[RowDocument], list[LeftOut]]:
    """Make documents of rows, and of their switched versions if those are wanted.

    Returns:
        The rows in order, then the switched versions; and what is left out.
    """
    versions: dict[str, list[RowDocument]] = {"original": [], "switched": []}
    left_out = []
    for instance in rows:
        found = reader.read(instance)
        if isinstance(found, str):
            left_out.append(LeftOut(split, instance.id, "original", found))
            continue
        versions["original"].append(found)
        other = _switched(instance, reader) if switching else None
        if isinstance(other, str):
            left_out.append(LeftOut(split, instance.id, "switched", other))
        elif other is not None:
            versions["switched"].append(replace(other, version="switched"))
    return versions["original"] + versions["switched"], left_out


def with_units(
    documents: Sequence[RowDocument | AnnotatedDocument], trainee: Trainee
) -> list[TrainingDocument]:
    """Return documents as a system reads them."""
    found = []
    for number, one in enumerate(documents):
        clusters = [one.cluster] if isinstance(one, RowDocument) else one.clusters
        units = trainee.units(one.document, f"document {one.document.key or number}")
        found.append(TrainingDocument.of(one.document, units, clusters))
    return found


def _switched(instance: ResolutionInstance, reader: RowReader) -> RowDocument | str:
    try:
        return reader.read(switch(instance))
    except Unswitchable as refusal:
        return refusal.reason
