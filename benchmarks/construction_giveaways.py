"""How many words that contradict a name's new gender `construct` finds, by kind, and false alarms.

The sentences are our own, in ``tests/cases/giveaways.tsv``: in each one the names Vera and Berta
are a woman's, Felix and Bruno a man's. Prints the table of docs/construction.md.

    python benchmarks/construction_giveaways.py
"""

import csv
import re
from collections import Counter
from pathlib import Path

from pronominal.dataset_scripts.construction.giveaways import gives_away
from pronominal.dataset_scripts.construction.words import Gender
from pronominal.spans import Span

CASES = Path(__file__).resolve().parents[1] / "tests" / "cases" / "giveaways.tsv"
NAMES: dict[str, Gender] = {"Vera": "female", "Berta": "female", "Felix": "male", "Bruno": "male"}

Counts = dict[tuple[str, str], tuple[int, int]]
"""(whether a word contradicts, kind) -> (sentences that are taken to hold one, sentences)."""


def counts() -> Counts:
    """Return what is found in every kind of sentence."""
    taken, told = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with CASES.open(encoding="utf-8", newline="") as file:
        for case in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            kind = (case["contradicts"], case["kind"])
            told[kind] += 1
            taken[kind] += contradicts(case["text"])
    return {kind: (taken[kind], told[kind]) for kind in told}


def contradicts(text: str) -> bool:
    """Say whether a word of a sentence is taken to contradict one of its names."""
    found = {name: text.index(name) for name in NAMES if name in text}
    spans = tuple(Span(start, start + len(name)) for name, start in found.items())
    return gives_away(text, spans, NAMES[re.search("|".join(NAMES), text)[0]])  # type: ignore[index]


def table(found: Counts) -> str:
    """Return the counts in Markdown."""
    parts = []
    for which, heading in (
        ("yes", "| what contradicts the name | found | of |"),
        ("no", "| what does not | false alarms | of |"),
    ):
        rows = [(kind, *its) for (answer, kind), its in found.items() if answer == which]
        rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
        lines = [f"| {kind} | {taken} | {told} |" for kind, taken, told in rows]
        parts.append("\n".join([heading, "|---|---|---|", *lines]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(table(counts()))
