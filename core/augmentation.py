"""Antecedent switching of a `datasets.Dataset`, for those who train with a program of their own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pronominal.errors import InputError, extra_needed
from pronominal.instances import ResolutionInstance
from pronominal.located_rows import COLUMNS, located_row
from pronominal.switching import Unswitchable, switch

if TYPE_CHECKING:
    from datasets import Dataset


class LeftOutRow(NamedTuple):
    """A row whose candidates cannot change places.

    Attributes:
        row: its index in the dataset.
        reason: why, as a phrase without the row's text.
    """

    row: int
    reason: str


class SwitchedDataset(NamedTuple):
    """What became of a dataset.

    Attributes:
        dataset: the rows.
        left_out: every row without a switched version.
    """

    dataset: "Dataset"
    left_out: list[LeftOutRow]


def switch_antecedents(
    dataset: "Dataset", *, originals: bool = True, repair_case: bool = False
) -> SwitchedDataset:
    """Add to each row its switched version: the candidates change places, the label flips.

    The switched version keeps its row's id and other columns. Mentions come back as structs of
    ``text``, ``start`` and ``end``, whether they were that or strings (see `located_row`).

    >>> augmented, left_out = switch_antecedents(train)  # doctest: +SKIP

    Args:
        dataset: rows with ``text``, ``pronoun``, two ``candidates`` and ``label``, as `located_row`
            takes them.
        originals: whether the rows themselves come first; otherwise switched versions alone.
        repair_case: see `pronominal.switching.switch`.

    Raises:
        InputError: it is no `datasets.Dataset`, lacks a column, or a row's label, candidates or
            offsets cannot be; the package datasets is not installed.
    """
    with extra_needed("train", "switch_antecedents"):
        from datasets import Dataset, Features, List, Value

    if not isinstance(dataset, Dataset):
        cause = f"switch_antecedents was given a {type(dataset).__name__}"
        raise InputError(cause, cure="give one split as a datasets.Dataset")
    for column in COLUMNS:
        if column not in dataset.column_names:
            raise InputError(f"there is no column {column}", cure="add it or rename yours")
    located, switched, left_out = [], [], []
    for number, row in enumerate(dataset.with_format(None)):
        instance = _instance(row, number)
        located.append(instance.to_row())
        try:
            switched.append(switch(instance, repair_case=repair_case).to_row())
        except Unswitchable as refusal:
            left_out.append(LeftOutRow(number, refusal.reason))
    mention = {"text": Value("string"), "start": Value("int32"), "end": Value("int32")}
    features = Features({**dataset.features, "pronoun": mention, "candidates": List(mention)})
    rows = [*located, *switched] if originals else switched
    columns = {name: [row[name] for row in rows] for name in features}
    return SwitchedDataset(Dataset.from_dict(columns, features=features), left_out)


def _instance(row: Mapping[str, Any], number: int) -> ResolutionInstance:
    def refuse(cause: str, cure: str) -> InputError:
        return InputError(cause, cure=cure, row=f"row {number}")

    located = located_row(row, refuse, may_be_absent=True)
    return ResolutionInstance.from_row({"id": str(number), **located})
