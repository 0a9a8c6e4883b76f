"""Runs of the same weights: how many rows another setting, such as a dtype, decides otherwise."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from pronominal.decisions import Decision
from pronominal.eval.runs.record import RunRecord


def decided_otherwise(
    runs: Mapping[str, tuple[RunRecord, Sequence[Decision | None]]],
) -> dict[str, dict[str, int]]:
    """Return label -> label of another run of the same system and weights -> how many rows differ.

    Args:
        runs: label -> what was run, and its decisions on the same rows.
    """
    found: dict[str, dict[str, int]] = {label: {} for label in runs}
    for one, other in permutations(runs, 2):
        (record, decisions), (another, others) = runs[one], runs[other]
        alike = (record.system, record.checkpoint) == (another.system, another.checkpoint)
        if alike and record.checkpoint is not None:
            found[one][other] = sum(a != b for a, b in zip(decisions, others, strict=True))
    return found
