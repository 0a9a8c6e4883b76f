"""The units of RUFF that paired tests compare: its task sentences, which all its rows repeat."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.outcomes import choices_of
from pronominal.eval.significance import Right
from pronominal.eval.switching import Answers


def right(
    rows: pa.Table, decisions: Sequence[Decision], *, context_free: Answers | None = None
) -> dict[str, Right]:
    """Return the units that paired tests between systems compare: the task sentences.

    Args:
        rows: a split of one config.
        decisions: in the order of the rows.
        context_free: not needed here.

    Returns:
        ``accuracy``: share of each task sentence's rows with the right form, shape ``[tasks]``; a
        task sentence is known by its occupation, participant and grammatical case. Nothing of
        ``no_context``, where no form is right.
    """
    labels = rows["label"].to_numpy()
    if (labels == -1).all():
        return {}
    columns = (rows[name].to_pylist() for name in ("occupation", "participant", "case"))
    numbers: dict[tuple[str, str, str], int] = {}
    tasks = [numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)]
    correct = np.bincount(tasks, weights=choices_of(decisions) == labels)
    return {"accuracy": correct / np.bincount(tasks)}
