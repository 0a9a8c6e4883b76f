"""KnowRef (Emami et al., 2019): sentences with two names and one pronoun, and switched twins."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from pronominal.dataset_scripts.building.options import REPAIR_CASE, BuildOptions
from pronominal.dataset_scripts.building.script import ORIGINAL, SWITCHED, SplitRows
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.knowref import checks
from pronominal.dataset_scripts.knowref.files import (
    Sentence,
    read_test,
    read_train,
    read_validation,
)
from pronominal.dataset_scripts.knowref.reddit import hydrated_file, read_hydrated
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, KNOWREF60K, held
from pronominal.dataset_scripts.tables.columns import Column, resolution_columns
from pronominal.switching import occurrences, switched_rows

NAME = "knowref"
OPTIONS = (REPAIR_CASE,)
UPSTREAM = (KNOWREF, KNOWREF60K)
UNPUBLISHABLE = ("train", "validation")
"""Splits of Reddit text: the authors give its ids only, for legal reasons, and so do we."""

HYDRATION = "pronominal.dataset_scripts.knowref.hydration"

COLUMNS = (
    *resolution_columns(
        "upstream's candidate0 and candidate1; either may stand first in the text",
        ("candidate0", "candidate1"),
    ),
    Column("upstream_row", pa.int32(), "the row in its upstream file, from 0"),
    Column("duplicate_of", pa.string(), "id of an earlier row that is the same, or null"),
    Column("note", pa.string(), "what is odd about the row, or null"),
)


def splits(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield ``original`` and ``switched``, each with the splits whose text the sources hold.

    Rows stand in upstream's order; a row that cannot be switched is in ``original`` only.
    """
    original = {name: original_rows(name, read) for name, read in _sentences(sources).items()}
    sources.refuse_changed()
    # rows that cannot be switched are named in the card, and by their notes
    switched = {
        name: switched_rows(rows, repair_case=options[REPAIR_CASE])
        for name, rows in original.items()
    }
    for config, tables in ((ORIGINAL, original), (SWITCHED, switched)):
        for name, rows in tables.items():
            yield SplitRows.from_rows(config, name, COLUMNS, rows)


violations = checks.violations


def _sentences(sources: Sources) -> dict[str, list[Sentence]]:
    """Read the test, and train and validation from the 60k copy or from hydrated files."""
    sentences = {"test": read_test(sources)}
    readers: dict[str, tuple[str, Callable[[Sources], list[Sentence]]]] = {
        "train": ("data/val.json", read_train),
        "validation": ("data/dev.tsv", read_validation),
    }
    for split, (file, read) in readers.items():
        # never downloaded: the text may be used where somebody holds it, but not handed on
        if held(sources, KNOWREF60K, file):
            sentences[split] = read(sources)
        elif sources.root and hydrated_file(sources.root, split).exists():
            sentences[split] = read_hydrated(sources, split)
    return sentences


def original_rows(split: str, sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
    """Return the published rows of a split, mentions located by the rule of `locate_candidates`."""
    rows = [
        sentence.instance(split).to_row()
        | {"upstream_row": sentence.row, "duplicate_of": None}
        | {"note": "; ".join(_notes(sentence)) or None}
        for sentence in sentences
    ]
    first: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        earlier = first.setdefault((row["text"], row["pronoun"]["start"]), row)
        if earlier is not row:
            _compare(earlier, row)
    return rows


def _notes(sentence: Sentence) -> Iterator[str]:
    text, names = sentence.text, sentence.names
    if len(sentence.pronouns) > 1:
        yield "upstream marks two pronouns, the first one is the target"
    if names[0] == names[1]:
        yield "both candidates have the same name, the label means nothing"
        return
    counts = Counter(occurrence.candidate for occurrence in occurrences(text, names))
    if max(counts.values(), default=0) > 1:
        yield "a candidate's name occurs more than once, its first place is given"
    for index, name in enumerate(names):
        everywhere = whole = text.count(name)
        if everywhere > counts[index]:  # some may be part of a word or of the other name
            whole = len(occurrences(text, [name]))
        if not counts[index]:
            yield f"candidate {index} is not in the text"
        if whole > counts[index]:
            yield f"the name of candidate {index} is also part of the other name"
        if everywhere > whole:
            yield f"the name of candidate {index} is also part of a longer word"


def _compare(earlier: dict[str, Any], row: dict[str, Any]) -> None:
    """Mark a row that has the sentence and pronoun of an earlier one."""
    if row["candidates"] != earlier["candidates"]:
        _add_note(row, f"the sentence of {earlier['id']} with another candidate")
    elif row["label"] == earlier["label"]:
        row["duplicate_of"] = earlier["id"]
    else:
        for one, other in ((earlier, row), (row, earlier)):
            _add_note(one, f"contradicts {other['id']}: the same sentence, the other answer")


def _add_note(row: dict[str, Any], note: str) -> None:
    row["note"] = f"{row['note']}; {note}" if row["note"] else note
