"""How far annotators agree."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.errors import InputError
from pronominal.eval.annotation.answers import Answers
from pronominal.eval.annotation.key import Answer
from pronominal.eval.annotation.votes import majority
from pronominal.eval.statistics.intervals import ratio_intervals
from pronominal.eval.statistics.scores import Block, estimate_blocks

OF_KAPPA = "how often one of Fleiss' kappa would hold was not measured"
"""Why it has no interval."""

Counts = npt.NDArray[np.int64]
"""How many annotators gave each answer to each question, shape ``[questions, answers]``."""


def fleiss_kappa(counts: Counts) -> float | None:
    """Return Fleiss' kappa: agreement beyond that of chance, from the answers' overall shares.

    Every row of the counts adds up to the same number of annotators. At most 1; 0 is chance; None
    where it is undefined, because every answer is the same or there are fewer than two annotators.
    """
    observed = percent_agreement(counts)
    shares = counts.sum(axis=0) / counts.sum()
    expected = float(np.square(shares).sum())
    if observed is None or np.count_nonzero(shares) < 2:
        return None
    return (observed - expected) / (1 - expected)


def percent_agreement(counts: Counts) -> float | None:
    """Return the share of pairs of annotators that agree, in [0, 1], averaged over questions.

    None with fewer than two annotators.
    """
    annotators = int(counts[0].sum())
    if annotators < 2:
        return None
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return float(agreeing.mean() / (annotators * (annotators - 1)))


def measures(counts: Counts | None) -> Block:
    """Return the measures of all annotators by their names; see `agreement`.

    They are None without answers. Intervals are over questions.
    """
    given = np.zeros((0, 1), np.int64) if counts is None else counts
    annotators = given.sum(axis=1)
    made = _shares(
        percent_agreement=((given * (given - 1)).sum(axis=1), annotators * (annotators - 1)),
        unanimous=(given.max(axis=1, initial=0) == annotators, np.ones_like(annotators)),
    )
    made["fleiss_kappa"] = None if counts is None else fleiss_kappa(counts)
    made["interval"]["fleiss_kappa"] = None
    made.setdefault("interval_missing", {})["fleiss_kappa"] = OF_KAPPA
    return made


def _shares(**shares: tuple[npt.ArrayLike, npt.ArrayLike]) -> Block:
    """Return shares by their names, each of a part and a whole of every question."""
    parts = {name: (np.asarray(y)[None], np.asarray(x)[None]) for name, (y, x) in shares.items()}
    n = [x.shape[1] for _, x in parts.values()]
    return estimate_blocks(ratio_intervals(parts), n=n[:1])[0]


def counts_of(given: tuple[tuple[Answer, ...], ...]) -> Counts:
    """Count the answers to each question; answers have columns in the order in which they come."""
    known = {one: column for column, one in enumerate(dict.fromkeys(chain.from_iterable(given)))}
    counts = np.zeros((len(given), len(known)), dtype=np.int64)
    for row, answers in enumerate(given):
        for answer in answers:
            counts[row, known[answer]] += 1
    return counts


def agreement(answers: Answers) -> dict[str, Any]:
    """Return how far the annotators of an export agree.

    Returns:
        ``task``, ``questions`` and ``annotators`` (counts); ``fleiss_kappa`` and
        ``percent_agreement`` (see there); ``unanimous``, the share of questions that all answer
        alike; the ``interval`` of each; ``answers``, how often each answer was given;
        ``by_annotator``, for each name ``answers`` and ``with_majority``, the share of questions
        with a majority (more than half) to which they gave its answer. Candidates are counted by
        their place in the dataset, not in the sheet.
    """
    if len(answers.annotators) < 2:
        cure = "import the sheets of two or more"
        raise InputError("one annotator agrees with nobody", cure=cure)
    counts = counts_of(answers.given)
    columns = zip(*answers.given, strict=True)
    majorities = [majority(given) for given in answers.given]
    return {
        "task": answers.key.task,
        "questions": len(answers.given),
        "annotators": len(answers.annotators),
        **measures(counts),
        "answers": _told(chain.from_iterable(answers.given)),
        "by_annotator": {
            name: _annotator(column, majorities)
            for name, column in zip(answers.annotators, columns, strict=True)
        },
    }


def _annotator(column: tuple[Answer, ...], majorities: list[Answer | None]) -> dict[str, Any]:
    pairs = zip(column, majorities, strict=True)
    decided = [answer == other for answer, other in pairs if other is not None]
    share = _shares(with_majority=(decided, np.ones(len(decided))))
    return {"answers": _told(column), **share}


def _told(given: Iterable[Answer]) -> dict[str, int]:
    """Count answers, indices of candidates as ``candidate 0``."""
    names = (f"candidate {one}" if isinstance(one, int) else one for one in given)
    return dict(sorted(Counter(names).items()))
