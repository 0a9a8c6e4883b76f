"""Templates of our own in RUFF's form, as an upstream folder."""

import zipfile
from pathlib import Path

from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.ruff.templates import CONTEXT, ENTITY, TASK

Tables = dict[str, list[list[str]]]

PEOPLE = [("gardener", "neighbour"), ("pilot", "traveller")]
TASKS = {
    "$NOM_PRONOUN": "The {} whistled while $NOM_PRONOUN worked.",
    "$POSS_PRONOUN": "The {} lost $POSS_PRONOUN keys.",
    "$ACC_PRONOUN": "The {} found a letter for $ACC_PRONOUN.",
}
CONTEXTS = {
    "$NOM_PRONOUN": "$NOM_PRONOUN had seen {} {}",
    "$POSS_PRONOUN": "$POSS_PRONOUN house held {} {}",
    "$ACC_PRONOUN": "There were {} {} for $ACC_PRONOUN",
}
THINGS = ("clouds", "stones", "songs", "letters", "boats")
AMOUNTS = (("negative", "few"), ("positive", "many"))


def own_tables() -> Tables:
    tasks = [
        [occupation, participant, sentence.format(occupation), slot, occupation]
        for occupation, participant in PEOPLE
        for slot, sentence in TASKS.items()
    ]
    contexts = [
        [slot, polarity, f"The {ENTITY} knew that {clause}.", f"{clause}."]
        for slot, sentence in CONTEXTS.items()
        for polarity, amount in AMOUNTS
        for thing in THINGS
        for clause in [sentence.format(amount, thing)]
    ]
    return {"task.tsv": [list(TASK), *tasks], "context.tsv": [list(CONTEXT), *contexts]}


def write_sources(root: Path, tables: Tables, newline: str = "\n") -> Sources:
    """Write tables as the archive of an upstream folder, without a password."""
    folder = root / "ruff"
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text("the password `none`\n")
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        for name, rows in tables.items():
            text = "".join("\t".join(cells) + newline for cells in rows)
            archive.writestr(f"data/{name}", text)
    return Sources(root, allow_changed=True)
