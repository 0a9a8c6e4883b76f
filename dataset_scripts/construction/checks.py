"""What must hold of a constructed corpus, row by row."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts.construction.constructed_dataset import COLUMNS, NAME
from pronominal.dataset_scripts.construction.genders import NameGenders
from pronominal.dataset_scripts.construction.labels import UNLABELLED
from pronominal.dataset_scripts.construction.replacement import contradicts
from pronominal.dataset_scripts.construction.words import TARGETS
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.tables.faults import schema_faults
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.errors import InputError
from pronominal.switching import switched_rows


def violations(folder: Path, names: NameGenders | None = None) -> Iterator[Violation]:
    """Yield everything that is wrong with a constructed corpus, by file and row.

    Offsets and repeated ids are looked at when a split is read; a fault there is raised. Whether
    both names agree with the pronoun is looked at where their genders are at hand.
    """
    files = sorted(folder.glob("original/*.parquet"))
    if not files:
        raise InputError("there is no config 'original'", cure="construct it again", file=folder)
    for file in files:
        original = read_split(str(folder), "original", file.stem)
        if original.dataset_name != NAME:
            cure = f"use 'pronominal validate {original.dataset_name}'"
            raise InputError("it is not a constructed corpus", cure=cure, file=file)
        faults = [*schema_faults(original.table.schema, COLUMNS)]
        yield from (Violation(original.file, None, fault) for fault in faults)
        if faults:
            continue
        for row in original.table.to_pylist():
            for message in _faults(row, names):
                yield Violation(original.file, f"id {row['id']}", message)
        switched = read_split(str(folder), "switched", file.stem)
        yield from _switching_faults(original, switched)


def _faults(row: dict[str, Any], names: NameGenders | None) -> Iterator[str]:
    first, second = row["candidates"]
    pronoun = row["pronoun"]
    if not 0 <= first["start"] < first["end"] <= second["start"] < second["end"]:
        yield "the candidates are not one after the other"
    if second["end"] > pronoun["start"]:
        yield "a candidate is behind the pronoun"
    if first["text"] == second["text"]:
        yield "both candidates have the same name"
    if TARGETS.get(pronoun["text"].lower()) != row["gender"]:
        yield "the gender is not the pronoun's"
    if row["label"] not in (UNLABELLED, 0, 1):
        yield f"the label {row['label']} is none"
    # where annotators have voted, the label is theirs
    if "votes" not in row and row["label"] not in (UNLABELLED, row["giveaway"]):
        yield "the label is not what the gender giveaway said"
    if row["giveaway"] != UNLABELLED:
        yield from _gender_faults(row, names)


def _gender_faults(row: dict[str, Any], names: NameGenders | None) -> Iterator[str]:
    if row["pronoun"]["text"].lower() in TARGETS and contradicts(row):
        yield "a word beside a name tells another gender than the pronoun's"
    for index, candidate in enumerate(row["candidates"] if names else ()):
        if names and names.of(candidate["text"]) not in (None, row["gender"]):
            yield f"candidate {index} has not the gender of the pronoun"


def _switching_faults(original: Split, switched: Split) -> Iterator[Violation]:
    twins = {row["id"]: row for row in switched.table.to_pylist()}
    for row in original.table.to_pylist():
        if twins.pop(row["id"], None) != next(switched_rows([row]), None):
            yield Violation(switched.file, f"id {row['id']}", "it is not its original switched")
    for name in twins:
        yield Violation(switched.file, f"id {name}", "it has no original")
