"""Whether a model writes the form that it finds likeliest (Subramonian et al., 2025)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.arrow_numbers import numbers
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import Prediction, predictions_file, read_predictions
from pronominal.eval.runs.two_questions import AFTER, BEFORE, CONTINUED
from pronominal.eval.statistics.agreement import (
    agreement_interval,
    beta_of,
    cohens_kappa,
    matthews_correlation,
)
from pronominal.eval.statistics.intervals import ratio_intervals
from pronominal.eval.statistics.outcomes import BoolArray, FloatArray, IntArray
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.units import Units

NO_FORM = -1
RUN_AGAIN = "run the system again"

ONE_VERDICT = "it is undefined where a verdict is always the same"
"""Why a kappa or a correlation has no interval."""


def agreement_scores(
    split: Split, predictions: Path, units_of: Callable[[pa.Table], Units] | None = None
) -> Block:
    """Compare the form by probability with the forms by generation; nothing where there are none.

    Returns:
        ``agreement``: ``samples``, how many continuations there are, and a block of the contexts
        ``before`` and ``after`` the slot, each with ``by_pronoun_set`` of the same blocks:
        ``probability``, the share of rows whose likeliest form is right; ``generation``, the share
        of continuations whose first form is of the right pronoun set, or that have none, which is
        no wrong one; ``without_form``, the share that have none; ``first_generation``, the share
        of first samples that are right. Of these and the verdict by probability: ``agreement``,
        the share of rows in which they agree, ``kappa`` and ``mcc``. Of all samples:
        ``disagreement``, the mean over rows of d = p (1 - g) + (1 - p) g, where p is 1 if the
        likeliest form is right and g the share of right samples, ``beta``, the distribution of d
        by its moments, and ``variation``, the mean standard deviation of a row's verdicts.

    Raises:
        InputError: a row's continuations are not what a run writes.
    """
    _, first = next(read_predictions(predictions), (0, None))
    if first is None or CONTINUED not in first.given:
        return {}
    units = units_of(split.table) if units_of else Units.rows(split.num_rows)
    answers = _answers(split, predictions)
    labels = numbers(split.table["label"])
    names = np.array(split.table["pronoun_set"].to_pylist(), dtype=object)
    found: Block = {}
    for where in (BEFORE, AFTER):
        given = [(row, right, forms[where]) for row, right, forms in answers if where in forms]
        if not given:
            continue
        if len({len(forms) for *_, forms in given} | {0}) != 2:
            cause, file = "rows have other numbers of continuations", predictions_file(predictions)
            raise InputError(cause, cure=RUN_AGAIN, file=file)
        asked, right, drawn = (np.array(one) for one in zip(*given, strict=True))
        named = drawn == labels[asked][:, None]
        verdicts = _Verdicts(right, named, drawn == NO_FORM, units, asked)
        found |= {"samples": drawn.shape[1], where: verdicts.divided(names[asked])}
    return {"agreement": found} if found else {}


def _answers(split: Split, predictions: Path) -> list[tuple[int, bool, dict[str, list[int]]]]:
    """Return each row with a right form, whether its likeliest form is it, and its samples."""
    labels = numbers(split.table["label"])
    rows = {name: row for row, name in enumerate(split.table["id"].to_pylist()) if labels[row] >= 0}
    return [
        (row, one.decision.choice == labels[row], _forms(one, predictions, number))
        for number, one in read_predictions(predictions)
        if (row := rows.get(one.id)) is not None
    ]


def _forms(prediction: Prediction, file: Path, number: int) -> dict[str, list[int]]:
    try:
        return {
            where: [NO_FORM if form is None else int(form) for form in forms]
            for where, forms in prediction.given[CONTINUED].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        cause, at = "its continuations are no lists of indices", predictions_file(file)
        raise InputError(cause, cure=RUN_AGAIN, file=at, row=f"line {number}") from error


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """What both questions say of rows.

    Attributes:
        probability: whether the likeliest form is right, shape ``[rows]``.
        named: whether a sample's first form is, shape ``[rows, samples]``.
        without: whether a sample has no form, in the same shape.
        units: of the whole split.
        rows: the rows in it.
    """

    probability: BoolArray
    named: BoolArray
    without: BoolArray
    units: Units
    rows: IntArray

    def divided(self, names: Any) -> Block:
        """Return the block of all rows, and of those of each pronoun set."""
        parts = {name: self._part(names == name) for name in dict.fromkeys(names.tolist())}
        by_set = {name: part.block() for name, part in parts.items()}
        return {**self.block(), "by_pronoun_set": by_set}

    def _part(self, inside: BoolArray) -> "_Verdicts":
        arrays = (self.probability[inside], self.named[inside], self.without[inside])
        return _Verdicts(*arrays, self.units, self.rows[inside])

    def block(self) -> Block:
        """Return the figures of these rows."""
        right = self.named | self.without
        p, g, first = self.probability.astype(float), right.mean(axis=1), right[:, 0]
        d = p * (1 - g) + (1 - p) * g
        shares = {
            "probability": p,
            "generation": g,
            "without_form": self.without.mean(axis=1),
            "first_generation": first.astype(float),
            "agreement": (self.probability == first).astype(float),
            "disagreement": d,
            "variation": right.std(axis=1),
        }
        whole = self._summed(np.ones(len(p)))[None]
        estimates = ratio_intervals({n: (self._summed(y)[None], whole) for n, y in shares.items()})
        verdicts = (2 * self.probability + first)[:, None] == np.arange(4)
        tables = np.stack([self._summed(one) for one in verdicts.T.astype(float)], axis=1)
        for name, statistic in (("kappa", cohens_kappa), ("mcc", matthews_correlation)):
            estimates[name] = agreement_interval(statistic, tables.reshape(-1, 2, 2))
        beta = beta_of(d)
        fitted = None if beta is None else dict(zip(("alpha", "beta"), beta, strict=True))
        return {**estimate_blocks(estimates, ONE_VERDICT, n=[len(p)])[0], "beta": fitted}

    def _summed(self, values: FloatArray) -> FloatArray:
        codes = self.units.codes[self.rows]
        summed: FloatArray = np.bincount(codes, values, self.units.size).astype(np.float64)
        return summed
