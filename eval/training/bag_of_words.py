"""``pronominal train bag-of-words``: the floor of reading, learnt in seconds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.adapters.baselines.bag_of_words import (
    WordWeights,
    first_mentioned,
    role_tagged_words,
    save_word_weights,
)
from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.eval.training.data.versions import NEITHER_IS_RIGHT, LeftOut, write_left_out
from pronominal.instances import ResolutionInstance

STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Values of C, the inverse strength of the regularisation, that the validation rows choose from."""

CLASS_WEIGHTS = (None, "balanced")
"""Whether training rows weigh the more the rarer it is which mention is right."""

LEAST_ROWS = 2
"""A role-tagged word has to occur in as many training rows to have a weight."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One regression of the grid, measured on the validation rows.

    Attributes:
        strength: C.
        class_weight: one of `CLASS_WEIGHTS`.
        accuracy: share of right answers.
        balanced_accuracy: mean of the accuracies where the first mention is right and where the
            second one is, which a fixed position does not raise above 0.5.
        first_mention: share of the answers that are the first mention.
    """

    strength: float
    class_weight: str | None
    accuracy: float
    balanced_accuracy: float
    first_mention: float


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows that can be learnt from: their words, and whether the first mention is right."""

    words: list[frozenset[str]]
    first_is_right: npt.NDArray[np.bool_]
    left_out: list[LeftOut]

    @classmethod
    def of(cls, instances: Sequence[ResolutionInstance], split: str) -> "_Rows":
        """Take the rows that can be learnt from; `InputError` if one mention is right in all."""
        kept, left_out = [], []
        for row in instances:
            if row.label not in (0, 1):
                left_out.append(LeftOut(split, row.id, "original", NEITHER_IS_RIGHT))
            elif first_mentioned(row) is None:
                left_out.append(LeftOut(split, row.id, "original", "the mentions have no order"))
            else:
                kept.append(row)
        right = np.array([first_mentioned(row) == row.label for row in kept], dtype=np.bool_)
        if len(np.unique(right)) < 2:
            raise InputError(
                f"{len(kept)} of the {split} rows can be used, and the same mention is right in "
                "all of them",
                cure="give rows with located candidates and both kinds of answers",
            )
        return cls([role_tagged_words(row) for row in kept], right, left_out)


def train_bag_of_words(
    train: Sequence[ResolutionInstance],
    validation: Sequence[ResolutionInstance],
    out: Path,
    data: Mapping[str, Any],
) -> dict[str, Any]:
    """Fit the regression on `train` and write it as a checkpoint of ``bag-of-words``.

    Every C of `STRENGTHS` with every one of `CLASS_WEIGHTS` is tried; the one with the highest
    balanced accuracy on `validation` is kept, of equal ones the first, which has the smallest C.
    Plain accuracy would follow how often the first mention is right, which is 55 % of KnowRef's
    training rows and 47 % of its test.

    Rows without a right candidate or whose mentions have no order are left out and listed in
    ``OUT/left-out.jsonl``. `data` identifies the rows; the folder `out` is replaced.

    Returns:
        What the checkpoint's ``config.json`` says: the data, the counts, the trials, the choice.

    Raises:
        InputError: scikit-learn is not installed, or the rows have one kind of answer only.
    """
    try:
        import scipy.sparse  # noqa: F401 - in `_matrix`
        from sklearn.linear_model import LogisticRegression
    except ModuleNotFoundError as error:
        raise InputError(
            f"bag-of-words needs the package {error.name} to be trained",
            cure='pip install "pronominal[bag-of-words]"',
        ) from error
    learnt, stopped = _Rows.of(train, "train"), _Rows.of(validation, "validation")
    vocabulary = _vocabulary(learnt.words)
    seen, unseen = _matrix(learnt.words, vocabulary), _matrix(stopped.words, vocabulary)
    trials, fitted = [], []
    for strength, class_weight in product(STRENGTHS, CLASS_WEIGHTS):
        model = LogisticRegression(C=strength, class_weight=class_weight, max_iter=2000)
        fitted.append(model.fit(seen, learnt.first_is_right))
        trials.append(_trial(strength, class_weight, model.predict(unseen), stopped))
    best = max(range(len(trials)), key=lambda index: trials[index].balanced_accuracy)
    words = zip(vocabulary, fitted[best].coef_[0].tolist(), strict=True)
    weights = WordWeights(float(fitted[best].intercept_[0]), dict(words))
    config = {
        "system": "bag-of-words",
        "data": dict(data),
        "least_rows": LEAST_ROWS,
        "counts": {
            "train": len(learnt.words),
            "train_left_out": len(learnt.left_out),
            "validation": len(stopped.words),
            "validation_left_out": len(stopped.left_out),
            "words": len(vocabulary),
        },
        "chosen": asdict(trials[best]),
        "trials": [asdict(trial) for trial in trials],
    }
    with new_folder(out) as beside:
        save_word_weights(weights, config, beside)
        write_left_out(beside, [*learnt.left_out, *stopped.left_out])
    return config


def _vocabulary(rows: Iterable[frozenset[str]]) -> list[str]:
    counts = Counter(word for words in rows for word in words)
    vocabulary = sorted(word for word, count in counts.items() if count >= LEAST_ROWS)
    if not vocabulary:
        raise InputError(f"no word occurs in {LEAST_ROWS} rows", cure="give more rows")
    return vocabulary


def _matrix(rows: Sequence[frozenset[str]], vocabulary: Sequence[str]) -> Any:
    """Return which words each row has, as a sparse matrix of shape ``[rows, words]``."""
    from scipy.sparse import csr_array

    column_of = {word: column for column, word in enumerate(vocabulary)}
    columns = [sorted(column_of[word] for word in words if word in column_of) for words in rows]
    ends = np.cumsum([0, *map(len, columns)])
    indices = np.array([column for row in columns for column in row], dtype=np.int64)
    return csr_array((np.ones(len(indices)), indices, ends), shape=(len(rows), len(column_of)))


def _trial(
    strength: float, class_weight: str | None, answers: npt.NDArray[np.bool_], rows: _Rows
) -> Trial:
    right = answers == rows.first_is_right
    halves = right[rows.first_is_right].mean(), right[~rows.first_is_right].mean()
    return Trial(
        strength,
        class_weight,
        accuracy=float(right.mean()),
        balanced_accuracy=float(np.mean(halves)),
        first_mention=float(answers.mean()),
    )
