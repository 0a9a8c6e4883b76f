"""WinoPron (Gautam et al., 2024): 360 templates, three grammatical cases, any pronoun set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, starmap

import pyarrow as pa

from pronominal.dataset_scripts.building.options import PRONOUNS, BuildOptions
from pronominal.dataset_scripts.building.script import SplitRows
from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.schemas.checks import (
    BOTH,
    double_violations,
    pair_violations,
    refuse_slot_faults,
    repeats,
    single_violations,
)
from pronominal.dataset_scripts.schemas.templates import (
    Template,
    instantiate,
    parse_answer,
    parse_case,
)
from pronominal.dataset_scripts.tables.columns import Column, resolution_columns
from pronominal.dataset_scripts.tables.tab_separated import TableRow, parse_each
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.errors import redacted
from pronominal.pronouns import CASES

NAME = "winopron"
OPTIONS = (PRONOUNS,)
UNPUBLISHABLE = ()
HYDRATION = None

WINOPRON = Upstream(
    repository="uds-lsv/winopron",
    commit="ed71655b445a0bb71dc1d36e41eb3156b68303af",
    licence="AGPL-3.0",
    folder="winopron",
    files={
        "data.zip": "d1acbf1f411dc9ec5f149c95c751667cf1c8338562a323b839d7113f2ca8b673",
        "README.md": "382ec3d5815fe7711e423919a9820e6c2814ec2b1b2186240375b4ae8a1e0d09",
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
    schemas = [parse_schema(row) for row in _rows(sources)]
    sources.refuse_changed()
    yield from schema_splits(schemas, options)


def violations(sources: Sources) -> Iterator[Violation]:
    """Check the papers' constraints (WinoPron, section 3.3) and what our columns rely on."""
    yield from table_violations(_rows(sources), templates=360)
    yield from sources.changed_files()


def schema_splits(schemas: Sequence[Schema], options: BuildOptions) -> Iterator[SplitRows]:
    """Fill every template with every pronoun set; `InputError` for one that cannot be filled."""
    for schema in schemas:
        refuse_slot_faults(schema.double, BOTH)
        refuse_slot_faults(schema.single, (BOTH[schema.single.answer],))
    sets = options[PRONOUNS]
    for config in ("double", "single"):
        filled = product([getattr(schema, config) for schema in schemas], sets)
        yield SplitRows.from_instances(config, "test", COLUMNS, starmap(instantiate, filled))


def parse_schema(row: TableRow) -> Schema:
    """Read one row; `InputError` for an unknown answer or case."""
    occupation, participant, answer, slot, double = (row.cells[column] for column in TABLE)
    case = parse_case(slot, row)
    shared = (row, occupation, participant, case, parse_answer(answer, row))
    pair = f"{occupation}-{participant}-{case}"
    return Schema(Template(*shared, double, pair), Template(*shared, row.cells[SINGLE], pair))


def table_violations(rows: Sequence[TableRow], templates: int) -> Iterator[Violation]:
    """Check a table in WinoPron's form, of one row at least, which must have so many templates."""
    schemas, errors = parse_each(parse_schema, rows)
    yield from map(Violation.of, errors)
    if len(rows) != templates:
        yield Violation(rows[0].file, None, f"{len(rows)} templates instead of {templates}")
    doubles = [schema.double for schema in schemas]
    for template in doubles:
        yield from double_violations(template)
    for schema in schemas:
        yield from single_violations(schema.single)
    yield from _incomplete_blocks(doubles)
    if len(doubles) == templates:
        yield from _misplaced(doubles)
    yield from pair_violations(doubles)
    for kind in (doubles, [schema.single for schema in schemas]):
        yield from repeats("template", [(template.origin, template.text) for template in kind])


def _incomplete_blocks(templates: Sequence[Template]) -> Iterator[Violation]:
    """Every occupation-participant pair has two templates in each grammatical case."""
    first: dict[tuple[str, str], Template] = {}
    for template in templates:
        first.setdefault((template.occupation, template.participant), template)
    counts = Counter((t.occupation, t.participant, t.case) for t in templates)
    for entities, template in first.items():
        for case in CASES:
            if (count := counts[*entities, case]) != 2:
                pair = redacted("-".join(entities))
                yield template.origin.violation(f"{pair} has {count} {case} templates instead of 2")


def _misplaced(templates: Sequence[Template]) -> Iterator[Violation]:
    """Upstream's blocks of six rows: two of each grammatical case, in a fixed order."""
    for index, template in enumerate(templates):
        if template.case != CASES[index // 2 % 3] or template.pair != templates[index ^ 1].pair:
            yield template.origin.violation("not in the order of its block of six")


def _rows(sources: Sources) -> list[TableRow]:
    return sources.table(WINOPRON, "data.zip", (*TABLE, SINGLE), "new_templates.tsv")
