"""Distillation: a small system learns what a large one finds in text that nobody has annotated.

The recipe of FCoref (Otmazgin et al., 2022): the teacher's clusters are taken for gold. They are
written once, as fastcoref's JSON lines, and trained on as any other documents.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pronominal.adapters.contract.answers import as_clusters
from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.adapters.contract.systems import ClusteringSystem
from pronominal.adapters.words.english import EnglishWords
from pronominal.atomic import held_folder
from pronominal.checksums import file_sha256
from pronominal.dataset_scripts.construction.inputs import documents, shards
from pronominal.errors import THIRD_PARTY_ERRORS, InputError
from pronominal.eval.runs.asked_systems import parse_systems
from pronominal.eval.runs.runner import CHUNK
from pronominal.eval.training.data.reading import read_data
from pronominal.eval.training.data.request import DataRequest, DistillationRequest
from pronominal.eval.training.data.rows import TrainingData
from pronominal.json_files import read_object, write_json
from pronominal.spans import Cluster, Span

LABELS = "teacher.jsonl"
"""The texts with the teacher's clusters."""

STATE = "teacher.json"
"""Which teacher and texts these are, and how far it has come."""

Progress = Callable[[str], AbstractContextManager[Callable[[int], None]]]
"""Shows a task of unknown length, and is told how many texts are done."""


def label_texts(asked: DistillationRequest, out: Path, progress: Progress) -> dict[str, int]:
    """Write the teacher's clusters in the texts, going on where it was stopped.

    Returns:
        How many ``texts`` it read, how many have clusters (``with_clusters``), their ``mentions``,
        those that were left out because they begin or end inside a word (``mentions_in_words``),
        the texts at which it ``failed``, and what else could not be read.

    Raises:
        InputError: the teacher does not give clusters or finds none, a file cannot be read, or the
            folder holds the labels of another teacher or of other texts.
    """
    [teacher] = parse_systems([asked.teacher])
    files = dict.fromkeys(shard.path for shard in shards(asked.text))
    identity = {
        "teacher": teacher.name,
        "checkpoint": teacher.checkpoint,
        "field": asked.field,
        "texts": [file_sha256(file) for file in files],
    }
    out.mkdir(parents=True, exist_ok=True)
    with held_folder(out):
        state = _state(out, identity)
        if not state["complete"]:
            system = teacher.load()
            if not isinstance(system, ClusteringSystem):
                cause = f"{teacher.name} gives no clusters to learn from"
                raise InputError(cause, cure="take a clustering system ('pronominal systems')")
            with progress(f"labels of {teacher.label}") as done:
                _label(system, asked, out, state, done)
    counts: dict[str, int] = state["counts"]
    if not counts.get("with_clusters"):
        cause = f"{teacher.name} finds no clusters in these texts"
        raise InputError(cause, cure="give texts in which somebody is mentioned twice")
    return counts


def labelled_data(asked: DistillationRequest, out: Path) -> TrainingData:
    """Read what `label_texts` wrote; `InputError` where too few texts are there."""
    labels = f"fastcoref:{out / LABELS}"
    return read_data(DataRequest(data=[labels], validation_share=asked.validation_share))


def _state(out: Path, identity: dict[str, Any]) -> dict[str, Any]:
    if not (out / STATE).exists():
        return {**identity, "complete": False, "documents": 0, "bytes": 0, "counts": {}}
    state = read_object(out / STATE, cure="remove the folder to begin again")
    for key, value in identity.items():
        if state.get(key) != value:
            cause = f"the folder holds labels with another {key}"
            raise InputError(cause, cure="choose another --out", file=out / STATE)
    return state


def _label(
    teacher: ClusteringSystem,
    asked: DistillationRequest,
    out: Path,
    state: dict[str, Any],
    done: Callable[[int], None],
) -> None:
    """Append labels chunk by chunk; the state says how many bytes of them are whole."""
    unreadable: Counter[str] = Counter()
    read = chain.from_iterable(
        documents(shard, asked.field, unreadable) for shard in shards(asked.text)
    )
    texts = ((place, text.strip()) for place, text in read if text.strip())
    left, english = islice(texts, state["documents"], None), EnglishWords()
    with (out / LABELS).open("ab") as file:
        file.truncate(state["bytes"])
        while chunk := [*islice(left, CHUNK)]:
            counts = Counter(state["counts"])
            for line in _lines(teacher, chunk, english, counts):
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
            state |= {"bytes": file.tell(), "counts": dict(counts)}
            state["documents"] += len(chunk)
            write_json(out / STATE, state)
            done(state["documents"])
    state |= {"complete": True, "counts": {**state["counts"], **unreadable}}
    write_json(out / STATE, state)


def _lines(
    teacher: ClusteringSystem,
    chunk: Sequence[tuple[str, str]],
    english: EnglishWords,
    counts: Counter[str],
) -> Iterator[bytes]:
    """Yield a text with its clusters as a line of JSON, and count what is in it."""
    for (place, text), clusters in zip(chunk, _clusters(teacher, chunk), strict=True):
        counts["texts"] += 1
        if clusters is None:
            counts["failed"] += 1
            continue
        whole = _of_whole_words(clusters, english.read(text)[1])
        counts["with_clusters"] += bool(whole)
        counts["mentions"] += sum(map(len, whole))
        counts["mentions_in_words"] += sum(map(len, clusters)) - sum(map(len, whole))
        line = {"doc_key": place, "text": text, "clusters": whole}
        yield json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _clusters(
    teacher: ClusteringSystem, chunk: Sequence[tuple[str, str]]
) -> list[list[Cluster] | None]:
    """Return the clusters of each text; None for one that the teacher cannot read."""
    try:
        answers = teacher.cluster([text for _, text in chunk])
    except (FailedCallError, RefusedTextError, *THIRD_PARTY_ERRORS):
        if len(chunk) == 1:
            return [None]
        return [answer for one in chunk for answer in _clusters(teacher, [one])]
    return [as_clusters(answer) for answer in answers]


def _of_whole_words(clusters: Sequence[Cluster], places: Sequence[Span]) -> list[list[list[int]]]:
    """Return the clusters' mentions that begin and end with words, where two are left."""
    starts, ends = {place.start for place in places}, {place.end for place in places}
    whole = [
        [[*span] for span in cluster if span.start in starts and span.end in ends]
        for cluster in clusters
    ]
    return [cluster for cluster in whole if len(cluster) > 1]
