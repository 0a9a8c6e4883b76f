"""E2E's settings: ``config.json`` under the keys of upstream's experiments.conf."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronominal.adapters.c2f.e2e.encoder import LstmConfig
from pronominal.adapters.c2f.head.config import HeadConfig, reading
from pronominal.adapters.words.ontonotes import GENRES
from pronominal.json_files import read_object

FORMAT = "pronominal-e2e-1"
"""What ``config.json`` of the converted form says under ``format``."""

BEST: dict[str, Any] = {
    "context_embeddings": {"path": "glove.840B.300d.txt", "size": 300},
    "head_embeddings": {"path": "glove_50_300_2.txt", "size": 300},
    "char_vocab_path": "char_vocab.english.txt",
    "char_embedding_size": 8,
    "filter_widths": [3, 4, 5],
    "filter_size": 50,
    "contextualization_size": 200,
    "contextualization_layers": 3,
    "lm_path": "",
    "lm_layers": 3,
    "lm_size": 1024,
    "lexical_dropout_rate": 0.5,
    "lstm_dropout_rate": 0.4,
    "dropout_rate": 0.2,
    "feature_size": 20,
    "ffnn_size": 150,
    "ffnn_depth": 2,
    "max_span_width": 30,
    "top_span_ratio": 0.4,
    "max_top_antecedents": 50,
    "coref_depth": 2,
    "coarse_to_fine": True,
    "genres": list(GENRES),
}
"""The keys that inference needs, with the values of upstream's configuration ``best``."""

ALWAYS = ("use_metadata", "use_features", "model_heads")
"""What every configuration of upstream has switched on."""

PATHS = ("char_vocab_path", "lm_path")
"""Files beside those of the embeddings."""

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class E2EConfig:
    """What ``config.json`` says, keys that it leaves out being as in `BEST`."""

    table: Table
    head: HeadConfig


def read_config(file: Path) -> E2EConfig:
    """Read ``config.json``; keys that are left out have the value of upstream's ``best``."""
    return config_of({**BEST, **read_object(file, cure="give E2E's config")}, file)


def config_of(table: Table, file: Path | None = None) -> E2EConfig:
    """Return the config that a table with all keys of `BEST` is; messages name `file`."""
    with reading(table, ALWAYS, file):
        embeddings = (table[f"{which}_embeddings"]["path"] for which in ("context", "head"))
        if not all(isinstance(path, str) for path in (*embeddings, *map(table.get, PATHS))):
            raise TypeError("a path is no string")
        return E2EConfig(table=table, head=_head(table, encoder_config(table, characters=1)))


def encoder_config(table: Table, characters: int) -> LstmConfig:
    """Return the sizes of the encoder, given how many numbers characters have."""
    return LstmConfig(
        context_size=int(table["context_embeddings"]["size"]),
        head_size=int(table["head_embeddings"]["size"]),
        characters=characters,
        character_size=int(table["char_embedding_size"]),
        filter_widths=tuple(map(int, table["filter_widths"])),
        filter_size=int(table["filter_size"]),
        lstm_size=int(table["contextualization_size"]),
        lstm_layers=int(table["contextualization_layers"]),
        elmo_size=int(table["lm_size"]),
        elmo_layers=int(table["lm_layers"]),
        lexical_dropout=float(table["lexical_dropout_rate"]),
        lstm_dropout=float(table["lstm_dropout_rate"]),
    )


def _head(table: Table, encoder: LstmConfig) -> HeadConfig:
    return HeadConfig.of(
        table,
        boundary_size=encoder.boundary_size,
        head_value_size=encoder.head_value_size,
        feature_size=int(table["feature_size"]),
        max_spans=None,
        width_prior=False,
        distance_prior=False,
        segment_distances=0,
        preselection="coarse" if table["coarse_to_fine"] else "nearest",
        initialisation="glorot",
    )
