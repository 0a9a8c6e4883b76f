"""Rows that a training does without, each with its reason."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.split import Split
from pronominal.switching import Unswitchable, switch

LEFT_OUT = "left-out.jsonl"

NEITHER_IS_RIGHT = "neither candidate is right"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that is not learnt from or measured on, or not in one of its versions.

    Attributes:
        split: ``train``, ``validation`` or ``test``.
        id: of the row.
        version: ``original`` (and then also its switched one) or ``switched``.
        reason: why, without text of the row.
    """

    split: str
    id: str
    version: str
    reason: str


def unswitched(tests: Mapping[str, Split]) -> list[LeftOut]:
    """Name the test rows that have no switched version, over which no consistency is measured.

    Args:
        tests: splits by config: ``original``, and ``switched`` where there is one.
    """
    if "original" not in tests:
        return []
    known = set(tests["switched"].table["id"].to_pylist()) if "switched" in tests else set()
    left_out = []
    for instance in tests["original"].instances():
        if instance.id not in known:
            try:
                switch(instance)
                reason = "the test rows hold no switched version"
            except Unswitchable as refusal:
                reason = refusal.reason
            left_out.append(LeftOut("test", instance.id, "switched", reason))
    return left_out


def write_left_out(out: Path, rows: Sequence[LeftOut]) -> None:
    """Write ``OUT/left-out.jsonl``, one row a line."""
    with new_file(out / LEFT_OUT) as beside:
        lines = [json.dumps(asdict(row)) + "\n" for row in rows]
        beside.write_text("".join(lines), encoding="utf-8")
