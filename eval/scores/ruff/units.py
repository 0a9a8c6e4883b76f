"""The units of RUFF that paired tests compare: its task sentences, which all its rows repeat."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.statistics.outcomes import IntArray, choices_of
from pronominal.eval.statistics.paired_tests import PairedUnits


def paired_units(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, PairedUnits]:
    """Return the units that paired tests between systems compare: the task sentences.

    Args:
        rows: a split of one config.
        decisions: in the order of the rows.

    Returns:
        ``accuracy``: share of each task sentence's rows with the right form, shape ``[tasks]``; a
        task sentence is known by its occupation, participant and grammatical case. Nothing of
        ``no_context``, where no form is right.
    """
    labels = rows["label"].to_numpy()
    if (labels == -1).all():
        return {}
    tasks = _numbered([_codes(rows[name]) for name in ("occupation", "participant", "case")])
    correct = np.bincount(tasks, weights=choices_of(decisions) == labels)
    return {"accuracy": correct / np.bincount(tasks)}


def _codes(words: pa.ChunkedArray) -> IntArray:
    """Return the same number for the same word, [rows]."""
    whole = words.unify_dictionaries().combine_chunks()
    encoded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64)


def _numbered(codes: Sequence[IntArray]) -> IntArray:
    """Return the same number, from 0 in the order of appearance, for rows with the same codes."""
    keys = np.zeros_like(codes[0])
    for one in codes:
        keys = keys * (one.max() + 1) + one
    _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    ranks: IntArray = np.argsort(np.argsort(first))[numbers]
    return ranks
