"""E2E's TensorFlow checkpoint rewritten as safetensors and JSON, whole: with all it looks up."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from pronominal.adapters.c2f.e2e.checkpoint import CONVERTED, WEIGHTS, E2EParts, open_parts
from pronominal.adapters.c2f.e2e.settings import FORMAT
from pronominal.adapters.checkpoints.files import write_json
from pronominal.adapters.checkpoints.tensors import write_tensors
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.words.english import EnglishWords
from pronominal.atomic import new_folder
from pronominal.errors import InputError

REPORT = "conversion.json"
"""Beside the converted weights: which variables were used, skipped and missing."""


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
        raise InputError(
            "it is converted already", cure="give a checkpoint of TensorFlow", file=source
        )
    report = parts.mapped.report()
    kept = None if words is None else list(words)
    vocabulary, *embeddings = CONVERTED
    with new_folder(target) as folder:
        write_json(folder / "config.json", _table(parts))
        write_json(folder / REPORT, report)
        write_tensors(folder / WEIGHTS[0], parts.model.state_dict())
        parts.reader.vocabulary.save(folder / vocabulary)
        for name, vectors in zip(
            embeddings, (parts.reader.context, parts.reader.head), strict=True
        ):
            vectors.save(folder / name, kept)
    return report


def _table(parts: E2EParts) -> dict[str, Any]:
    vocabulary, context, head = CONVERTED
    table = {**parts.config.table, "format": FORMAT, "char_vocab_path": vocabulary, "lm_path": ""}
    for which, name in (("context", context), ("head", head)):
        size = parts.config.table[f"{which}_embeddings"]["size"]
        table[f"{which}_embeddings"] = {"path": name, "size": size}
    return table


def words_of(file: Path) -> set[str]:
    """Return the words of a text file, split at blanks and as `EnglishWords` splits raw text."""
    cause, cure = "no text could be read", "give a UTF-8 file"
    with input_error_on(OSError, ValueError, cause=cause, cure=cure, file=file, quoted=False):
        lines = file.read_text(encoding="utf-8").splitlines()
    reader = EnglishWords()
    split = {word for line in lines for word in line.split()}
    return split.union(*(chain.from_iterable(reader.read(line)[0].words) for line in lines))
