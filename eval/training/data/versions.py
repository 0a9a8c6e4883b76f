"""From rows to what a system reads of each and of its switched version, or why it reads nothing."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.split import Split
from pronominal.instances import ResolutionInstance
from pronominal.switching import SAME_NAME, Unswitchable, switch

T = TypeVar("T")

NEITHER_IS_RIGHT = "neither candidate is right"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that is not learnt from or measured on, or not in one of its versions.

    Attributes:
        split: ``train``, ``validation`` or ``test``.
        id: of the row.
        version: ``original`` (and then also its switched one) or ``switched``; with a pronoun
            set behind it where only the text with those pronouns is left out.
        reason: why, without text of the row.
    """

    split: str
    id: str
    version: str
    reason: str


Read = Callable[[Sequence[ResolutionInstance]], Sequence[T | str]]
"""Returns what a system reads of each row, or the reason why it cannot, without its text."""


@dataclass(frozen=True, slots=True)
class Version(Generic[T]):
    """A row in one of its versions, as a system reads it.

    Attributes:
        instance: the row.
        content: what the system reads.
        name: ``original`` or ``switched``.
    """

    instance: ResolutionInstance
    content: T
    name: str


def versions(
    rows: Sequence[ResolutionInstance], split: str, read: Read[T], *, switching: bool = False
) -> tuple[list[tuple[Version[T], ...]], list[LeftOut]]:
    """Read rows, and with `switching` their switched versions.

    Returns:
        For each row that can be learnt, in order, its original and its switched version, where
        there is one; and what is left out.
    """
    originals, left_out = _read(rows, split, "original", read)
    exchanged = []
    for version in originals if switching else ():
        try:
            exchanged.append(switch(version.instance))
        except Unswitchable as refusal:
            left_out.append(LeftOut(split, version.instance.id, "switched", refusal.reason))
    switched, unreadable = _read(exchanged, split, "switched", read)
    switched_of = {version.instance.id: (version,) for version in switched}
    order = {row.id: number for number, row in enumerate(rows)}
    return (
        [(version, *switched_of.get(version.instance.id, ())) for version in originals],
        sorted([*left_out, *unreadable], key=lambda row: order[row.id]),
    )


def originals_first(rows: Sequence[tuple[Version[T], ...]]) -> list[Version[T]]:
    """Return all originals, then all switched versions."""
    return [row[0] for row in rows] + [version for row in rows for version in row[1:]]


def _read(
    rows: Sequence[ResolutionInstance], split: str, version: str, read: Read[T]
) -> tuple[list[Version[T]], list[LeftOut]]:
    kept, left_out = [], []
    contents = iter(read([row for row in rows if not _nothing_to_learn(row)]))
    for row in rows:
        content = _nothing_to_learn(row) or next(contents)
        if isinstance(content, str):
            left_out.append(LeftOut(split, row.id, version, content))
        else:
            kept.append(Version(row, content, version))
    return kept, left_out


def _nothing_to_learn(row: ResolutionInstance) -> str:
    """Say why no system can learn from a row or be measured on it; empty where it can."""
    if row.label not in (0, 1):
        return NEITHER_IS_RIGHT
    return SAME_NAME if len({candidate.text for candidate in row.candidates}) < 2 else ""


def unswitched(tests: Mapping[str, Split]) -> list[LeftOut]:
    """Name the test rows that have no switched version, over which no consistency is measured."""
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
    with new_file(out / "left-out.jsonl") as beside:
        lines = [json.dumps(asdict(row)) + "\n" for row in rows]
        beside.write_text("".join(lines), encoding="utf-8", newline="\n")
