"""The scores of RUFF (Gautam et al., 2024, sections 4.3, 5 and 8)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.scores.ruff.samples import Margins
from pronominal.eval.statistics.hypothesis_tests import pairwise_tests
from pronominal.eval.statistics.outcomes import (
    CHOSE_BOTH,
    CHOSE_NONE,
    IntArray,
    choices_of,
    refuse_other_number,
    shares_by,
)
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Block
from pronominal.pronouns import CASES, PRONOUN_SETS

Samples = Mapping[int, IntArray]
"""Seed -> the rows of its sample."""

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
        them, None without two), ``none`` and ``both``; ``by_seed``; ``by_pronoun_set`` and
        ``by_case`` with means and deviations, ``by_form`` with keys ``CASE/SET``; ``tests``,
        Welch's t-tests between pronoun sets (section 6; see `pairwise_tests`). ``n`` counts a row
        once for each sample that has it. Without samples all rows are one, and ``sd`` is None.

        With `context_free` also ``context_free``, how often each set was chosen without context
        (Figure 10), and ``errors`` (see `_errors`). Where the decisions are of more rows than the
        samples', ``test`` has the same of all rows. With `margins` also ``margins``. Of
        ``no_context``, where nothing is right, ``context_free`` alone.

    Raises:
        InputError: the number of decisions is not the number of rows, or a row has no
            context-free answer.
    """
    refuse_other_number(rows, decisions)
    if rows["label"].null_count == 0 and (rows["label"].to_numpy() == -1).all():
        return {"n": rows.num_rows, "context_free": _context_free_counts(rows, decisions)}
    answers = _Answers.of(rows, decisions, context_free)
    parts, every = dict(samples or {}), np.arange(rows.num_rows)
    scores = answers.summary([*parts.values()] or [every])
    scores["by_seed"] = {str(seed): answers.block(part) for seed, part in parts.items()}
    scores["tests"] = answers.tests(parts) if len(parts) > 1 else None
    if context_free is not None:
        scores["context_free"] = _context_free_counts(*context_free)
    if parts and len(np.unique(np.concatenate([*parts.values()]))) < rows.num_rows:
        scores["test"] = answers.summary([every])
    if margins is not None:
        scores["margins"] = margins.summary()
    return scores


def paired_units(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, PairedUnits]:
    """Return the units that paired tests between systems compare: the task sentences.

    Returns:
        ``accuracy``: share of each task sentence's rows with the right form, shape ``[tasks]``; a
        task sentence is known by its occupation, participant and grammatical case. Nothing of
        ``no_context``, where no form is right.
    """
    labels = rows["label"].to_numpy()
    if (labels == -1).all():
        return {}
    known_by = [rows[name].cast(pa.string()) for name in ("occupation", "participant", "case")]
    tasks = pc.binary_join_element_wise(*known_by, "\n", null_handling="replace")
    codes = tasks.combine_chunks().dictionary_encode().indices.to_numpy()
    right = choices_of(decisions) == labels
    return {"accuracy": shares_by(codes, right, np.ones_like(right))}


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
    """

    names: tuple[str, ...]
    labels: IntArray
    choices: IntArray
    cases: IntArray
    distractors: IntArray
    context_free: IntArray | None

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        decisions: Sequence[Decision],
        context_free: tuple[pa.Table, Sequence[Decision]] | None,
    ) -> "_Answers":
        labels = rows["label"].to_numpy()
        names = _set_names(rows)
        index = {name: number for number, name in enumerate(names)}
        distractors = [index.get(name, NO_SET) for name in rows["distractor_set"].to_pylist()]
        return cls(
            names=names,
            labels=labels,
            choices=choices_of(decisions),
            cases=np.array([CASES.index(case) for case in rows["case"].to_pylist()]),
            distractors=np.array(distractors),
            context_free=None if context_free is None else _without_context(rows, *context_free),
        )

    def summary(self, parts: Sequence[IntArray]) -> Block:
        """Return the means over parts of the rows, overall and divided, and the errors."""
        pooled = np.concatenate(parts)
        forms = {
            f"{case}/{name}": (self.cases == c) & (self.labels == s)
            for c, case in enumerate(CASES)
            for s, name in enumerate(self.names)
        }
        sets = {name: self.labels == number for number, name in enumerate(self.names)}
        cases = {case: self.cases == number for number, case in enumerate(CASES)}
        found = self._means(parts, np.ones(len(self.labels), bool))
        for key, strata in (("by_pronoun_set", sets), ("by_case", cases), ("by_form", forms)):
            found[key] = {name: self._means(parts, inside) for name, inside in strata.items()}
        if self.context_free is not None:
            found["errors"] = self._errors(pooled)
        return found

    def block(self, part: IntArray) -> Block:
        """Return the counts and fractions of some rows."""
        n, choices = len(part), self.choices[part]
        right = _count(choices == self.labels[part])
        return {
            "n": n,
            "accuracy": right / n if n else None,
            "none": _count(choices == CHOSE_NONE) / n if n else None,
            "both": _count(choices == CHOSE_BOTH) / n if n else None,
        }

    def tests(self, parts: Samples) -> Block | None:
        """Compare the accuracies on two pronoun sets over the samples, for every two."""
        accuracies = {
            name: [self.block(part[self.labels[part] == s])["accuracy"] for part in parts.values()]
            for s, name in enumerate(self.names)
        }
        there = {name: values for name, values in accuracies.items() if None not in values}
        return pairwise_tests(there)

    def _means(self, parts: Sequence[IntArray], inside: Any) -> Block:
        blocks = [self.block(part[inside[part]]) for part in parts]
        found: Block = {"n": sum(block["n"] for block in blocks)}
        for key in ("accuracy", "none", "both"):
            values = [block[key] for block in blocks if block[key] is not None]
            found[key] = float(np.mean(values)) if values else None
            if key == "accuracy":
                found["sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return found

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
        distractors, biased = self.distractors[wrong], self.context_free[wrong]
        ambiguous = (distractors == biased) & (distractors != NO_SET)
        clear = _count(~ambiguous)
        choices = self.choices[wrong]
        counted = {
            "distraction": _count((choices == distractors) & ~ambiguous),
            "bias": _count((choices == biased) & ~ambiguous),
        }
        counted["other"] = clear - sum(counted.values())
        shares = {name: count / clear if clear else None for name, count in counted.items()}
        return {"n": len(wrong), "ambiguous": _count(ambiguous), **shares}


def _count(inside: Any) -> int:
    return int(np.count_nonzero(inside))


def _set_names(rows: pa.Table) -> tuple[str, ...]:
    """Return the pronoun sets in the order of the options: the four known ones, then others."""
    known = [pronouns.name for pronouns in PRONOUN_SETS]
    pairs = zip(rows["label"].to_pylist(), rows["pronoun_set"].to_pylist(), strict=True)
    others = sorted({(label, name) for label, name in pairs if name not in known})
    return (*known, *(name for _, name in others))


def _without_context(rows: pa.Table, tasks: pa.Table, decisions: Sequence[Decision]) -> IntArray:
    """Return for each row what the system chose for its task sentence alone, or `NO_SET`."""

    def keys(table: pa.Table) -> Iterator[tuple[str, str]]:
        yield from zip(table["occupation"].to_pylist(), table["case"].to_pylist(), strict=True)

    found = {
        key: NO_SET if decision.choice is None else decision.choice
        for key, decision in zip(keys(tasks), decisions, strict=True)
    }
    try:
        return np.array([found[key] for key in keys(rows)])
    except KeyError as error:
        cause = f"there is no context-free answer for {' in the '.join(error.args[0])}"
        raise InputError(cause, cure="answer every row of the config no_context") from error


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
        abstained = {"none": CHOSE_NONE, "both": CHOSE_BOTH}
        found |= {name: _count(chosen == code) for name, code in abstained.items()}
        return {"n": len(chosen), **found}

    by_case = {case: counts(cases == case) for case in CASES}
    return {**counts(np.ones(len(choices), bool)), "by_case": by_case}
