"""The rows and documents that a coreference training learns from, stops by and is tested on."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.exchange.gold_conll2012 import AnnotatedDocument, read_conll
from pronominal.eval.exchange.gold_coref_jsonl import read_coref_jsonl
from pronominal.eval.training.asked_rows import asked_rows, refuse_unused
from pronominal.eval.training.data import VALIDATION_SHARE
from pronominal.instances import ResolutionInstance

READERS: dict[str, Callable[[Path], list[AnnotatedDocument]]] = {
    "conll": read_conll,
    "jsonlines": read_coref_jsonl,
}
"""Documents with gold clusters, by what stands before the colon in ``--data KIND:PATH``."""


@dataclass(frozen=True, slots=True)
class CoreferenceData:
    """What a training is given.

    Attributes:
        name: what it is called, such as ``"knowref+conll"``.
        rows: rows with a pronoun to learn from.
        validation_rows: those to stop by.
        documents: documents with gold clusters to learn from.
        validation_documents: those to stop by.
        tests: rows to test on, by config.
        test_name: the dataset that the tests are of; empty for a user's own rows.
        digests: what identifies the data to learn from and to stop by.
    """

    name: str
    rows: Sequence[ResolutionInstance] = ()
    validation_rows: Sequence[ResolutionInstance] = ()
    documents: Sequence[AnnotatedDocument] = ()
    validation_documents: Sequence[AnnotatedDocument] = ()
    tests: dict[str, Split] = field(default_factory=dict)
    test_name: str = ""
    digests: dict[str, str] = field(default_factory=dict)


def coreference_data(
    data: Sequence[str],
    *,
    dataset: str | None = None,
    sources: Path | None = None,
    validation: Sequence[str] = (),
    validation_share: float | None = None,
    test: Path | None = None,
) -> CoreferenceData:
    """Read what ``--data`` names, one set of rows at most and any number of documents.

    Args:
        data: ``knowref``, ``gap`` or a JSONL or Parquet file of own rows; ``conll:PATH`` or
            ``jsonlines:PATH``.
        dataset: folder of the built knowref or gap, or its Hub id.
        sources: folder of upstream's files of knowref or gap.
        validation: own rows, to stop a training on own rows by, or documents; without, knowref and
            gap have a split of their own; else a share is held out, of own rows where there are
            some, and of the documents where there are no rows.
        validation_share: that share; `VALIDATION_SHARE` if None.
        test: own rows to test on, beside own rows.

    Raises:
        InputError: a name is unknown, a file cannot be read, something given would have no effect,
            or nothing is there to learn from or to stop by.
    """
    learnt_rows, learnt_documents = _parted("--data", data)
    held_rows, held_documents = _parted("--validation", validation)
    given = {
        "--dataset": dataset,
        "--sources": sources,
        "--validation": held_rows,
        "--validation-share": validation_share,
        "--test": test,
    }
    refuse_unused(learnt_rows, given, held=bool(held_rows if learnt_rows else held_documents))
    documents, digests = _read(learnt_documents)
    stopping, stopping_digests = _read(held_documents)
    if not (stopping or learnt_rows):
        share = VALIDATION_SHARE if validation_share is None else validation_share
        documents, stopping = _held_out(documents, share)
        digests["held_out"] = str(share)
    rows = None
    if learnt_rows is not None:
        rows = asked_rows(
            learnt_rows,
            dataset=dataset,
            sources=sources,
            validation=Path(held_rows) if held_rows else None,
            validation_share=validation_share,
            test=test,
        )
        digests |= rows.digests
    return CoreferenceData(
        name="+".join(_short(one) for one in data),
        rows=rows.train if rows else (),
        validation_rows=rows.validation if rows else (),
        documents=documents,
        validation_documents=stopping,
        tests=rows.tests if rows else {},
        test_name=rows.test_name if rows else "",
        digests=digests | {f"validation:{name}": d for name, d in stopping_digests.items()},
    )


def _parted(option: str, given: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the one set of rows, if there is one, and the documents."""
    documents = [one for one in given if one.partition(":")[0] in READERS and ":" in one]
    rows = [one for one in given if one not in documents]
    if len(rows) > 1:
        raise InputError(
            f"{option} names {len(rows)} sets of rows",
            cure="give one set of rows, and any number of conll:PATH",
        )
    return (rows[0] if rows else None), documents


def _short(given: str) -> str:
    kind, colon, _ = given.partition(":")
    return kind if colon and kind in READERS else Path(given).stem


def _read(given: Sequence[str]) -> tuple[list[AnnotatedDocument], dict[str, str]]:
    documents: list[AnnotatedDocument] = []
    digests = {}
    for number, one in enumerate(given):
        kind, _, path = one.partition(":")
        own = READERS[kind](Path(path))
        content = repr([(d.document, d.clusters) for d in own])
        digests[f"{kind}{number}"] = hashlib.sha256(content.encode("utf-8")).hexdigest()
        documents += own
    return documents, digests


def _held_out(
    documents: Sequence[AnnotatedDocument], share: float
) -> tuple[list[AnnotatedDocument], list[AnnotatedDocument]]:
    if len(documents) < 2:
        raise InputError(
            "fewer than two documents to learn from and to stop by",
            cure="give more, or others to stop by as --validation conll:PATH",
        )
    count = min(max(1, round(len(documents) * share)), len(documents) - 1)
    order = np.random.default_rng(0).permutation(len(documents)).tolist()
    learnt, held = sorted(order[count:]), sorted(order[:count])
    return [documents[i] for i in learnt], [documents[i] for i in held]
