"""WinoNB schemas (Baumler and Rudinger, 2022): one person or a group behind *they*."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import SplitRows
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.tables.columns import Column, resolution_columns
from pronominal.dataset_scripts.tables.tab_separated import parse_each
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.dataset_scripts.winonb.personal_names import NAMES, PersonalNames
from pronominal.dataset_scripts.winonb.schemas import (
    SENTENCES,
    WINONB,
    Schema,
    paired_rows,
    parse_schema,
)
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention, Span

NAME = "winonb"
OPTIONS = (NAMES,)
UNPUBLISHABLE = ()
HYDRATION = None
UPSTREAM = (WINONB,)

COLUMNS = (
    *resolution_columns(
        "0 the group, 1 the individual, as they stand in `text`, without determiner",
        ("group", "individual"),
    ),
    Column(
        "source", pa.string(), "where the schema is adapted from: winogender, winobias, wsc, dpr"
    ),
    Column("individual", pa.string(), "the name of candidate 1, or someone"),
    Column("group", pa.string(), "the noun of candidate 0, as in upstream's sentid"),
    Column("association", pa.string(), "of the name: fem, masc, neutral; of someone: someone"),
    Column(
        "number", pa.string(), "of the pronoun's referent: singular (label 1), plural (label 0)"
    ),
    Column("winobias_type", pa.int32(), "1 or 2 (solvable by syntax); null if not from WinoBias"),
    Column("winobias_split", pa.string(), "dev or test; null if not from WinoBias"),
)

# with its apostrophes: "D'Arcy" is one word, and so is "they'd"
WORD = re.compile(r"\w+(?:'\w+)*")
NUMBERS = ("plural", "singular")
# source -> sentences with label 0 and 1 (paper, section 3; the split by label is measured)
COUNTS = {"winogender": (60, 60), "winobias": (1861, 1861), "wsc": (44, 43), "dpr": (74, 74)}
WINOBIAS_COUNTS = {(1, "dev"): 806, (1, "test"): 816, (2, "dev"): 1040, (2, "test"): 1060}
CHANGED_LABELS = 2908


def splits(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield ``generic`` (someone) and ``personal`` (each row with every name, one by one)."""
    schemas, names = list(map(parse_schema, paired_rows(sources))), options[NAMES]
    sources.refuse_changed()
    _refuse_words(names, schemas)
    yield SplitRows.from_instances("generic", "test", COLUMNS, map(fill, schemas))
    people = [(person.name, person.association) for person in names.names]
    personal = (fill(schema, *person) for schema in schemas for person in people)
    yield SplitRows.from_instances("personal", "test", COLUMNS, personal)


def _refuse_words(names: PersonalNames, schemas: Sequence[Schema]) -> None:
    """Raise `InputError` for a name that is, or has in it, a word of a sentence, in any case.

    There it would be a second mention, which no offset tells from the first; "someone" and the
    forms of *they* are words of every sentence.
    """
    row_of: dict[str, str] = {}
    for schema in schemas:
        for word in WORD.findall(schema.text.casefold()):
            for part in (word, word.partition("'")[0]):
                row_of.setdefault(part, schema.origin.row)
    for person in names.names:
        for word in WORD.findall(person.name.casefold()):
            if word in row_of:
                cause = f"'{word}' is a word of a sentence ({row_of[word]} of {SENTENCES})"
                raise names.refuse(person, cause)


def fill(
    schema: Schema, individual: str = "someone", association: str = "someone"
) -> ResolutionInstance:
    """Return an instance; by default the sentence as it is, with *someone*.

    A name replaces every mention of the individual by its offsets, so "'s" stays behind it.
    """
    text, first = schema.text, schema.individual[0]
    if individual != "someone":
        for span in reversed(schema.individual):
            text = text[: span.start] + individual + text[span.end :]

    def mention(span: Span) -> Mention:
        shift = len(individual) - len("someone")
        start = span.start + shift * sum(other < span for other in schema.individual)
        end = start + (len(individual) if span == first else span.end - span.start)
        return Mention(text[start:end], start, end)

    return ResolutionInstance(
        id=f"{schema.number:04d}-{individual}",
        text=text,
        pronoun=mention(schema.pronoun),
        candidates=(mention(schema.group_span), mention(first)),
        label=schema.label,
        columns={
            "source": schema.source,
            "individual": individual,
            "group": schema.group,
            "association": association,
            "number": NUMBERS[schema.label],
            "winobias_type": schema.winobias[0],
            "winobias_split": schema.winobias[1],
        },
    )


def violations(sources: Sources) -> Iterator[Violation]:
    """Check the counts of the paper, the places of all mentions, and how v0 and v1 differ.

    That v1's WinoBias labels are wrong is known and not reported; that they are wrong in any
    other way than by their rule (1 exactly where the individual comes first) would be.
    """
    schemas, errors = parse_each(parse_schema, paired_rows(sources))
    yield from map(Violation.of, errors)
    for schema in schemas:
        for message in _label_faults(schema):
            yield schema.origin.violation(message)
    file = sources.locate(WINONB, SENTENCES)
    yield from (Violation(file, None, message) for message in _wrong_counts(schemas))
    labels: dict[str, int] = {}
    for schema in schemas:
        if labels.setdefault(schema.text, schema.label) != schema.label:
            yield schema.origin.violation(
                "an earlier line has the same sentence with the other label"
            )
    yield from sources.changed_files()


def _label_faults(schema: Schema) -> Iterator[str]:
    if (schema.source == "winobias") != (schema.winobias[0] is not None):
        yield f"the sentid is not of the form that {schema.source} has"
    if schema.source != "winobias" and schema.published_label != schema.label:
        yield "v1 has another label than v0"
    if schema.source == "winobias" and schema.published_label != schema.individual_first:
        yield "v1's label does not follow the order of the entities"


def _wrong_counts(schemas: Sequence[Schema]) -> Iterator[str]:
    changed = sum(schema.published_label != schema.label for schema in schemas)
    if changed != CHANGED_LABELS:
        yield f"{changed} labels differ between v0 and v1 instead of {CHANGED_LABELS}"
    labels = {(source, label): COUNTS[source][label] for source in COUNTS for label in (0, 1)}
    yield from _differences(Counter((s.source, s.label) for s in schemas), labels)
    types = Counter(s.winobias for s in schemas if s.source == "winobias")
    yield from _differences(types, WINOBIAS_COUNTS)


def _differences(counts: Counter[Any], expected: Mapping[Any, int]) -> Iterator[str]:
    for kind in sorted(counts.keys() | expected.keys(), key=str):
        if counts[kind] != expected.get(kind, 0):
            yield f"{counts[kind]} sentences of {kind} instead of {expected.get(kind, 0)}"
