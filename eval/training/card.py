"""The model card of a trained classifier, written from its run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.eval.tables.table import percent
from pronominal.eval.training.plain_program import plain_program

HEADER = (
    "---",
    "library_name: transformers",
    "language: en",
    "tags: [coreference, pronouns, pronominal]",
    "---",
    "",
)


def write_model_card(folder: Path, training: Mapping[str, Any], encoder: str) -> None:
    """Write ``README.md``: what was trained, on what, what came out, and how to use it.

    Args:
        folder: the classifier's.
        training: what ``training.json`` says.
        encoder: the name of the encoder.
    """
    text = "\n".join(
        [
            *HEADER,
            f"# Antecedents of pronouns: {encoder}, trained on {training['data']['name']}",
            "",
            _summary(training["settings"]),
            "",
            *_results(training),
            *_recipe(training, encoder),
            *_use(training["settings"]["classifier"]),
        ]
    )
    with new_file(folder / "README.md") as beside:
        beside.write_text(text, encoding="utf-8")


def _summary(settings: Mapping[str, Any]) -> str:
    classifier = settings["classifier"]
    how = (
        "reads a text once and scores each candidate's mention against the pronoun"
        if classifier["scorer"] == "span"
        else "reads a text once for each candidate, which stands in the pronoun's place, and "
        f"scores the copies (pooling: {classifier['pooling']})"
    )
    learnt = (
        "It learnt every row as it is and with the candidates switched."
        if settings["switching"]
        else "It learnt every row as it is."
    )
    return f"Chooses which of two candidates a pronoun refers to. It {how}. {learnt}"


def _results(training: Mapping[str, Any]) -> list[str]:
    rows = [("validation", training["outcome"]["validation"] or {})]
    given = training.get("scores", {}).get("as_given", {})
    rows += [(f"test, {name}", given[name]) for name in ("original", "switched") if name in given]
    lines = [
        "| rows | n | without a choice | accuracy of the choices | balanced accuracy "
        "| choices of the first mention |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {measured.get('n', 0):,} | {_without_choice(measured)} "
            f"| {percent(measured.get('accuracy'))} | {percent(measured.get('balanced_accuracy'))} "
            f"| {percent(measured.get('first_mention'))} |"
            for name, measured in rows
        ),
        "",
    ]
    pairs = given.get("switching")
    if pairs:
        lines += [
            f"Over {pairs['pairs']:,} pairs of an original and its switched version: consistency "
            f"{percent(pairs['consistency'])}, right in both "
            f"{percent(pairs['consistently_correct'])}, wrong in both "
            f"{percent(pairs['consistently_wrong'])} (percent).",
            "",
        ]
    return ["## What came out", "", *lines]


def _without_choice(measured: Mapping[str, Any]) -> str:
    # earlier versions did not write these shares down
    known = "none" in measured and measured["none"] is not None
    return percent(measured["none"] + measured["both"] if known else None)


def _recipe(training: Mapping[str, Any], encoder: str) -> list[str]:
    counts, outcome = training["counts"], training["outcome"]
    settings = {**training["settings"]["classifier"], **training["settings"]["recipe"]}
    others = {k: v for k, v in training["settings"].items() if not isinstance(v, dict)}
    return [
        "## How it was trained",
        "",
        f"Encoder {encoder} (SHA-256 of its files {training['encoder'][:12]}); "
        f"{counts['train_instances']:,} instances from {counts['train_rows']:,} rows of "
        f"{training['data']['name']}, stopped by {counts['validation_instances']:,} of "
        f"{counts['validation_rows']:,} rows; {counts['left_out']:,} left out by name; "
        f"{outcome['updates']:,} updates, the weights of update {outcome['kept_update']:,} kept; "
        f"seed {training['seed']}. The learning curves are in `curves.jsonl` and `curves.svg`.",
        "",
        "```json",
        json.dumps({**settings, **others}, indent=2),
        "```",
        "",
    ]


def _use(classifier: Mapping[str, Any]) -> list[str]:
    return [
        "## Use",
        "",
        "```python",
        "from pronominal.adapters import load",
        "",
        'system = load("bert", checkpoint="FOLDER")',
        "```",
        "",
        "or in plain transformers, for a text that the encoder takes as a whole:",
        "",
        "```python",
        plain_program(classifier).strip(),
        "```",
        "",
    ]
