"""The rows and documents that a coreference training learns from, stops by and is tested on."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pronominal.dataset_scripts.conll2012 import AnnotatedDocument, read_conll
from pronominal.dataset_scripts.coref_jsonl import read_coref_jsonl
from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.errors import InputError
from pronominal.eval.training.data import own_data, published_data
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
        test_name: the dataset that the tests are of.
        digests: what identifies the data to learn from and to stop by.
    """

    name: str
    rows: Sequence[ResolutionInstance] = ()
    validation_rows: Sequence[ResolutionInstance] = ()
    documents: Sequence[AnnotatedDocument] = ()
    validation_documents: Sequence[AnnotatedDocument] = ()
    tests: dict[str, PublishedSplit] = field(default_factory=dict)
    test_name: str = ""
    digests: dict[str, str] = field(default_factory=dict)


def coreference_data(
    data: Sequence[str],
    *,
    dataset: str | None = None,
    sources: Path | None = None,
    validation: Sequence[str] = (),
    validation_share: float = 0.1,
    test: Path | None = None,
) -> CoreferenceData:
    """Read what ``--data`` names, one set of rows at most and any number of documents.

    Args:
        data: ``knowref``, ``gap`` or a JSONL or Parquet file of own rows; ``conll:PATH`` or
            ``jsonlines:PATH``.
        dataset: folder of the built knowref or gap, or its Hub id.
        sources: folder of upstream's files of knowref or gap.
        validation: own rows or documents to stop by; without, knowref and gap have a split of
            their own, and a share of everything else is held out.
        validation_share: that share.
        test: own rows to test on.

    Raises:
        InputError: a name is unknown, a file cannot be read, or nothing is there to stop by.
    """
    learnt_rows, learnt_documents = _parted(data)
    held_rows, held_documents = _parted(validation)
    if len(learnt_rows) > 1 or len(held_rows) > 1 or not data:
        raise InputError(
            f"--data names {len(learnt_rows)} sets of rows",
            cure="give one of knowref, gap or a file, and any number of conll:PATH",
        )
    found = CoreferenceData(name="+".join(_short(one) for one in data))
    documents, digests = _read(learnt_documents)
    stopping, stopping_digests = _read(held_documents)
    if documents and not stopping and not (learnt_rows or held_rows):
        documents, stopping = _held_out(documents, validation_share)
    rows = None
    if learnt_rows and Path(learnt_rows[0]).suffix:
        held = Path(held_rows[0]) if held_rows else None
        rows = own_data(Path(learnt_rows[0]), held, test, validation_share)
    elif learnt_rows:
        rows = published_data(learnt_rows[0], dataset, sources)
    if rows is not None:
        digests |= rows.digests
    if rows is None and not stopping:
        raise InputError("there is nothing to stop by", cure="give --validation conll:PATH")
    return CoreferenceData(
        name=found.name,
        rows=rows.train if rows else (),
        validation_rows=rows.validation if rows else (),
        documents=documents,
        validation_documents=stopping,
        tests=rows.tests if rows else {},
        test_name=rows.name if rows else "",
        digests=digests | {f"validation:{name}": d for name, d in stopping_digests.items()},
    )


def _parted(given: Sequence[str]) -> tuple[list[str], list[str]]:
    documents = [one for one in given if one.partition(":")[0] in READERS and ":" in one]
    return [one for one in given if one not in documents], documents


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
    count = max(1, round(len(documents) * share))
    order = np.random.default_rng(0).permutation(len(documents)).tolist()
    learnt, held = sorted(order[count:]), sorted(order[:count])
    return [documents[i] for i in learnt], [documents[i] for i in held]
