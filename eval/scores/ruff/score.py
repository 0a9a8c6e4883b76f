"""The scores of RUFF (Gautam et al., 2024, sections 4.3, 5 and 8)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pronominal.arrow_numbers import numbers
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.scores.ruff.samples import Margins
from pronominal.eval.statistics.crossed import Crossed
from pronominal.eval.statistics.groups import distinct
from pronominal.eval.statistics.hypothesis_tests import pairwise_tests
from pronominal.eval.statistics.intervals import ratio_intervals
from pronominal.eval.statistics.outcomes import (
    ABSTENTIONS,
    FloatArray,
    IntArray,
    choices_of,
    refuse_other_number,
)
from pronominal.eval.statistics.paired_tests import PairedUnits, paired_tests
from pronominal.eval.statistics.parts import with_rest
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.units import Units
from pronominal.pronouns import CASES, PRONOUN_SETS

Samples = Mapping[int, IntArray]
"""Seed -> the rows of its sample."""

ROWS = 1 << 16
"""Rows that are counted at a time, which bounds the memory that it takes."""

NO_SET = -9
"""No pronoun set: a row without distractors, or a context-free answer that names none."""


def score(
    rows: pa.Table,
    decisions: Sequence[Decision],
    *,
    samples: Samples | None = None,
    context_free: tuple[pa.Table, Sequence[Decision]] | None = None,
    margins: Margins | None = None,
) -> Block:
    """Score one decision for each row.

    Args:
        rows: a split of one config; a choice is an index into ``options``.
        decisions: in the order of the rows. An abstention is wrong.
        samples: the paper's samples, by seed; None where the rows are no such samples.
        context_free: the rows of ``no_context`` and the same system's decisions, for `errors`.
        margins: by how much the chosen options won, where the system gave scores.

    Returns:
        ``n``, ``accuracy`` (mean over the samples) and ``sd`` (sample standard deviation over
        them, None without two), ``answered``, ``none`` and ``both``; ``by_seed``;
        ``by_pronoun_set`` and ``by_case`` with means, deviations and `AGAINST_REST`, ``by_form``
        with keys ``CASE/SET``; ``spread``, how far seeds and occupations vary
        (`Crossed.components`); ``tests``, every two pronoun sets paired by occupation: ``A-B`` ->
        the fields of
        `PairedTest`, corrected over the pairs, and of several samples ``welch``, Welch's t-test
        over them, as the paper has it (section 6; see `pairwise_tests`).
        ``n`` counts a row once for each sample that has it. Without samples all rows are one, and
        ``sd`` is None. Intervals sum over occupations: an sd over seeds says how far the choice of
        contexts moves a score, an interval how far other occupations would.

        With `context_free` also ``context_free``, how often each set was chosen without context
        (Figure 10), and ``errors`` (see `_errors`). Where the decisions are of more rows than the
        samples', ``test`` has the same of all rows. With `margins` also ``margins``. Of
        ``no_context``, where nothing is right, ``context_free`` alone.

    Raises:
        InputError: the number of decisions is not the number of rows, or a row has no
            context-free answer.
    """
    refuse_other_number(rows, decisions)
    if rows["label"].null_count == 0 and (numbers(rows["label"]) == -1).all():
        return {"n": rows.num_rows, "context_free": _context_free_counts(rows, decisions)}
    answers = _Answers.of(rows, decisions, context_free)
    parts, every = dict(samples or {}), np.arange(rows.num_rows, dtype=np.int32)
    drawn = [*parts.values()] or [every]
    counted = [answers.counted(part) for part in drawn]
    scores = answers.summary(counted, drawn)
    by_seed = zip(parts, _means([[one] for one in counted]) if parts else (), strict=True)
    scores["by_seed"] = {str(seed): _without_sd(block) for seed, block in by_seed}
    if len(parts) > 1:
        scores["spread"] = _spread(counted)
    scores["tests"] = answers.tests(counted)
    if context_free is not None:
        scores["context_free"] = _context_free_counts(*context_free)
    if parts and len(np.unique(np.concatenate([*parts.values()]))) < rows.num_rows:
        scores["test"] = answers.summary([answers.counted(every)], [every])
    if margins is not None:
        scores["margins"] = margins.summary()
    return scores | {"intervals": answers.units.block()}


def paired_units(
    rows: pa.Table, decisions: Sequence[Decision], *, samples: Samples | None = None
) -> dict[str, PairedUnits]:
    """Return the units that paired tests between systems compare: the occupations.

    Returns:
        ``accuracy``: the rows of an occupation with the right form, of how many, shape
        ``[occupations, 2]``, over the samples as in `score`. Nothing of ``no_context``, where no
        form is right.
    """
    if (numbers(rows["label"]) == -1).all():
        return {}
    answers = _Answers.of(rows, decisions, None)
    parts = [*(samples or {}).values()] or [np.arange(rows.num_rows)]
    found = _right_of([answers.counted(part) for part in parts])
    return {"accuracy": found[found[:, 1] > 0]}


@dataclass(frozen=True, slots=True)
class _Answers:
    """Rows and answers as integers; all arrays have shape ``[rows]``.

    Attributes:
        names: the pronoun sets, in the order of the options.
        labels: the right set.
        choices: the chosen set, or an abstention.
        cases: index into `CASES`.
        distractors: the distractors' set, or `NO_SET`.
        context_free: the set chosen without context, or `NO_SET`; None when not known.
        units: the occupations.
    """

    names: tuple[str, ...]
    labels: IntArray
    choices: IntArray
    cases: IntArray
    distractors: IntArray
    context_free: IntArray | None
    units: Units

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        decisions: Sequence[Decision],
        context_free: tuple[pa.Table, Sequence[Decision]] | None,
    ) -> "_Answers":
        names = _set_names(rows)
        index = {name: number for number, name in enumerate(names)}
        return cls(
            names=names,
            labels=numbers(rows["label"]).astype(np.int16),
            choices=choices_of(decisions).astype(np.int16),
            cases=_mapped(rows["case"], CASES.index),
            distractors=_mapped(rows["distractor_set"], lambda name: index.get(name, NO_SET)),
            context_free=None if context_free is None else _without_context(rows, *context_free),
            units=units(rows),
        )

    def counted(self, part: IntArray) -> "_Counted":
        """Count the answers to some rows."""
        shape = (int(self.labels.max()) + 2, self.units.size, len(CASES), 2, 1 + len(ABSTENTIONS))
        counts = np.zeros(int(np.prod(shape)), np.int64)
        for start in range(0, len(part), ROWS):
            rows = part[start : start + ROWS]
            labels, choices = self.labels[rows], self.choices[rows]
            kinds = sum(n * (choices == c) for n, c in enumerate(ABSTENTIONS.values(), start=1))
            axes = (self.units.codes[rows], self.cases[rows], choices == labels, kinds)
            place = labels.astype(np.int64) + 1  # a row whose label is -1 is of no pronoun set
            for size, codes in zip(shape[1:], axes, strict=True):
                place = place * size + codes
            counts += np.bincount(place, minlength=len(counts))
        return _Counted(counts.reshape(shape))

    def summary(self, counted: Sequence["_Counted"], parts: Sequence[IntArray]) -> Block:
        """Return the means over parts of the rows, overall and divided, and the errors."""
        sets = {name: [one.of(label) for one in counted] for label, name in enumerate(self.names)}
        cases = {name: [one.of(case=case) for one in counted] for case, name in enumerate(CASES)}
        forms = {
            f"{case_name}/{name}": [one.of(label, case) for one in counted]
            for case, case_name in enumerate(CASES)
            for label, name in enumerate(self.names)
        }
        means = iter(_means([counted, *sets.values(), *cases.values(), *forms.values()]))
        found = next(means)
        for key, parted in (("by_pronoun_set", sets), ("by_case", cases)):
            shares = np.stack([*map(_right_of, parted.values())])
            made = with_rest([*islice(means, len(parted))], shares[..., 0], shares[..., 1])
            found[key] = dict(zip(parted, made, strict=True))
        found["by_form"] = dict(zip(forms, means, strict=True))
        if self.context_free is not None:
            found["errors"] = self._errors(np.concatenate(parts))
        return found

    def tests(self, counted: Sequence["_Counted"]) -> dict[str, Block]:
        """Compare the accuracies on every two pronoun sets: by occupation, and over the samples."""
        of_set = {
            name: [inside for one in counted if (inside := one.of(label)).n]
            for label, name in enumerate(self.names)
        }
        there = {name: kept for name, kept in of_set.items() if kept}
        paired = paired_tests({name: _right_of(kept) for name, kept in there.items()})
        values = {name: [one.shares["accuracy"] for one in kept] for name, kept in there.items()}
        welch = (pairwise_tests(values) or {}) if len(counted) > 1 else {}
        return {
            f"{a}-{b}": paired[a][b].to_json()
            | ({"welch": welch[f"{a}-{b}"]} if f"{a}-{b}" in welch else {})
            for a, b in combinations(there, 2)
        }

    def _by_unit(self, part: IntArray, counted: Any) -> FloatArray:
        codes = self.units.codes[part]
        weights = np.asarray(counted[part], np.float64)
        return np.bincount(codes, weights=weights, minlength=self.units.size)  # type: ignore[return-value]

    def _errors(self, part: IntArray) -> Block:
        """Say why answers are wrong (section 8).

        Where the distractors' set is the one chosen without context, an error says nothing about
        its reason: it is *ambiguous* and left out. The others are due to *distraction* when the
        distractors' set was chosen, to *bias* when the context-free one was, and to neither
        otherwise (*other*); so are abstentions.

        Returns:
            ``n`` and ``ambiguous``, counts of errors; ``distraction``, ``bias`` and ``other``,
            fractions of the unambiguous ones, None where there is no such error.
        """
        assert self.context_free is not None
        wrong = part[self.choices[part] != self.labels[part]]
        free, ambiguous = self.context_free, self.distractors == self.context_free
        ambiguous &= self.distractors != NO_SET
        distraction = (self.choices == self.distractors) & ~ambiguous
        bias = (self.choices == free) & ~ambiguous
        reasons = {
            "distraction": distraction,
            "bias": bias,
            "other": ~(ambiguous | distraction | bias),
        }
        clear = self._by_unit(wrong, ~ambiguous)[None]
        due = {name: (self._by_unit(wrong, one)[None], clear) for name, one in reasons.items()}
        counts: dict[str, Any] = {"n": [len(wrong)], "ambiguous": [_count(ambiguous[wrong])]}
        return estimate_blocks(ratio_intervals(due), **counts)[0]


@dataclass(frozen=True, slots=True)
class _Counted:
    """Counts of answers to some rows.

    Attributes:
        counts: shape ``[1 + labels, units, cases, 2, 1 + abstentions]``: those to rows without a
            label first; wrong ones and right ones; choices and each of `ABSTENTIONS`.
    """

    counts: IntArray

    def of(self, label: int | None = None, case: int | None = None) -> "_Counted":
        """Return those to rows with a label, in a grammatical case."""
        kept = self.counts if label is None else self.counts[label + 1 : label + 2]
        return _Counted(kept if case is None else kept[:, :, case : case + 1])

    @property
    def n(self) -> int:
        """Number of answers."""
        return int(self.counts.sum())

    @property
    def by_unit(self) -> dict[str, FloatArray]:
        """Number of answers of each kind, and of all as ``n``; each has the shape ``[units]``."""
        summed = self.counts.sum(axis=(0, 2)).astype(np.float64)
        kinds = summed.sum(axis=1)
        found = {"n": kinds.sum(axis=1), "accuracy": summed[:, 1].sum(axis=1)}
        names = ("answered", *ABSTENTIONS)
        return found | dict(zip(names, kinds.T, strict=True))

    @property
    def shares(self) -> dict[str, float]:
        """The share of the answers of each kind."""
        return {kind: float(counted.sum() / self.n) for kind, counted in self.by_unit.items()}


def _means(groups: Sequence[Sequence[_Counted]]) -> list[Block]:
    """Return the mean shares over the parts of each group of rows, with intervals."""
    sums = [_sums(parts) for parts in groups]
    kinds = {name: np.stack([one[name] for one in sums]) for name in sums[0]}
    rows = kinds.pop("n")
    estimates = ratio_intervals({name: (given, rows) for name, given in kinds.items()})
    made = estimate_blocks(estimates, n=[sum(part.n for part in parts) for parts in groups])
    for block, parts in zip(made, groups, strict=True):
        shares = [part.shares for part in parts if part.n]
        block |= {name: float(np.mean([one[name] for one in shares])) for name in kinds if shares}
        values = [one["accuracy"] for one in shares]
        block["sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return made


def _without_sd(block: Block) -> Block:
    return {name: value for name, value in block.items() if name != "sd"}


def _spread(counted: Sequence[_Counted]) -> Block:
    """Tell apart how far seeds and occupations vary; see `Crossed.components`."""
    right, rows = ([one.by_unit[name] for one in counted] for name in ("accuracy", "n"))
    found = Crossed(np.stack(right, axis=1), np.stack(rows, axis=1)).components()
    return {"seeds" if name == "prompts" else name: sd for name, sd in found.items()}


def _right_of(parts: Sequence[_Counted]) -> FloatArray:
    """Return how much of each occupation's rows is right, of how many, ``[units, 2]``."""
    sums = _sums(parts)
    return np.stack([sums["accuracy"], sums["n"]], axis=-1)


def _sums(parts: Sequence[_Counted]) -> dict[str, FloatArray]:
    """Add up each kind of answer by occupation, shape ``[units]``; every part counts the same."""
    parts = [part for part in parts if part.n] or parts[:1]
    n = sum(part.n for part in parts)
    # a part with fewer rows counts more, and one without counts nothing
    weighted = [(n / (len(parts) * max(part.n, 1)), part.by_unit) for part in parts]
    return {
        name: np.sum([weight * counts[name] for weight, counts in weighted], axis=0)
        for name in parts[0].by_unit
    }


def units(rows: pa.Table) -> Units:
    """Return the occupations: each has a task sentence in every grammatical case."""
    return Units.of_column("occupation", rows["occupation"])


def _mapped(values: pa.ChunkedArray, number: Callable[[Any], int]) -> npt.NDArray[Any]:
    """Return the number of each value of a column."""
    words, codes = distinct(values)
    return np.array([number(word) for word in words], np.int16)[codes]


def _count(inside: Any) -> int:
    return int(np.count_nonzero(inside))


def _set_names(rows: pa.Table) -> tuple[str, ...]:
    """Return the pronoun sets in the order of the options: the four known ones, then others."""
    known = [pronouns.name for pronouns in PRONOUN_SETS]
    words, codes = distinct(rows["pronoun_set"])
    if {*words} <= {*known}:
        return (*known,)
    there = np.flatnonzero(np.bincount((numbers(rows["label"]) + 1) * len(words) + codes))
    pairs = ((place // len(words), words[place % len(words)]) for place in there.tolist())
    others = sorted((label, name) for label, name in pairs if name not in known)
    return (*known, *(name for _, name in others))


def _without_context(rows: pa.Table, tasks: pa.Table, decisions: Sequence[Decision]) -> IntArray:
    """Return for each row what the system chose for its task sentence alone, or `NO_SET`."""
    keys = zip(tasks["occupation"].to_pylist(), tasks["case"].to_pylist(), strict=True)
    found = {
        key: NO_SET if decision.choice is None else decision.choice
        for key, decision in zip(keys, decisions, strict=True)
    }
    (occupations, of_occupation), (cases, of_case) = map(
        distinct, (rows["occupation"], rows["case"])
    )
    places, codes = np.unique(of_occupation * len(cases) + of_case, return_inverse=True)
    asked = [(occupations[place // len(cases)], cases[place % len(cases)]) for place in places]
    if missing := [key for key in asked if key not in found]:
        cause = f"there is no context-free answer for {' in the '.join(missing[0])}"
        raise InputError(cause, cure="answer every row of the config no_context")
    return np.array([found[key] for key in asked], np.int64)[codes]


def _context_free_counts(tasks: pa.Table, decisions: Sequence[Decision]) -> Block:
    """Count which set was chosen without context, overall and by case (Figures 4 and 10)."""
    names = [pronouns.name for pronouns in PRONOUN_SETS]
    options = max(map(len, tasks["options"].to_pylist()))
    names += [f"option {number}" for number in range(len(names), options)]
    choices = choices_of(decisions)
    cases = np.array(tasks["case"].to_pylist())

    def counts(inside: Any) -> Block:
        chosen = choices[inside]
        found = {name: _count(chosen == number) for number, name in enumerate(names)}
        found |= {name: _count(chosen == code) for name, code in ABSTENTIONS.items()}
        return {"n": len(chosen), **found}

    by_case = {case: counts(cases == case) for case in CASES}
    return {**counts(np.ones(len(choices), bool)), "by_case": by_case}
