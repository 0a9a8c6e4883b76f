"""GAP (Webster et al., 2018): Wikipedia passages, a gendered pronoun and two names."""

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from pronominal.dataset_scripts.building.options import REPAIR_CASE, BuildOptions
from pronominal.dataset_scripts.building.script import ORIGINAL, SWITCHED, SplitRows
from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.tables.columns import Column, resolution_columns
from pronominal.dataset_scripts.tables.tab_separated import TableRow
from pronominal.dataset_scripts.tables.violations import Violation, summarise_repeats
from pronominal.errors import InputError
from pronominal.instances import ResolutionInstance
from pronominal.pronouns import HE, SHE
from pronominal.spans import Mention
from pronominal.switching import Unswitchable, switch

NAME = "gap"
OPTIONS = (REPAIR_CASE,)
UNPUBLISHABLE = ()
HYDRATION = None

GAP = Upstream(
    repository="google-research-datasets/gap-coreference",
    commit="83135f26025cdd705c04f77e940d0c9201116b80",
    licence="Apache-2.0",
    folder="gap",
    files={
        "gap-development.tsv": "b9a01434fcf58d8c2f9bc762480c27e58ce466cf1ffe8b09cfecbc7a20d2d634",
        "gap-validation.tsv": "2d784f66b390404f554704b9aef6dcde8845e79dda9886b8391cf7e9a24fdb98",
        "gap-test.tsv": "1c35e36d5b14f6313ec3f6cd67b275de282595dd59e59390e00cfff9897a6819",
    },
)
UPSTREAM = (GAP,)

LABELS = ("A", "B", "neither")
COLUMNS = (
    *resolution_columns("0 and 1: the names A and B of upstream, A mentioned first", LABELS),
    Column("gender", pa.string(), "of the pronoun: masculine, feminine"),
    Column("url", pa.string(), "the Wikipedia page; for the page-context setting only"),
)

TABLE = (
    *("ID", "Text", "Pronoun", "Pronoun-offset"),
    *("A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL"),
)
COREF = {("TRUE", "FALSE"): 0, ("FALSE", "TRUE"): 1, ("FALSE", "FALSE"): 2}
GENDERS = {**dict.fromkeys(HE.forms, "masculine"), **dict.fromkeys(SHE.forms, "feminine")}

# our split -> upstream's name for it, which its ids begin with
SPLITS = {"train": "development", "validation": "validation", "test": "test"}
ROWS = {"train": 2000, "validation": 454, "test": 2000}


def splits(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield ``original`` and ``switched``, each with upstream's three splits in its order."""
    original = {split: _parsed(sources, split) for split in SPLITS}
    sources.refuse_changed()
    switched = {
        split: [_switched(instance, sources.locate(GAP, _file(split)), options) for instance in of]
        for split, of in original.items()
    }
    for config, instances in ((ORIGINAL, original), (SWITCHED, switched)):
        for split in SPLITS:
            yield SplitRows.from_instances(config, split, COLUMNS, instances[split])


def _parsed(sources: Sources, split: str) -> list[ResolutionInstance]:
    lines, instances = dict[str, int](), []
    for row in _rows(sources, split):
        earlier = lines.setdefault(row.cells["ID"], row.line)
        if earlier != row.line:
            raise row.refuse(f"the id is that of line {earlier}", "keep one of the two")
        instances.append(parse_row(row))
    return instances


def _switched(instance: ResolutionInstance, file: str, options: BuildOptions) -> ResolutionInstance:
    """Switch an instance; every one of the pinned files can be."""
    try:
        return switch(instance, repair_case=options[REPAIR_CASE])
    except Unswitchable as error:
        cause = f"the names cannot change places: {error.reason}"
        cure = "mend the row or leave it out"
        raise InputError(cause, cure=cure, file=file, row=f"id {instance.id}") from error


def parse_row(row: TableRow) -> ResolutionInstance:
    """Read one upstream row.

    Raises:
        InputError: an offset does not hold its mention, both candidates are said to be right, a
            truth value is neither TRUE nor FALSE, or the pronoun has no gender.
    """
    cells = row.cells
    mentions = {}
    for name in ("Pronoun", "A", "B"):
        offset = cells[f"{name}-offset"]
        if not (offset.isascii() and offset.isdigit()):
            raise row.refuse(f"the offset of {name} is not a number")
        mention = Mention(cells[name], int(offset), int(offset) + len(cells[name]))
        if not mention.stands_in(cells["Text"]) or not mention.text:
            raise row.refuse(f"the offset of {name} does not hold its mention")
        mentions[name] = mention
    label = COREF.get((cells["A-coref"], cells["B-coref"]))
    if label is None:
        raise row.refuse("A-coref and B-coref are not TRUE or FALSE, or both TRUE")
    gender = GENDERS.get(cells["Pronoun"].lower())
    if gender is None:
        raise row.refuse("the pronoun is neither masculine nor feminine")
    return ResolutionInstance(
        id=cells["ID"],
        text=cells["Text"],
        pronoun=mentions["Pronoun"],
        candidates=(mentions["A"], mentions["B"]),
        label=label,
        columns={"gender": gender, "url": cells["URL"]},
    )


def violations(sources: Sources) -> Iterator[Violation]:
    """Check what upstream states: offsets, counts, ids, the balance of genders, A before B."""
    for split in SPLITS:
        yield from summarise_repeats(_split_violations(sources, split))
    yield from sources.changed_files()


def _split_violations(sources: Sources, split: str) -> Iterator[Violation]:
    table, genders = _rows(sources, split), Counter[str]()
    file = table[0].file
    if len(table) != ROWS[split]:
        yield Violation(file, None, f"{len(table)} rows instead of {ROWS[split]}")
    for number, row in enumerate(table, start=1):
        if row.cells["ID"] != f"{SPLITS[split]}-{number}":
            yield row.violation(f"the id is not {SPLITS[split]}-{number}")
        try:
            instance = parse_row(row)
        except InputError as error:
            yield Violation.of(error)
            continue
        genders[instance.columns["gender"]] += 1
        first, second = instance.candidates
        if first.end > second.start:
            yield row.violation("B does not follow A")
        if first.text == second.text:
            yield row.violation("A and B are the same name")
    if genders["masculine"] != genders["feminine"]:
        counts = f"{genders['masculine']} masculine and {genders['feminine']} feminine pronouns"
        yield Violation(file, None, f"{counts} are not balanced")


def _rows(sources: Sources, split: str) -> list[TableRow]:
    return sources.table(GAP, _file(split), TABLE)


def _file(split: str) -> str:
    return f"gap-{SPLITS[split]}.tsv"
