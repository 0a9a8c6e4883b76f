"""KnowRef's rule for a test set (section 3.1): rows whose antecedent enough annotators agree on."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.annotation.agreement import counts_of, measures
from pronominal.eval.annotation.answers import Answers
from pronominal.eval.annotation.votes import verdicts
from pronominal.eval.statistics.scores import Block

DIVIDED = "divided"
"""Why a row goes for which no answer has enough votes."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of the rows that annotators were asked about.

    Attributes:
        annotators: how many there were.
        needed: how many of them had to choose the same candidate.
        labels: id of each row that stays -> (candidate, its votes).
        dropped: id of each other row -> what enough annotators said instead, or `DIVIDED`.
        changed: ids of the rows that stay and had another label before.
        agreement: of all rows and of those that stay, what `agreement.measures` returns.
    """

    annotators: int
    needed: int
    labels: dict[str, tuple[int, int]] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    agreement: dict[str, Block] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Return the report, without any text."""
        return {
            "annotators": self.annotators,
            "needed": self.needed,
            "asked": len(self.labels) + len(self.dropped),
            "kept": len(self.labels),
            "dropped": dict(sorted(Counter(self.dropped.values()).items())),
            "labels_changed": len(self.changed),
            "agreement": self.agreement,
            "dropped_rows": self.dropped,
            "changed_rows": self.changed,
        }


def choose_rows(answers: Answers, rows: Split, needed: int) -> Kept:
    """Say which rows stay: those with `needed` votes or more for one and the same candidate.

    `InputError` if `needed` is more than the annotators or not more than half of them, or if the
    annotators were not asked for antecedents.
    """
    annotators = len(answers.annotators)
    if not annotators < 2 * needed <= 2 * annotators:
        cure = f"give --votes from {annotators // 2 + 1} to {annotators}"
        cause = f"{needed} votes of {annotators} annotators decide nothing"
        raise InputError(cause, cure=cure)
    if "candidates" not in rows.table.column_names:
        cure = "give an export of a resolution dataset"
        raise InputError("the rows have no candidates to choose from", cure=cure, file=rows.file)
    said = verdicts(answers, rows)
    kept = Kept(annotators, needed)
    before = dict(zip(*(rows.table[name].to_pylist() for name in ("id", "label")), strict=True))
    for name, given in said.items():
        most, votes = Counter(given).most_common(1)[0]
        if votes < needed:
            kept.dropped[name] = DIVIDED
        elif isinstance(most, int):
            kept.labels[name] = (most, votes)
            kept.changed.extend([name] if before[name] not in (most, -1) else [])
        else:
            kept.dropped[name] = most
    for name, asked in (("asked", said), ("kept", kept.labels)):
        given_there = tuple(said[row] for row in asked)
        kept.agreement[name] = measures(counts_of(given_there) if given_there else None)
    return kept
