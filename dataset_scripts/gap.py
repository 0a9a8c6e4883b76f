"""GAP (Webster et al., 2018): Wikipedia passages, a gendered pronoun and two names."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from pronominal.dataset_scripts.building.script import (
    BuildOptions,
    SplitRows,
    Violation,
    changed_files,
    told_once,
)
from pronominal.dataset_scripts.building.sources import (
    Sources,
    TableRow,
    Upstream,
    UpstreamFile,
    read_table,
)
from pronominal.dataset_scripts.tables.columns import Column, resolution_columns
from pronominal.errors import InputError
from pronominal.pronouns import HE, SHE
from pronominal.spans import Mention
from pronominal.switching import Unswitchable, switch_row

NAME = "gap"
OPTIONS = ("repair_case",)

GAP = Upstream(
    repository="google-research-datasets/gap-coreference",
    commit="83135f26025cdd705c04f77e940d0c9201116b80",
    licence="Apache-2.0",
    folder="gap",
    files={
        "gap-development.tsv": UpstreamFile(
            "gap-development.tsv",
            "b9a01434fcf58d8c2f9bc762480c27e58ce466cf1ffe8b09cfecbc7a20d2d634",
        ),
        "gap-validation.tsv": UpstreamFile(
            "gap-validation.tsv",
            "2d784f66b390404f554704b9aef6dcde8845e79dda9886b8391cf7e9a24fdb98",
        ),
        "gap-test.tsv": UpstreamFile(
            "gap-test.tsv", "1c35e36d5b14f6313ec3f6cd67b275de282595dd59e59390e00cfff9897a6819"
        ),
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
GENDERS = {
    **dict.fromkeys(HE.forms, "masculine"),
    **dict.fromkeys(SHE.forms, "feminine"),
}

# our split -> upstream's name for it, which its ids begin with
SPLITS = {"train": "development", "validation": "validation", "test": "test"}
ROWS = {"train": 2000, "validation": 454, "test": 2000}


def splits(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield ``original`` and ``switched``, each with upstream's three splits in its order."""
    original = {split: _parsed(sources, split) for split in SPLITS}
    sources.refuse_changed()
    switched = {
        split: [_switched(row, _place(sources, split), options) for row in rows]
        for split, rows in original.items()
    }
    for config, rows_of in (("original", original), ("switched", switched)):
        for split in SPLITS:
            yield SplitRows.from_rows(config, split, COLUMNS, rows_of[split])


def _parsed(sources: Sources, split: str) -> list[dict[str, Any]]:
    place, lines, rows = _place(sources, split), dict[str, int](), []
    for row in _rows(sources, split):
        earlier = lines.setdefault(row.cells["ID"], row.line)
        if earlier != row.line:
            raise InputError(
                f"the id is that of line {earlier}",
                cure="keep one of the two",
                file=place,
                row=f"line {row.line}",
            )
        rows.append(parse_row(row, place))
    return rows


def _switched(row: dict[str, Any], place: str, options: BuildOptions) -> dict[str, Any]:
    """Switch a row; every row of the pinned files can be."""
    try:
        return switch_row(row, repair_case=options.repair_case)
    except Unswitchable as error:
        raise InputError(
            f"the names cannot change places: {error.reason}",
            cure="mend the row or leave it out",
            file=place,
            row=f"id {row['id']}",
        ) from error


def parse_row(row: TableRow, place: str) -> dict[str, Any]:
    """Return the published row of one upstream row.

    Raises:
        InputError: an offset does not hold its mention, both candidates are said to be right, a
            truth value is neither TRUE nor FALSE, or the pronoun has no gender.
    """
    cells = row.cells

    def refuse(cause: str) -> InputError:
        cure = "fetch it again from upstream"
        return InputError(cause, cure=cure, file=place, row=f"line {row.line}")

    mentions = {}
    for name in ("Pronoun", "A", "B"):
        offset = cells[f"{name}-offset"]
        if not (offset.isascii() and offset.isdigit()):
            raise refuse(f"the offset of {name} is not a number")
        mention = Mention(cells[name], int(offset), int(offset) + len(cells[name]))
        if not mention.stands_in(cells["Text"]) or not mention.text:
            raise refuse(f"the offset of {name} does not hold its mention")
        mentions[name] = mention._asdict()
    label = COREF.get((cells["A-coref"], cells["B-coref"]))
    if label is None:
        raise refuse("A-coref and B-coref are not TRUE or FALSE, or both TRUE")
    gender = GENDERS.get(cells["Pronoun"].lower())
    if gender is None:
        raise refuse("the pronoun is neither masculine nor feminine")
    return {
        "id": cells["ID"],
        "text": cells["Text"],
        "pronoun": mentions["Pronoun"],
        "candidates": [mentions["A"], mentions["B"]],
        "label": label,
        "gender": gender,
        "url": cells["URL"],
    }


def violations(sources: Sources) -> Iterator[Violation]:
    """Check what upstream states: offsets, counts, ids, the balance of genders, A before B."""
    for split in SPLITS:
        yield from told_once(_split_violations(sources, split))
    yield from changed_files(sources)


def _split_violations(sources: Sources, split: str) -> Iterator[Violation]:
    place, table, genders = _place(sources, split), _rows(sources, split), Counter[str]()
    if len(table) != ROWS[split]:
        yield Violation(place, None, f"{len(table)} rows instead of {ROWS[split]}")
    for number, row in enumerate(table, start=1):
        line = f"line {row.line}"
        if row.cells["ID"] != f"{SPLITS[split]}-{number}":
            yield Violation(place, line, f"the id is not {SPLITS[split]}-{number}")
        try:
            parsed = parse_row(row, place)
        except InputError as error:
            yield Violation(place, error.row, error.cause)
            continue
        genders[parsed["gender"]] += 1
        first, second = parsed["candidates"]
        if first["end"] > second["start"]:
            yield Violation(place, line, "B does not follow A")
        if first["text"] == second["text"]:
            yield Violation(place, line, "A and B are the same name")
    if genders["masculine"] != genders["feminine"]:
        counts = f"{genders['masculine']} masculine and {genders['feminine']} feminine pronouns"
        yield Violation(place, None, f"{counts} are not balanced")


def _rows(sources: Sources, split: str) -> list[TableRow]:
    content = sources.read(GAP, f"gap-{SPLITS[split]}.tsv")
    return read_table(content, TABLE, _place(sources, split))


def _place(sources: Sources, split: str) -> str:
    return sources.place(GAP, f"gap-{SPLITS[split]}.tsv")
