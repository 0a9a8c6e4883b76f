"""WinoPron (Gautam et al., 2024): 360 templates, three grammatical cases, any pronoun set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pronominal.dataset_scripts.building.script import (
    BuildOptions,
    SplitRows,
    Violation,
    changed_files,
)
from pronominal.dataset_scripts.building.sources import (
    Sources,
    TableRow,
    Upstream,
    UpstreamFile,
    read_table,
    read_zip_member,
)
from pronominal.dataset_scripts.schemas.checks import (
    BOTH,
    double_violations,
    pair_violations,
    refuse_slot_faults,
    single_violations,
)
from pronominal.dataset_scripts.schemas.templates import (
    Template,
    instantiate,
    parse_answer,
    parse_case,
)
from pronominal.dataset_scripts.tables.columns import Column, resolution_columns
from pronominal.errors import InputError, shown
from pronominal.pronouns import CASES

NAME = "winopron"
OPTIONS = ("pronoun_sets",)

WINOPRON = Upstream(
    repository="uds-lsv/winopron",
    commit="ed71655b445a0bb71dc1d36e41eb3156b68303af",
    licence="AGPL-3.0",
    folder="winopron",
    files={
        "data.zip": UpstreamFile(
            "data.zip", "d1acbf1f411dc9ec5f149c95c751667cf1c8338562a323b839d7113f2ca8b673"
        ),
        "README.md": UpstreamFile(
            "README.md", "382ec3d5815fe7711e423919a9820e6c2814ec2b1b2186240375b4ae8a1e0d09"
        ),
    },
)
UPSTREAM = (WINOPRON,)

COLUMNS = (
    *resolution_columns(
        "0 the occupation, 1 the participant, without determiner", ("occupation", "participant")
    ),
    Column("occupation", pa.string(), "noun of candidate 0"),
    Column("participant", pa.string(), "noun of candidate 1"),
    Column("case", pa.string(), "its grammatical case: nominative, accusative, possessive"),
    Column("pronoun_set", pa.string(), "he, she, they, xe, or a set that the builder added"),
    Column("template_id", pa.string(), "the sentence but for its pronoun (pronoun consistency)"),
    Column("pair_id", pa.string(), "the two templates of a pair (disambiguation consistency)"),
)

# two further columns without a name are leftovers of a spreadsheet and never read
TABLE = ("occupation(0)", "other-participant(1)", "answer", "pronoun_type", "template")
SINGLE = "single_version"


@dataclass(frozen=True, slots=True)
class Schema:
    """One row of the template table: the double-entity sentence and its single-entity version."""

    double: Template
    single: Template


def splits(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield ``double`` and ``single``, in upstream's order: template, then pronoun set."""
    schemas = [parse_schema(row, _place(sources)) for row in _rows(sources)]
    sources.refuse_changed()
    yield from schema_splits(schemas, options, _place(sources))


def violations(sources: Sources) -> Iterator[Violation]:
    """Check the papers' constraints (WinoPron, section 3.3) and what our columns rely on."""
    yield from table_violations(_rows(sources), _place(sources), templates=360)
    yield from changed_files(sources)


def schema_splits(
    schemas: Sequence[Schema], options: BuildOptions, place: str
) -> Iterator[SplitRows]:
    """Fill every template with every pronoun set; `InputError` for one that cannot be filled."""
    for schema in schemas:
        refuse_slot_faults(schema.double, BOTH, place)
        refuse_slot_faults(schema.single, (BOTH[schema.single.answer],), place)
    for config in ("double", "single"):
        yield SplitRows.from_rows(
            config,
            "test",
            COLUMNS,
            (
                instantiate(getattr(schema, config), pronouns)
                for schema in schemas
                for pronouns in options.pronoun_sets
            ),
        )


def parse_schema(row: TableRow, place: str) -> Schema:
    """Read one row; `InputError` for an unknown answer or case."""
    occupation, participant, answer, slot, double = (row.cells[column] for column in TABLE)
    case = parse_case(slot, place, row.line)
    shared = (row.line, occupation, participant, case, parse_answer(answer, place, row.line))
    pair = f"{occupation}-{participant}-{case}"
    return Schema(Template(*shared, double, pair), Template(*shared, row.cells[SINGLE], pair))


def table_violations(rows: Sequence[TableRow], place: str, templates: int) -> Iterator[Violation]:
    """Check a table of templates in WinoPron's form.

    Args:
        rows: the table.
        place: how violations call the file.
        templates: how many rows it must have.
    """
    schemas = []
    for row in rows:
        try:
            schemas.append(parse_schema(row, place))
        except InputError as error:
            yield Violation(place, error.row, error.cause)
    if len(rows) != templates:
        yield Violation(place, None, f"{len(rows)} templates instead of {templates}")
    doubles = [schema.double for schema in schemas]
    for template in doubles:
        yield from double_violations(template, place)
    for schema in schemas:
        yield from single_violations(schema.single, place)
    yield from _incomplete_blocks(doubles, place)
    if len(doubles) == templates:
        yield from _misplaced(doubles, place)
    yield from pair_violations(doubles, place)
    for kind in (doubles, [schema.single for schema in schemas]):
        yield from _repeated(kind, place)


def _incomplete_blocks(templates: Sequence[Template], place: str) -> Iterator[Violation]:
    """Every occupation-participant pair has two templates in each grammatical case."""
    first_line: dict[tuple[str, str], int] = {}
    for template in templates:
        first_line.setdefault((template.occupation, template.participant), template.line)
    counts = Counter((t.occupation, t.participant, t.case) for t in templates)
    for (occupation, participant), line in first_line.items():
        for case in CASES:
            found = counts[occupation, participant, case]
            if found != 2:
                pair = shown(f"{occupation}-{participant}")
                message = f"{pair} has {found} {case} templates instead of 2"
                yield Violation(place, f"line {line}", message)


def _misplaced(templates: Sequence[Template], place: str) -> Iterator[Violation]:
    """Upstream's blocks of six rows: two of each grammatical case, in a fixed order."""
    for index, template in enumerate(templates):
        if template.case != CASES[index // 2 % 3] or template.pair != templates[index ^ 1].pair:
            yield Violation(place, f"line {template.line}", "not in the order of its block of six")


def _repeated(templates: Sequence[Template], place: str) -> Iterator[Violation]:
    first_line: dict[str, int] = {}
    for template in templates:
        line = first_line.setdefault(template.text, template.line)
        if line != template.line:
            yield Violation(place, f"line {template.line}", f"the same template as line {line}")


def _rows(sources: Sources) -> list[TableRow]:
    content = read_zip_member(sources, WINOPRON, "data.zip", "new_templates.tsv")
    return read_table(content, (*TABLE, SINGLE), _place(sources))


def _place(sources: Sources) -> str:
    return f"{sources.place(WINOPRON, 'data.zip')}:new_templates.tsv"
