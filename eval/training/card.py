"""The model card of a trained system, written from its run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pronominal.atomic import new_file
from pronominal.eval.tables.table import percent, share_of
from pronominal.eval.training.measures.figures import Figures
from pronominal.eval.training.summary import counted

if TYPE_CHECKING:
    from pronominal.adapters.training.trainable import CardText, TrainableSystem

SWITCHING = {
    "consistency": "consistency",
    "right in both": "consistently_correct",
    "wrong in both": "consistently_wrong",
}
"""What a card calls the figures of `switching_figures`."""

ENDS = ("In percent, with 95% intervals over rows, or pairs, of this one training.", "")

CHOSEN_BY = "No interval for these: the weights were chosen by them."


def write_card(
    folder: Path, training: Mapping[str, Any], system: "TrainableSystem", figures: Figures
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
    cells = {heading: share_of(name) for heading, name in figures.columns.items()}
    rows = [
        [name, f"{block['n']:,}", *(write(block) for write in cells.values())]
        for name, block in blocks.items()
        if block
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in (["rows", "n", *figures.columns], *rows)]
    rule = f"|{'---|' * (2 + len(figures.columns))}"
    lines = [lines[0], rule, *lines[1:], "", *ENDS] if rows else []
    pairs = given.get("switching")
    if pairs:
        shown = ", ".join(f"{words} {share_of(name)(pairs)}" for words, name in SWITCHING.items())
        told = f"Over {pairs['pairs']:,} pairs of an original and its switched version: {shown}."
        lines += [told, ""]
    documents = validation.get("documents", {})
    if documents:
        scores = ", ".join(f"{name} {percent(one['f1'])}" for name, one in documents.items())
        lines += [f"F1 on the validation documents: {scores}. {CHOSEN_BY}", ""]
    return lines


def _recipe(training: Mapping[str, Any], own: "CardText") -> list[str]:
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
