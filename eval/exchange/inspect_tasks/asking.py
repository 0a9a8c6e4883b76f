"""Rows of a published dataset as samples of inspect_ai, each under the id of its row."""

# No imports of ours: 'pronominal export inspect' copies this file.

from collections.abc import Sequence

from datasets import load_dataset
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice, prompt_template


def asked(
    place: str,
    config: str,
    split: str,
    choices: str | Sequence[str],
    question: str,
    told: Sequence[str],
) -> Task:
    """Return the task of a split; unlike ``hf/`` tasks it leaves no copy of the rows in a cache.

    Args:
        place: the dataset's folder, or its id on the Hub.
        config: its config.
        split: of the config.
        choices: the column of the options, or one column for each.
        question: the prompt, with the text as ``{prompt}``.
        told: columns that stand in the log beside each answer.
    """
    samples = [
        Sample(
            id=row["id"],
            input=row["text"],
            choices=row[choices] if isinstance(choices, str) else [row[one] for one in choices],
            target=chr(ord("A") + row["label"]),
            metadata={name: row[name] for name in ("id", *told, "canary")},
        )
        for row in load_dataset(place, config, split=split)
    ]
    return Task(
        dataset=MemoryDataset(samples, name=f"{place}/{config}/{split}"),
        solver=[prompt_template(question), multiple_choice()],
        scorer=choice(),
    )
