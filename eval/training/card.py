"""The model card of a trained system, written from its run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pronominal.adapters.training.trainable import CardText, TrainableSystem
from pronominal.atomic import new_file
from pronominal.eval.tables.table import percent
from pronominal.eval.training.measures.figures import Figures
from pronominal.eval.training.summary import counted


def write_card(
    folder: Path, training: Mapping[str, Any], system: TrainableSystem, figures: Figures
) -> None:
    """Write ``README.md`` from what ``training.json`` says: what was trained, and how to use it."""
    own = system.card_text()
    needed = "".join(
        f', {name}="{name.partition("_")[0].upper()}"' for name in system.asked.load_settings()
    )
    switching = " and with the candidates switched" if training["settings"]["switching"] else ""
    learnt = f" It learnt every row as it is{switching}." * bool(training["counts"]["train_rows"])
    lines = [
        "---",
        *own.libraries,
        "language: en",
        "tags: [coreference, pronouns, pronominal]",
        "---",
        "",
        f"# {own.title}, trained on {training['data']['name']}",
        "",
        own.summary + learnt,
        "",
        "## What came out",
        "",
        *_results(training, figures),
        "## How it was trained",
        "",
        *_recipe(training, own),
        "## Use",
        "",
        "```python",
        "from pronominal.adapters import load",
        "",
        f'system = load("{training["system"]}", checkpoint="FOLDER"{needed})',
        "```",
        "",
        *own.use,
    ]
    with new_file(folder / "README.md") as beside:
        beside.write_text("\n".join(lines), encoding="utf-8", newline="\n")


def _results(training: Mapping[str, Any], figures: Figures) -> list[str]:
    validation = training["outcome"]["validation"] or {}
    given = training.get("scores", {}).get("as_given", {})
    # a system that learns documents, too, has its figures of rows apart
    blocks = {"validation": validation if "n" in validation else validation.get("rows")}
    blocks |= {f"test, {name}": given.get(name) for name in ("original", "switched")}
    rows = [
        [name, f"{block['n']:,}", *(percent(figure(block)) for figure in figures.columns.values())]
        for name, block in blocks.items()
        if block
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in (["rows", "n", *figures.columns], *rows)]
    lines = [lines[0], f"|{'---|' * (2 + len(figures.columns))}", *lines[1:], ""] if rows else []
    pairs = given.get("switching")
    if pairs:
        lines += [
            f"Over {pairs['pairs']:,} pairs of an original and its switched version: consistency "
            f"{percent(pairs['consistency'])}, right in both "
            f"{percent(pairs['consistently_correct'])}, wrong in both "
            f"{percent(pairs['consistently_wrong'])} (percent).",
            "",
        ]
    documents = validation.get("documents", {})
    if documents:
        scores = ", ".join(f"{name} {percent(one['f1'])}" for name, one in documents.items())
        lines += [f"F1 on the validation documents: {scores}.", ""]
    return lines


def _recipe(training: Mapping[str, Any], own: CardText) -> list[str]:
    outcome = training["outcome"]
    beginning = f"{own.beginning}; " if own.beginning else ""
    return [
        f"{beginning}{counted(training['counts'])} by name; {outcome['updates']:,} updates, the "
        f"weights of update {outcome['kept_update']:,} kept; seed {training['seed']}; "
        f"{training['seconds']:,.0f} seconds. The learning curves are in `curves.jsonl` and "
        "`curves.svg`.",
        "",
        "```json",
        json.dumps(own.settings, indent=2),
        "```",
        "",
    ]
