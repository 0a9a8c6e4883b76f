"""What antecedent switching adds to a trained CAW, on four datasets, from archived outcomes.

``collect FOLDER ...`` reads folders of ``pronominal train`` whose seeds were also evaluated into
``seed-N/runs``, and folders of runs of systems that have no seeds (``evaluate --out``). It prints a
line for each run: whether each test row's answer was right, wrong or none, and no text and no id.
Trainings of another day are further lines of the same file. ``table`` prints, as JSON, the figures
that cards/caw.md has of that file for two trainings or systems: means over seeds, and differences
with intervals for other units and other seeds (`compare_seeds`). Units are KnowRef's sentences with
those that repeat them, rows of GAP, WinoPron's occupations, and WinoNB's upstream sentences.

``python benchmarks/trained_caw.py collect --data BUILT FOLDER ...``
``python benchmarks/trained_caw.py table --data BUILT caw-as-it-is caw-switching``
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pronominal.arrow_numbers import numbers
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.evaluation import answered
from pronominal.eval.runs.record import read_record
from pronominal.eval.scores.knowref.score import units as sentences
from pronominal.eval.scores.winonb.answers import schemas_of, units
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.outcomes import FloatArray, IntArray, choices_of, right_choices
from pronominal.eval.training.measures.comparison import SeedComparison, compare_seeds
from pronominal.eval.training.measures.testing import RUNS
from pronominal.pronouns import PRONOUN_SETS

ARCHIVE = Path(__file__).with_suffix(".jsonl")
TESTS = {
    "KnowRef": "knowref/original",
    "GAP": "gap/original",
    "WinoPron": "winopron/double",
    "WinoNB, generic": "winonb/generic",
}
RIGHT, WRONG, NONE, NEITHER = "10-="
"""A right choice, a wrong one, no choice; no choice where GAP's answer is neither candidate."""

SET_OF = {form: one.name for one in PRONOUN_SETS for form in one.forms}

SWITCHED = {f"{name}/original": f"{name}/switched" for name in ("knowref", "gap")}
"""A test -> the rows whose candidates changed places."""


def collected(folder: Path, data: Path) -> Iterator[dict[str, Any]]:
    """Yield what each run of a training's seeds answered, or each run of a folder of runs."""
    for file in sorted([*folder.glob(f"seed-*/{RUNS}/*/run.json"), *folder.glob("*/run.json")]):
        record = read_record(file.parent)
        test = f"{record.dataset.name}/{record.dataset.config}"
        split = rows_of(data, test)
        of_seed = file.parts[-3] == RUNS
        yield {
            "training": folder.name if of_seed else record.label,
            "seed": int(file.parts[-4].removeprefix("seed-")) if of_seed else 0,
            "test": test,
            "digest": split.digest,
            "outcomes": outcomes(split, file.parent),
        }


@cache
def rows_of(data: Path, test: str) -> Split:
    """Return the rows of a test, such as ``gap/original``, of the datasets built in a folder."""
    dataset, config = test.split("/")
    return load_split(str(data / dataset), config, "test")


def outcomes(split: Split, run: Path) -> str:
    """Return a character for each row."""
    chosen = choices_of(answered(split, run).decisions)
    right = chosen == right_choices(numbers(split.table["label"]), len(split.choices[0]))
    names = {
        (False, False): WRONG,
        (True, False): RIGHT,
        (False, True): NONE,
        (True, True): NEITHER,
    }
    return "".join(names[yes, code < 0] for code, yes in zip(chosen, right, strict=True))


def units_of(split: Split, test: str) -> IntArray:
    """Return the number of each row's unit."""
    if test == TESTS["WinoNB, generic"]:
        return units(split.table, schemas_of(split.table)).codes
    if test == TESTS["KnowRef"]:
        return sentences(split.table).codes
    if test == TESTS["WinoPron"]:
        occupations = split.table["occupation"].to_numpy(zero_copy_only=False)
        return np.unique(occupations, return_inverse=True)[1]
    return np.arange(split.num_rows)


class Archive:
    """The outcomes of all seeds of two trainings.

    Args:
        lines: what `collected` yields.
        data: folder of the built datasets.
        trainings: names of the two.
    """

    def __init__(
        self, lines: Sequence[Mapping[str, Any]], data: Path, trainings: Sequence[str]
    ) -> None:
        self._trainings = trainings
        self._outcomes = {(one["training"], one["seed"], one["test"]): one for one in lines}
        self._data = data

    def read(self, test: str) -> list[NDArray[np.str_]]:
        """Return both trainings' outcomes of a test, each of shape ``[seeds, rows]``."""
        digest = rows_of(self._data, test).digest
        found: dict[str, list[list[str]]] = {name: [] for name in self._trainings}
        for (training, _, of), one in sorted(self._outcomes.items(), key=lambda one: one[0]):
            if training in found and of == test and one["digest"] == digest:
                found[training].append([*one["outcomes"]])
        return [np.array(found[name]) for name in self._trainings]

    def figures(self, name: str) -> dict[str, SeedComparison]:
        """Return what both trainings have of a test: shares of all rows, or of pairs."""
        test = TESTS[name]
        split = rows_of(self._data, test)
        both, codes = self.read(test), units_of(split, test)
        of_units = partial(summed, codes=codes)
        found = {
            "right": compare_seeds(*(of_units(is_right(one)) for one in both)),
            "answered": compare_seeds(*(of_units(np.isin(one, [RIGHT, WRONG])) for one in both)),
        }
        switched = self.read(SWITCHED[test]) if test in SWITCHED else []
        if switched and all(map(len, switched)):
            pairs = paired_rows(split, rows_of(self._data, SWITCHED[test]))
            versions = zip(both, switched, strict=True)
            right = [is_right(one[:, pairs]) & is_right(other) for one, other in versions]
            found["right in both"] = compare_seeds(*(summed(one, codes[pairs]) for one in right))
        if test == TESTS["WinoPron"]:
            first, second = opposite_rows(split)
            right = [is_right(one[:, first]) & is_right(one[:, second]) for one in both]
            found["right in both"] = compare_seeds(*(summed(one, codes[first]) for one in right))
        for pronoun_set, rows in of_sets(split).items():
            chosen = (summed(is_right(one)[:, rows], codes[rows]) for one in both)
            found[f"right, {pronoun_set}"] = compare_seeds(*chosen)
        return found


def is_right(outcomes: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Return whether answers are right."""
    return np.isin(outcomes, [RIGHT, NEITHER])


def summed(values: NDArray[np.bool_], codes: IntArray) -> FloatArray:
    """Return a number for each unit, ``[seeds, units]``, whose mean is the share of the rows."""
    known, places = np.unique(codes, return_inverse=True)
    sums = np.stack([np.bincount(places, one, len(known)) for one in values])
    return np.asarray(sums * len(known) / values.shape[1])


def paired_rows(original: Split, switched: Split) -> IntArray:
    """Return the row of each switched row's original."""
    rows = {name: row for row, name in enumerate(original.table["id"].to_pylist())}
    return np.array([rows[name] for name in switched.table["id"].to_pylist()])


def opposite_rows(split: Split) -> tuple[IntArray, IntArray]:
    """Return the two rows of each pair: one template pair and form, and opposite answers."""
    order = np.argsort(Sentences.of(split.table).disambiguations.codes, kind="stable")
    return order[::2], order[1::2]


def of_sets(split: Split) -> dict[str, IntArray]:
    """Return the rows of each pronoun set, of those that are more than one."""
    forms = [one["text"].lower() for one in split.table["pronoun"].to_pylist()]
    sets = np.array([SET_OF.get(form, "other") for form in forms])
    return {one: np.flatnonzero(sets == one) for one in dict.fromkeys(sets)}


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("collect", "table"))
    parser.add_argument("trainings", nargs="+", type=Path, help="folders, or two names of the file")
    parser.add_argument("--data", type=Path, required=True)
    asked = parser.parse_args()
    if asked.what == "collect":
        for folder in asked.trainings:
            for line in collected(folder, asked.data):
                print(json.dumps(line))
        return
    lines = [json.loads(line) for line in ARCHIVE.read_text(encoding="utf-8").splitlines()]
    archive = Archive(lines, asked.data, [one.name for one in asked.trainings])
    found = {name: archive.figures(name) for name in TESTS}
    json.dump({k: {m: asdict(c) for m, c in v.items()} for k, v in found.items()}, sys.stdout)


if __name__ == "__main__":
    main()
