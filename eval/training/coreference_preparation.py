"""From data and settings to what the coreference trainings of all seeds share."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pronominal.adapters.c2f.bert.training import (
    transformer_from_checkpoint,
    transformer_from_encoder,
)
from pronominal.adapters.c2f.e2e.training import e2e_from_checkpoint, e2e_from_scratch
from pronominal.adapters.c2f.e2e.word_piece_vectors import write_word_piece_vectors
from pronominal.adapters.c2f.e2e.words import RAW_TEXT_GENRE
from pronominal.adapters.c2f.elmo.vectors import ElmoVectors
from pronominal.adapters.c2f.elmo.weights import read_elmo, weight_file
from pronominal.adapters.c2f.learning.documents import TrainingDocument
from pronominal.adapters.c2f.learning.training import Trainee
from pronominal.adapters.checkpoints.transformers_models import torch_device
from pronominal.errors import InputError
from pronominal.eval.exchange.gold_conll2012 import AnnotatedDocument
from pronominal.eval.training.coreference_data import CoreferenceData
from pronominal.eval.training.coreference_documents import (
    RowDocument,
    RowReader,
    row_documents,
    with_units,
)
from pronominal.eval.training.coreference_settings import CoreferenceTraining
from pronominal.eval.training.coreference_validation import CoreferenceValidation
from pronominal.eval.training.left_out import LeftOut, unswitched

EMBEDDINGS = "embeddings.txt"
"""Where the vectors are that were made of an encoder's word pieces."""

GENRES = {"e2e": RAW_TEXT_GENRE, "c2f": None}
"""Of a row's text: what each system takes raw texts for."""

Learnt = RowDocument | AnnotatedDocument


@dataclass(frozen=True, slots=True)
class PreparedCoreference:
    """What the trainings of all seeds share.

    Attributes:
        data: rows and documents.
        asked: the settings.
        trainee: the system.
        documents: what is learnt.
        validation: measures a model.
        left_out: what is not learnt or not validated on.
        updates: steps of one training.
        digests: of the files that the training begins with.
    """

    data: CoreferenceData
    asked: CoreferenceTraining
    trainee: Trainee
    documents: Sequence[TrainingDocument]
    validation: CoreferenceValidation
    left_out: Sequence[LeftOut]
    updates: int
    digests: dict[str, str]

    @property
    def identity(self) -> dict[str, Any]:
        """Return what two trainings must have in common to share a folder."""
        return {
            "system": self.trainee.system,
            "begins_with": self.digests,
            "data": {"name": self.data.name, **self.data.digests},
            "settings": self.asked.settings(),
        }

    def counts(self) -> dict[str, int]:
        """Return how many rows, documents and updates there are."""
        return {
            "train_rows": len(self.data.rows),
            "train_documents": len(self.documents),
            "validation_rows": len(self.data.validation_rows),
            "validation_documents": len(self.data.validation_documents),
            "left_out": len(self.left_out),
            "updates": self.updates,
        }


def prepare(data: CoreferenceData, asked: CoreferenceTraining, out: Path) -> PreparedCoreference:
    """Make documents of the rows, and open what the training begins with.

    Args:
        data: rows and documents.
        asked: the settings.
        out: the folder of the trainings, which gets `EMBEDDINGS` where these are made.

    Raises:
        InputError: a file is missing or damaged, or nothing is left to learn from.
    """
    reader = RowReader(GENRES[asked.system])
    rows, left_out = row_documents(data.rows, reader, "train", switching=asked.switching)
    stopping, unreadable = row_documents(data.validation_rows, reader, "validation")
    learnt: list[Learnt] = [*rows, *data.documents]
    if not learnt or not (stopping or data.validation_documents):
        raise InputError(
            f"{len(learnt)} documents can be learnt from, and {len(stopping)} rows stopped by",
            cure="give rows whose right candidate stands in the text",
        )
    tests = [row_documents(split.instances(), reader, "test")[0] for split in data.tests.values()]
    every: list[Learnt] = [
        *learnt,
        *stopping,
        *data.validation_documents,
        *chain.from_iterable(tests),
    ]
    trainee, digests = _BEGINNINGS[asked.system](asked, _words(learnt), _words(every), out)
    units = with_units(learnt, trainee)
    kept = [one for one in units if trainee.spans_to_keep(len(one.units))]
    too_short = [
        LeftOut("train", *_place(document, number), "it is too short to keep a span")
        for number, (document, one) in enumerate(zip(learnt, units, strict=True))
        if not trainee.spans_to_keep(len(one.units))
    ]
    if not kept:
        raise InputError(
            f"none of {len(units)} documents has enough words for a span to be kept",
            cure="give longer documents",
        )
    batches = -(-len(kept) // asked.batch_size)
    return PreparedCoreference(
        data=data,
        asked=asked,
        trainee=trainee,
        documents=kept,
        validation=CoreferenceValidation(trainee, stopping, data.validation_documents),
        left_out=[*left_out, *unreadable, *too_short, *unswitched(data.tests)],
        updates=asked.updates or asked.epochs * batches,
        digests=digests,
    )


Beginning = tuple[Trainee, dict[str, str]]


def _e2e(
    asked: CoreferenceTraining, learnt: Sequence[str], words: Sequence[str], out: Path
) -> Beginning:
    rates, weights = asked.e2e_rates, asked.elmo_weights
    digests = {}
    if weights is not None:
        digests["elmo_weights"] = _digest(weight_file(Path(weights)))
    if asked.checkpoint is not None:
        trainee = e2e_from_checkpoint(asked.checkpoint, rates, words, weights)
        return trainee, {"checkpoint": trainee.digest, **digests}
    files = _embedding_files(asked, words, out)
    context, head = ((file, _vector_size(file)) for file in files)
    elmo = None if weights is None else _elmo(Path(weights))
    trainee = e2e_from_scratch(
        asked.size, rates, words=words, learnt=learnt, context=context, head=head, elmo=elmo
    )
    for which, file in zip(("context", "head"), files, strict=True):
        digests[f"{which}_embeddings"] = _digest(file)
    return trainee, digests


def _elmo(weights: Path) -> ElmoVectors:
    shape = read_elmo(weights).shape
    return ElmoVectors("e2e", shape, cache=None, weights=weights, device=torch_device(None))


def _transformer(
    asked: CoreferenceTraining, learnt: Sequence[str], words: Sequence[str], out: Path
) -> Beginning:
    if asked.checkpoint is not None:
        trainee = transformer_from_checkpoint(
            asked.checkpoint, asked.recipe, asked.transformer_rates
        )
        return trainee, {"checkpoint": trainee.digest}
    assert asked.encoder is not None
    trainee = transformer_from_encoder(
        asked.encoder, asked.size, asked.recipe, asked.transformer_rates
    )
    return trainee, {"encoder": trainee.digest}


_BEGINNINGS: dict[str, Callable[..., Beginning]] = {"e2e": _e2e, "c2f": _transformer}


def _embedding_files(
    asked: CoreferenceTraining, words: Sequence[str], out: Path
) -> tuple[Path, Path]:
    given = asked.embeddings
    if given.encoder is not None:
        file = out / EMBEDDINGS
        write_word_piece_vectors(given.encoder, words, given.size, file)
        return file, file
    assert given.context is not None
    return Path(given.context), Path(given.head or given.context)


def _vector_size(file: Path) -> int:
    try:
        with file.open("rb") as lines:
            return len(lines.readline().rstrip().split(b" ")) - 1
    except OSError as error:
        raise InputError(
            "no word vectors could be read", cure="give GloVe's text file", file=file
        ) from error


def _words(documents: Sequence[Learnt]) -> list[str]:
    return sorted({w for one in documents for sentence in one.document.words for w in sentence})


def _place(document: Learnt, number: int) -> tuple[str, str]:
    """Return the id and the version of a document that is left out."""
    if isinstance(document, RowDocument):
        return document.instance.id, document.version
    return document.document.key or f"document {number}", "original"


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
