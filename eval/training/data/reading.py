"""From what a user says of the data of a training to the data."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.exchange.gold_caw import read_caw
from pronominal.eval.exchange.gold_conll2012 import read_conll
from pronominal.eval.exchange.gold_coref_jsonl import read_coref_jsonl
from pronominal.eval.exchange.gold_corefud import read_corefud
from pronominal.eval.exchange.gold_fastcoref import read_fastcoref
from pronominal.eval.training.data.request import DataRequest
from pronominal.eval.training.data.rows import (
    TrainingData,
    held_out,
    joined,
    own_data,
    own_tests,
    published_data,
)
from pronominal.spans import AnnotatedDocument

READERS: dict[str, Callable[[Path], list[AnnotatedDocument]]] = {
    "caw": read_caw,
    "conll": read_conll,
    "corefud": read_corefud,
    "fastcoref": read_fastcoref,
    "jsonlines": read_coref_jsonl,
}
"""How documents are read, by the word before the colon in ``--data KIND:PATH``."""


def read_data(request: DataRequest) -> TrainingData:
    """Read the data that a user asks for.

    Raises:
        InputError: a name is unknown, a file cannot be read, something given would have no
            effect, or nothing is there to learn from or to stop by.
    """
    rows, named = _parted(request.data)
    held_rows, held_named = _parted(request.validation or ())
    _refuse_unused(request, rows, held_rows, held=bool(held_rows if rows else held_named))
    documents, digests = _read_documents(named)
    stopping, stopping_digests = _read_documents(held_named)
    share = request.validation_share
    share = request.usual_validation_share if share is None else share
    if not rows and not stopping:
        if len(documents) < 2:
            raise InputError(
                "fewer than two documents to learn from and to stop by",
                cure="give more, or others to stop by as --validation conll:PATH",
            )
        count = min(max(1, round(len(documents) * share)), len(documents) - 1)
        documents, stopping = held_out(documents, count)
        digests["held_out"] = str(share)
    learnt = _read_rows(request, rows, held_rows, share)
    names = (d.partition(":")[0] if _names_documents(d) else Path(d).stem for d in request.data)
    held_digests = {f"validation:{name}": digest for name, digest in stopping_digests.items()}
    return replace(
        learnt,
        name="+".join(names),
        documents=documents,
        validation_documents=stopping,
        digests={**digests, **learnt.digests, **held_digests},
    )


def _read_rows(
    request: DataRequest, rows: Sequence[str], held: Sequence[str], share: float
) -> TrainingData:
    """Read sets of rows; rows to stop by and to test on that are a user's belong to their own."""
    stopping = Path(held[0]) if held else None
    return joined({
        Path(one).stem: own_data(Path(one), stopping, request.test, share)
        if _is_file(one)
        else published_data(one, request.dataset, request.sources)
        for one in rows
    })  # fmt: skip


def _refuse_unused(
    request: DataRequest, rows: Sequence[str], held_rows: Sequence[str], *, held: bool
) -> None:
    """Refuse options that belong to another kind of data than what is learnt, or not to one."""
    own = [one for one in rows if _is_file(one)]
    published = [one for one in rows if one not in own]
    for option, value, used in (
        ("--dataset", request.dataset, published),
        ("--sources", request.sources, published),
        ("--validation", held_rows[0] if held_rows else None, own),
        ("--validation-share", request.validation_share, (own or not rows) and not held),
        ("--test", request.test, own),
    ):
        if value is not None and not used:
            learnt = " and ".join(rows) or "documents alone"
            cause = f"{option} {value} has no effect on a training on {learnt}"
            raise InputError(cause, cure="leave it out")
    for option, given, of_which in (
        ("--data", own, "files of own rows"),
        ("--validation", held_rows, "files of rows"),
        ("--data", published if request.dataset else (), "datasets with one --dataset"),
    ):
        if len(given) > 1:
            cure = "give --sources instead" if given is published else "put them into one file"
            raise InputError(f"{option} names {len(given)} {of_which}", cure=cure)


def _parted(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the sets of rows, and the documents."""
    rows = [*dict.fromkeys(one for one in given if not _names_documents(one))]
    return rows, [one for one in given if _names_documents(one)]


def _names_documents(given: str) -> bool:
    """Say whether a word of ``--data`` names documents, and not rows."""
    kind, colon, _ = given.partition(":")
    return bool(colon) and kind in READERS


def _read_documents(given: Sequence[str]) -> tuple[list[AnnotatedDocument], dict[str, str]]:
    """Read documents, each ``KIND:PATH``; the digests identify what is in each."""
    documents: list[AnnotatedDocument] = []
    digests = {}
    for number, named in enumerate(given):
        kind, _, path = named.partition(":")
        own = READERS[kind](Path(path))
        parses = [d.syntax for d in own if d.syntax is not None]
        content = repr([(d.document, d.clusters) for d in own]) + repr(parses) * bool(parses)
        digests[f"{kind}{number}"] = hashlib.sha256(content.encode("utf-8")).hexdigest()
        documents += own
    return documents, digests


def _is_file(rows: str) -> bool:
    return bool(Path(rows).suffix)


def asked_tests(dataset: str | None, test: Path | None) -> tuple[dict[str, Split], str]:
    """Read the rows that trainings were tested on: of a built dataset, or a file of own rows.

    Returns:
        The rows by config (``original`` and ``switched``), and the dataset that they are of: empty
        for a user's own.

    Raises:
        InputError: not exactly one of them is given, or the rows cannot be read.
    """
    if test is not None and dataset is None:
        return own_tests(test), ""
    if dataset is None or test is not None:
        raise InputError(
            "exactly one of --dataset and --test says what the trainings were tested on",
            cure="give --dataset with a built knowref or gap, or --test with rows of your own",
        )
    splits = {config: read_split(dataset, config) for config in ("original", "switched")}
    return splits, splits["original"].dataset_name
