"""E2E's files: weights in three forms, the config, and what words are looked up in.

::

    config.json                       keys of upstream's experiments.conf
    tf_checkpoint/NAME.ckpt.index     or model.max.ckpt.* as published, or model.safetensors as
    tf_checkpoint/NAME.ckpt.data-...  'pronominal convert e2e' writes it, or tf_variables.npz
    char_vocab.txt, embedding files   where the config says
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from torch import nn

from pronominal.adapters.c2f.e2e.characters import CharacterVocabulary, read_vocabulary
from pronominal.adapters.c2f.e2e.embeddings import WordVectors
from pronominal.adapters.c2f.e2e.encoder import LstmConfig, LstmEncoder, WordInputs, WordReader
from pronominal.adapters.c2f.e2e.settings import (
    BEST,
    FORMAT,
    E2EConfig,
    Table,
    encoder_config,
    read_config,
)
from pronominal.adapters.c2f.e2e.variables import sources
from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.c2f.head.model import CoarseToFineHead
from pronominal.adapters.c2f.head.units import AntecedentScores, Units
from pronominal.adapters.c2f.tensorflow.bundle import read_bundle
from pronominal.adapters.c2f.tensorflow.variables import (
    REPORT,
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
    write_tensors,
)
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.words.english import EnglishWords
from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.json_files import write_json

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
    encoder = encoder_config(config.table, len(reader.vocabulary))
    model, mapped = _model(opened.folder, encoder, config.head)
    cache = opened.folder / config.table["lm_path"]
    return E2EParts(opened, config, model, reader, mapped, cache if cache.is_file() else None)


def save_parts(
    folder: Path,
    table: Table,
    model: nn.Module,
    vocabulary: CharacterVocabulary,
    embeddings: Mapping[str, tuple[str, WordVectors, Iterable[str] | None]],
) -> None:
    """Write a checkpoint that needs nothing else but ELMo, in the converted form.

    `embeddings` are, for ``context`` and ``head``, a file's name, its vectors, and the words whose
    vectors are kept (all when None).
    """
    table = {**table, "format": FORMAT, "char_vocab_path": CONVERTED[0], "lm_path": ""}
    for which, (name, vectors, words) in embeddings.items():
        table[f"{which}_embeddings"] = {"path": name, "size": vectors.size}
        vectors.save(folder / name, words)
    write_json(folder / "config.json", table)
    vocabulary.save(folder / CONVERTED[0])
    write_tensors(folder / WEIGHTS[0], model.state_dict())


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
            cure = f"keep one of {', '.join(index.stem for index in indexes)}"
            raise InputError("there are several TensorFlow checkpoints", cure=cure, file=folder)
        if indexes:
            return read_bundle(indexes[0].with_suffix("")), indexes[0]
    file = folder / WEIGHTS[3]
    damages = (OSError, ValueError, EOFError, BadZipFile)
    cause, cure = "no variables could be read", "give an undamaged .npz"
    with (
        input_error_on(*damages, cause=cause, cure=cure, file=file),
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


def convert(source: str, target: Path, words: Iterable[str] | None = None) -> dict[str, Any]:
    """Write a checkpoint in the form that needs nothing else but ELMo.

    Cached vectors of ELMo belong to documents, not to the checkpoint, and are left behind.

    Args:
        source: a folder with upstream's config and weights.
        target: the folder to make.
        words: keep the embeddings of these words alone, as upstream's filter does for the words
            of its data; of all words when None.

    Returns:
        The report that is also written as `REPORT`: ``used`` (our tensors, each with the
        variables it was made of), ``skipped`` and ``missing`` (variables).
    """
    if target.exists():
        raise InputError("it is there already", cure="name a new folder", file=target)
    parts = open_parts(source)
    if parts.mapped is None:
        cure = "give a checkpoint of TensorFlow"
        raise InputError("it is converted already", cure=cure, file=source)
    report = parts.mapped.report()
    kept = None if words is None else list(words)
    _, context, head = CONVERTED
    reader = parts.reader
    embeddings = {"context": (context, reader.context, kept), "head": (head, reader.head, kept)}
    with new_folder(target) as folder:
        save_parts(folder, parts.config.table, parts.model, reader.vocabulary, embeddings)
        write_json(folder / REPORT, report)
    return report


def words_of(file: Path) -> set[str]:
    """Return the words of a text file, split at blanks and as `EnglishWords` splits raw text."""
    cause, cure = "no text could be read", "give a UTF-8 file"
    with input_error_on(OSError, ValueError, cause=cause, cure=cure, file=file, quoted=False):
        lines = file.read_text(encoding="utf-8").splitlines()
    reader = EnglishWords()
    split = {word for line in lines for word in line.split()}
    return split.union(*(chain.from_iterable(reader.read(line)[0].words) for line in lines))
