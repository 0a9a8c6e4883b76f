"""The right candidate by the gender giveaway: two genders, and he or she (3.1.4)."""

from collections import Counter
from typing import Literal

import pyarrow as pa

from pronominal.dataset_scripts.construction.stage import Kept, Stage, select
from pronominal.dataset_scripts.construction.words import TARGETS

Labelling = Literal["gender", "none"]
UNLABELLED = -1

GIVEAWAY_FIELD = pa.field("giveaway", pa.int64())
LABEL_FIELD = pa.field("label", pa.int64())

NO_GENDER = "the pronoun is not he or she"
UNKNOWN = "a name of unknown or of both genders"
ALIKE = "both names have the same gender"


def labels(labelling: Labelling = "gender") -> Stage:
    """Return the stage that adds ``label`` and ``giveaway``.

    ``giveaway`` is the candidate whose gender is the pronoun's where the other one's is not, -1
    where gender tells nothing. With ``gender`` it is the label, and sentences without it are
    dropped; with ``none`` the label is -1 everywhere, for people to give, as in KnowRef's test.
    """

    def stage(rows: pa.RecordBatch) -> Kept:
        answers = [
            giveaway(pronoun["text"], found)
            for pronoun, found in zip(
                rows["pronoun"].to_pylist(), rows["genders"].to_pylist(), strict=True
            )
        ]
        reasons = [_reason(answer, labelling) for answer in answers]
        kept = select(rows, reasons)
        pairs = zip(answers, reasons, strict=True)
        right = [
            answer if isinstance(answer, int) else UNLABELLED
            for answer, reason in pairs
            if reason is None
        ]
        given = right if labelling == "gender" else [UNLABELLED] * len(right)
        marked = kept.rows.append_column(GIVEAWAY_FIELD, pa.array(right, pa.int64()))
        return Kept(
            marked.append_column(LABEL_FIELD, pa.array(given, pa.int64())), Counter(kept.dropped)
        )

    return stage


def giveaway(pronoun: str, genders: list[str | None]) -> int | str:
    """Return the candidate that the pronoun's gender tells, or why it tells none.

    >>> giveaway("she", ["male", "female"]), giveaway("she", ["female", "female"])
    (1, 'both names have the same gender')
    """
    wanted = TARGETS.get(pronoun)
    if wanted is None:
        return NO_GENDER
    if None in genders:
        return UNKNOWN
    return ALIKE if genders[0] == genders[1] else genders.index(wanted)


def _reason(answer: int | str, labelling: Labelling) -> str | None:
    if isinstance(answer, int) or (labelling == "none" and answer != NO_GENDER):
        return None
    return answer
