"""Which row each document of a file is about, and what the file says of it."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pronominal.adapters.contract.systems import contract_clusters
from pronominal.adapters.lm.prompting.answers import named_by_upstream
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.exchange.alignment import MisalignedError, character_places, places, skeleton
from pronominal.eval.exchange.documents import PredictedDocument, id_of
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Span

Answer = list[Cluster] | Decision
"""Clusters in characters, or the decision where the format has no clusters."""


@dataclass(slots=True)
class Matched:
    """What a file says of the rows of a split.

    Attributes:
        answers: what there is to each id.
        failed: id -> why it has no answer, ``"misaligned"`` or ``"missing"``.
        left_out: how many documents are about none of the rows.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    left_out: int = 0

    def knows(self, name: str) -> bool:
        """Say whether a document was about this row."""
        return name in self.answers or name in self.failed


def matched(
    instances: Iterable[ResolutionInstance],
    documents: Iterable[PredictedDocument],
    file: Path,
    *,
    skip_failed: bool = False,
) -> Matched:
    """Match documents with rows: by key where it stands for an id, else by the text's letters.

    Of several rows with the same letters, the first document is about the first row. With
    `skip_failed`, what cannot be matched is counted; otherwise it is an `InputError` if a document
    is about none of the rows, or about one that was answered before, if its words are not those of
    the row's text, or if a row is left without an answer.
    """
    rows = {instance.id: instance for instance in instances}
    by_letters: defaultdict[str, deque[str]] = defaultdict(deque)
    for instance in rows.values():
        by_letters[skeleton(instance.text)].append(instance.id)
    matches = Matched()
    for document in documents:
        name = id_of(document.key, rows)
        if name is None:
            waiting = by_letters[skeleton(document.text)]
            while waiting and matches.knows(waiting[0]):
                waiting.popleft()
            name = waiting[0] if waiting else None
        fault = _add(matches, document, name, rows)
        if fault is not None and not skip_failed:
            place = document.place if name is None else f"{document.place}, id {name}"
            cure = "give the system's output for these rows, or add --skip-failed"
            raise InputError(fault, cure=cure, file=file, row=place)
    missing = [name for name in rows if not matches.knows(name)]
    if missing and not skip_failed:
        cause = (
            f"{len(missing)} of {len(rows)} rows have no answer, the first one is id {missing[0]}"
        )
        cure = "give the system's whole output, or add --skip-failed"
        raise InputError(cause, cure=cure, file=file)
    matches.failed |= dict.fromkeys(missing, "missing")
    return matches


def _add(
    matches: Matched,
    document: PredictedDocument,
    name: str | None,
    rows: Mapping[str, ResolutionInstance],
) -> str | None:
    """Take in what a document says; return why that is impossible, if it is."""
    if name is None:
        matches.left_out += 1
        return "its key is no id, and its text that of no row or of one that has an answer"
    if matches.knows(name):
        matches.left_out += 1
        return "the row has an answer already"
    try:
        matches.answers[name] = _answer(rows[name], document)
    except MisalignedError as error:
        matches.failed[name] = "misaligned"
        return f"from its word {error.word + 1} on, it is not the row's text"
    return None


def _answer(instance: ResolutionInstance, document: PredictedDocument) -> Answer:
    if document.answer is not None:
        nouns = [candidate.text for candidate in instance.candidates]
        return Decision.among(named_by_upstream(document.answer, nouns))
    if not isinstance(document.content, str):
        words = places(document.content, instance.text)
        placed = [[_from_to(words[s], words[e - 1]) for s, e in c] for c in document.clusters]
    elif document.content == instance.text:
        placed = document.clusters
    else:
        placed = _moved(document.clusters, character_places(document.content, instance.text))
    # a word may stand for nothing that can be seen
    return contract_clusters([[s for s in c if s.start < s.end] for c in placed])


def _moved(clusters: Iterable[Cluster], place: Mapping[int, Span]) -> list[list[Span]]:
    """Move spans to where their characters are; borders of white space are left off."""
    drawn = [[[place[i] for i in range(*span) if i in place] for span in c] for c in clusters]
    return [[_from_to(span[0], span[-1]) for span in cluster if span] for cluster in drawn]


def _from_to(first: Span, last: Span) -> Span:
    return Span(first.start, last.end)
