"""E2E's files: weights in three forms, the config, and what words are looked up in.

::

    config.json                       keys of upstream's experiments.conf
    tf_checkpoint/NAME.ckpt.index     or model.max.ckpt.* as published, or model.safetensors as
    tf_checkpoint/NAME.ckpt.data-...  'pronominal convert e2e' writes it, or tf_variables.npz
    char_vocab.txt, embedding files   where the config says
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from torch import nn

from pronominal.adapters.c2f.e2e.characters import read_vocabulary
from pronominal.adapters.c2f.e2e.embeddings import WordVectors
from pronominal.adapters.c2f.e2e.encoder import LstmConfig, LstmEncoder, WordInputs, WordReader
from pronominal.adapters.c2f.e2e.settings import BEST, E2EConfig, read_config
from pronominal.adapters.c2f.e2e.variables import sources
from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.c2f.head.model import CoarseToFineHead
from pronominal.adapters.c2f.head.units import AntecedentScores, Units
from pronominal.adapters.c2f.tensorflow.bundle import read_bundle
from pronominal.adapters.c2f.tensorflow.variables import (
    Mapped,
    Variables,
    is_training_state,
    map_variables,
)
from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.tensors import (
    load_tensors,
    mismatch,
    read_safetensors,
    require_same,
)
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.errors import InputError

WEIGHTS = ("model.safetensors", "tf_checkpoint/*", "model.max.ckpt.*", "tf_variables.npz")

CONVERTED = ("char_vocab.txt", "context_embeddings.txt", "head_embeddings.txt")
"""What accompanies the weights in the converted form."""

FOREIGN = ("lm_aggregation/", "src_projection/")
"""Variables that some configurations do not read: those of ELMo and of the coarse scores."""


class E2EModel(nn.Module):
    """The encoder and the head."""

    def __init__(self, encoder: LstmConfig, head: HeadConfig) -> None:
        super().__init__()
        self.encoder = LstmEncoder(encoder)
        self.head = CoarseToFineHead(head)

    def forward(
        self, inputs: Sequence[WordInputs], units: Sequence[Units]
    ) -> list[AntecedentScores]:
        """Return the antecedent scores of each document, given what was looked up for it."""
        scores: list[AntecedentScores] = self.head(self.encoder(inputs), units)
        return scores


@dataclass(frozen=True, slots=True)
class E2EParts:
    """What a checkpoint holds.

    `mapped` says what became of TensorFlow's variables, None for the converted form; `elmo_cache`
    are vectors that the config names and the folder has, None otherwise.
    """

    checkpoint: Checkpoint
    config: E2EConfig
    model: E2EModel
    reader: WordReader
    mapped: Mapped | None
    elmo_cache: Path | None


def open_parts(
    checkpoint: str, context_embeddings: str | None = None, head_embeddings: str | None = None
) -> E2EParts:
    """Read a checkpoint of any form.

    Args:
        checkpoint: its folder, or the Hub id of a converted one.
        context_embeddings: another file than the config's, such as one with more words.
        head_embeddings: likewise.
    """
    opened = _opened(checkpoint)
    config = read_config(opened.folder / "config.json")
    reader = _reader(opened.folder, config, context_embeddings, head_embeddings)
    encoder = config.encoder(len(reader.vocabulary))
    model, mapped = _model(opened.folder, encoder, config.head)
    cache = opened.folder / config.table["lm_path"]
    return E2EParts(opened, config, model, reader, mapped, cache if cache.is_file() else None)


def _opened(checkpoint: str) -> Checkpoint:
    others: tuple[str, ...] = CONVERTED
    if (Path(checkpoint) / "config.json").is_file():
        table = read_config(Path(checkpoint) / "config.json").table
        embeddings = (table[f"{which}_embeddings"]["path"] for which in ("context", "head"))
        named = (table["char_vocab_path"], table["lm_path"], *embeddings)
        # what lies elsewhere does not belong to the folder
        others = tuple(escape(name) for name in named if name and not Path(name).is_absolute())
    return open_checkpoint(checkpoint, weights=WEIGHTS, others=others)


def _reader(
    folder: Path, config: E2EConfig, context_embeddings: str | None, head_embeddings: str | None
) -> WordReader:
    files = [
        _embedding_file(folder, config, which, given)
        for which, given in (("context", context_embeddings), ("head", head_embeddings))
    ]
    sizes = [config.table[f"{which}_embeddings"]["size"] for which in ("context", "head")]
    context = WordVectors(files[0], sizes[0])
    same = files[0] == files[1] and sizes[0] == sizes[1]
    head = context if same else WordVectors(files[1], sizes[1])
    return WordReader(context, head, read_vocabulary(folder / config.table["char_vocab_path"]))


def _embedding_file(folder: Path, config: E2EConfig, which: str, given: str | None) -> Path:
    name = given or config.table[f"{which}_embeddings"]["path"]
    places = [Path(name), folder / name] if given else [folder / name]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        published = BEST[f"{which}_embeddings"]["path"]
        raise InputError(
            f"there is no file of {which} embeddings",
            cure=f"put it there (upstream's is {published}), write where it is into config.json, "
            f"or give it as {which}_embeddings",
            file=places[0],
        )
    return file.resolve()


def _model(folder: Path, encoder: LstmConfig, head: HeadConfig) -> tuple[E2EModel, Mapped | None]:
    with torch.device("meta"):  # no memory and no random numbers for what is loaded at once
        model = E2EModel(encoder, head)
    converted = folder / WEIGHTS[0]
    if converted.is_file():
        mapped, tensors, file = None, read_safetensors(converted), converted
    else:
        variables, file = _variables(folder)
        mapped = _mapped(variables, encoder, head, model.head.state_dict(), file)
        tensors = mapped.tensors
    load_tensors(model, tensors, file)
    return model.float().eval().requires_grad_(False), mapped


def _variables(folder: Path) -> tuple[Variables, Path]:
    """Read TensorFlow's variables from the first place of `WEIGHTS` that has some."""
    for place in ("tf_checkpoint/*.index", "model.max.ckpt.index"):
        indexes = sorted(folder.glob(place))
        if len(indexes) > 1:
            raise InputError(
                "there are several TensorFlow checkpoints",
                cure=f"keep one of {', '.join(index.stem for index in indexes)}",
                file=folder,
            )
        if indexes:
            return read_bundle(indexes[0].with_suffix("")), indexes[0]
    file = folder / WEIGHTS[3]
    with (
        input_error_on(
            *(OSError, ValueError, EOFError, BadZipFile),
            cause="no variables could be read",
            cure="give an undamaged .npz",
            file=file,
        ),
        np.load(file, allow_pickle=False) as arrays,
    ):
        return dict(arrays), file


def _mapped(
    variables: Variables, encoder: LstmConfig, head: HeadConfig, names: Iterable[str], file: Path
) -> Mapped:
    try:
        mapped = map_variables(variables, sources(encoder, head.ffnn_depth, names))
    except ValueError as error:
        raise mismatch("variables of another shape than its config says", file) from error
    known = (name for name in mapped.skipped if not is_training_state(name))
    unexpected = [name for name in known if not name.startswith(FOREIGN)]
    require_same(mapped.missing, unexpected, file)
    return mapped
