"""The right candidate by the gender giveaway: two genders, and he or she (3.1.4)."""

from typing import Literal

import pyarrow as pa

from pronominal.dataset_scripts.construction.stage import Kept, Stage, answered, with_column
from pronominal.dataset_scripts.construction.words import TARGETS

Labelling = Literal["gender", "none"]
UNLABELLED = -1

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
        both = zip(rows["pronoun"].to_pylist(), rows["genders"].to_pylist(), strict=True)
        answers = [giveaway(pronoun["text"], found) for pronoun, found in both]
        if labelling == "none":
            answers = [UNLABELLED if a in (UNKNOWN, ALIKE) else a for a in answers]
        kept, right = answered(rows, answers)
        given = right if labelling == "gender" else [UNLABELLED] * len(right)
        marked = with_column(kept.rows, "giveaway", pa.int64(), right)
        return Kept(with_column(marked, "label", pa.int64(), given), kept.rejected)

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
