"""Antecedent switching of a `datasets.Dataset`, for those who train with a program of their own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pronominal.errors import InputError
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention
from pronominal.switching import Unswitchable, locate_candidates, occurrences, switch

if TYPE_CHECKING:
    from datasets import Dataset

COLUMNS = ("text", "pronoun", "candidates", "label")


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
    ``text``, ``start`` and ``end``, whether they were that or strings; one without offsets is
    where its name first stands as a whole word, apart from the pronoun.

    >>> augmented, left_out = switch_antecedents(train)  # doctest: +SKIP

    Args:
        dataset: rows with ``text``, ``pronoun``, two ``candidates`` and ``label``.
        originals: whether the rows themselves come first; otherwise switched versions alone.
        repair_case: see `pronominal.switching.switch`.

    Raises:
        InputError: it is no `datasets.Dataset`, lacks a column, or a row's label, candidates or
            offsets cannot be.
    """
    from datasets import Dataset, Features

    if not isinstance(dataset, Dataset):
        raise InputError(
            f"switch_antecedents was given a {type(dataset).__name__}",
            cure="give one split as a datasets.Dataset",
        )
    for column in COLUMNS:
        if column not in dataset.column_names:
            raise InputError(f"there is no column {column}", cure="add it or rename yours")
    located, switched, left_out = [], [], []
    for number, row in enumerate(dataset):
        instance = _instance(row, number)
        located.append(_row(row, instance))
        try:
            switched.append(_row(row, switch(instance, repair_case=repair_case)))
        except Unswitchable as refusal:
            left_out.append(LeftOutRow(number, refusal.reason))
    features = Features({**dataset.features, **_mention_features()})
    rows = [*located, *switched] if originals else switched
    columns = {name: [row[name] for row in rows] for name in features}
    return SwitchedDataset(Dataset.from_dict(columns, features=features), left_out)


def _mention_features() -> dict[str, Any]:
    from datasets import List, Value

    mention = {"text": Value("string"), "start": Value("int32"), "end": Value("int32")}
    return {"pronoun": mention, "candidates": List(mention)}


def _instance(row: Mapping[str, Any], number: int) -> ResolutionInstance:
    text, label, candidates = row["text"], row["label"], row["candidates"]

    def refuse(cause: str, cure: str) -> InputError:
        return InputError(cause, cure=cure, row=f"row {number}")

    if not isinstance(text, str) or row["pronoun"] is None:
        raise refuse("the text or the pronoun is missing", "add it")
    if type(label) is not int or label not in (0, 1, 2):
        cure = "write the index of the right candidate, or 2 for neither"
        raise refuse("the label is outside 0, 1 and 2", cure)
    if not isinstance(candidates, list) or len(candidates) != 2 or None in candidates:
        raise refuse("there are not two candidates", "give a list of two")
    pronoun, first, second = (_mention(given) for given in (row["pronoun"], *candidates))
    if isinstance(row["pronoun"], str):
        found = occurrences(text, [pronoun.text])
        if len(found) != 1:
            cure = "give the start and end of the right one"
            raise refuse(f"the pronoun occurs {len(found)} times", cure)
        pronoun = Mention(pronoun.text, found[0].start, found[0].end)
    places = locate_candidates(text, (first.text, second.text), pronoun.span)
    mentions = (
        pronoun,
        *(
            place if isinstance(given, str) else one
            for given, one, place in zip(candidates, (first, second), places, strict=True)
        ),
    )
    for mention in mentions:
        if mention.located and not mention.stands_in(text):
            cure = "count code points from 0, the end being one after the last"
            raise refuse(f"{mention.start}:{mention.end} does not hold its mention", cure)
    return ResolutionInstance(str(number), text, mentions[0], mentions[1:], label)


def _mention(given: str | Mapping[str, Any]) -> Mention:
    return Mention(given, -1, -1) if isinstance(given, str) else Mention(**given)


def _row(row: Mapping[str, Any], instance: ResolutionInstance) -> dict[str, Any]:
    return {
        **row,
        "text": instance.text,
        "pronoun": instance.pronoun._asdict(),
        "candidates": [candidate._asdict() for candidate in instance.candidates],
        "label": instance.label,
    }
