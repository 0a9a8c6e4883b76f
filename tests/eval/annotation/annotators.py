"""Annotators for tests: they fill in the sheet of an export by a rule."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.eval.annotation.export import FOR_ANNOTATORS, Request, export
from pronominal.eval.annotation.key import Item, Key

Rule = Callable[[Item], str]


def exported(dataset: Path, config: str, request: Request, out: Path, split: str = "test") -> Key:
    return export(read_split(str(dataset), config, split), request, out)


def instances(dataset: Path, config: str, split: str = "test") -> dict[str, Instance]:
    return {one.id: one for one in read_split(str(dataset), config, split).stream()}


def sheet(folder: Path) -> list[dict[str, str]]:
    path = folder / FOR_ANNOTATORS / "sheet.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def answered(folder: Path, key: Key, rule: Rule) -> list[dict[str, str]]:
    return [{**one, "answer": rule(key.by_name[one["item"]])} for one in sheet(folder)]


def save(path: Path, records: list[dict[str, str]], **dialect: str) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), **dialect)
        writer.writeheader()
        writer.writerows(records)
    return str(path)


def letter(item: Item, candidate: int) -> str:
    """Return what the sheet calls a candidate."""
    return "AB"[item.order.index(candidate)]


def right(rows: Mapping[str, Instance]) -> Rule:
    """Return the rule of an annotator who is always right about antecedents."""
    return lambda item: letter(item, rows[item.row].label)
