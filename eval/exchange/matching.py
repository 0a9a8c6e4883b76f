"""Which row each document of a file is about, and what the file says of it."""

from collections import deque
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


def matched(
    instances: Iterable[ResolutionInstance],
    documents: Iterable[PredictedDocument],
    file: Path,
    *,
    skip_failed: bool = False,
) -> Matched:
    """Match documents with rows: by key where it stands for an id, else by the text's letters.

    Of several rows with the same letters, the first document is about the first row.

    Args:
        instances: the rows.
        documents: the file's documents.
        file: named in messages.
        skip_failed: whether to count what cannot be matched, instead of refusing the file.

    Raises:
        InputError: a document is about none of the rows, or about one that was answered before;
            its words are not those of the row's text; or a row is left without an answer.
    """
    rows = {instance.id: instance for instance in instances}
    texts = _Texts(rows)
    found = Matched()
    for document in documents:
        name = id_of(document.key, rows) or texts.next_id(document.text, found)
        fault = _add(found, document, name, rows)
        if fault is not None and not skip_failed:
            place = document.place if name is None else f"{document.place}, id {name}"
            cure = "give the system's output for these rows, or add --skip-failed"
            raise InputError(fault, cure=cure, file=file, row=place)
    missing = [name for name in rows if name not in found.answers and name not in found.failed]
    if missing and not skip_failed:
        raise InputError(
            f"{len(missing)} of {len(rows)} rows have no answer, the first one is id {missing[0]}",
            cure="give the system's whole output, or add --skip-failed",
            file=file,
        )
    found.failed |= dict.fromkeys(missing, "missing")
    return found


def _add(
    found: Matched,
    document: PredictedDocument,
    name: str | None,
    rows: Mapping[str, ResolutionInstance],
) -> str | None:
    """Take in what a document says; return why that is impossible, if it is."""
    if name is None:
        found.left_out += 1
        return "its key is no id, and its text that of no row or of one that has an answer"
    if name in found.answers or name in found.failed:
        found.left_out += 1
        return "the row has an answer already"
    try:
        found.answers[name] = _answer(rows[name], document)
    except MisalignedError as error:
        found.failed[name] = "misaligned"
        return f"from its word {error.word + 1} on, it is not the row's text"
    return None


class _Texts:
    """Finds rows by the letters of their texts."""

    def __init__(self, rows: Mapping[str, ResolutionInstance]) -> None:
        self._rows = rows
        self._ids: dict[str, deque[str]] | None = None

    def next_id(self, text: str, found: Matched) -> str | None:
        """Return the first row with these letters that has no answer yet."""
        if self._ids is None:
            self._ids = {}
            for name, instance in self._rows.items():
                self._ids.setdefault(skeleton(instance.text), deque()).append(name)
        waiting = self._ids.get(skeleton(text), deque())
        while waiting and (waiting[0] in found.answers or waiting[0] in found.failed):
            waiting.popleft()
        return waiting[0] if waiting else None


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
