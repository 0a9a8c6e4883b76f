"""The card of a trained coreference system, written from its run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.eval.tables.table import percent

SHARES = ("correct", "incorrect", "none", "both", "accuracy")


def write_coreference_card(folder: Path, training: Mapping[str, Any]) -> None:
    """Write ``README.md``: what was trained, on what, what came out, and how to use it.

    Args:
        folder: the system's.
        training: what ``training.json`` says.
    """
    lines = [
        "---",
        "language: en",
        "tags: [coreference, pronouns, pronominal]",
        "---",
        "",
        f"# {training['system']}, trained on {training['data']['name']}",
        "",
        "Clusters the mentions of a text." + _rows_learnt(training),
        "",
        "## What came out",
        "",
        *_results(training),
        "## How it was trained",
        "",
        *_recipe(training),
        "## Use",
        "",
        "```python",
        "from pronominal.adapters import load",
        "",
        f'system = load("{training["system"]}", checkpoint="FOLDER"{_elmo(training)})',
        "```",
        "",
    ]
    with new_file(folder / "README.md") as beside:
        beside.write_text("\n".join(lines), encoding="utf-8")


def _rows_learnt(training: Mapping[str, Any]) -> str:
    if not training["counts"]["train_rows"]:
        return ""
    switching = " and with the candidates switched" if training["settings"]["switching"] else ""
    return f" It learnt every row as it is{switching}."


def _elmo(training: Mapping[str, Any]) -> str:
    return ', elmo_weights="ELMO"' if "elmo_weights" in training["begins_with"] else ""


def _results(training: Mapping[str, Any]) -> list[str]:
    validation = training["outcome"]["validation"] or {}
    given = training["scores"].get("as_given", {})
    rows = {"validation": validation.get("rows")}
    rows |= {f"test, {name}": given.get(name) for name in ("original", "switched")}
    measured = {name: block for name, block in rows.items() if block}
    lines = []
    if measured:
        lines += [
            "| rows | n | correct | incorrect | none | both | task-specific accuracy |",
            "|---|---|---|---|---|---|---|",
            *(
                f"| {name} | {block['n']:,} | {' | '.join(percent(block[s]) for s in SHARES)} |"
                for name, block in measured.items()
            ),
            "",
        ]
    if "switching" in given:
        pairs = given["switching"]
        lines += [
            f"Consistency over {pairs['pairs']:,} pairs of an original and its switched version: "
            f"{percent(pairs['consistency'])} (percent).",
            "",
        ]
    documents = validation.get("documents", {})
    if documents:
        scores = ", ".join(f"{name} {percent(one['f1'])}" for name, one in documents.items())
        lines += [f"F1 on the validation documents: {scores}.", ""]
    return lines


def _recipe(training: Mapping[str, Any]) -> list[str]:
    counts, outcome = training["counts"], training["outcome"]
    return [
        f"{counts['train_documents']:,} documents, {counts['train_rows']:,} rows among their "
        f"sources, {counts['left_out']:,} left out by name; {outcome['updates']:,} updates, the "
        f"weights of update {outcome['kept_update']:,} kept; seed {training['seed']}; "
        f"{training['seconds']:,.0f} seconds. The learning curves are in `curves.jsonl` and "
        "`curves.svg`.",
        "",
        "```json",
        json.dumps(training["settings"], indent=2),
        "```",
        "",
    ]
