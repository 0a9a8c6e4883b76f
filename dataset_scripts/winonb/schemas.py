"""WinoNB's two upstream files: the labels of v0, the sentences of v1, and where mentions stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.tables.tab_separated import TableRow
from pronominal.errors import InputError
from pronominal.spans import Span

LABELS, SENTENCES = "v0/winonb_someone.tsv", "v1/winonb_someone.tsv"
WINONB = Upstream(
    repository="ctbaumler/winonb",
    commit="b3c0d3efa52d84bed9684c837e85368b97249159",
    licence="none stated",
    folder="winonb",
    files={
        LABELS: "fb4dfc8ae04f00433ba5f87ac4a0c7766e43dadbb5935ee6157b7b8d97ecb0f7",
        SENTENCES: "686a9e810d7e31c5ab72345be88bbe62c588718d56bcb43a55aef468f20a5824",
    },
    paths={name: f"data/{name}" for name in (LABELS, SENTENCES)},
)

TABLE = ("source", "sentid", "sentence")
SENTID = re.compile(
    r"(?P<group>[^.]+)\.someone\.(?P<label>[01])\."
    r"(?:(?P<type>[12])\.(?P<split>dev|test)\.)?someone\.txt"
)
SOMEONE = re.compile(r"\bsomeone\b", re.IGNORECASE)
THEY = re.compile(r"\b(?:they|them|their|theirs|themself|themselves)\b", re.IGNORECASE)

# row -> why the pronoun in question is its second form of they; it is the first everywhere else
SECOND_FORM: dict[int, str] = {
    **dict.fromkeys((128, 129), "the first is the group's own possessive under either label"),
    **dict.fromkeys((198, 199, 200), "the first refers to things"),
    **dict.fromkeys((1487, 1488), "the first belongs to the other entity"),
    **dict.fromkeys((3739, 3740), "the first is a leftover word outside the clause's grammar"),
}
# rows whose second "someone" is a further person, who keeps that word in the personal config
FURTHER_PERSON = frozenset({3249, 3250, 4013, 4014})


@dataclass(frozen=True, slots=True)
class Schema:
    """One sentence with *someone*, from which every fill is made.

    Attributes:
        origin: its row in v1; the sentids are no key, but both files have the same rows.
        source: the dataset it is adapted from.
        text: the sentence of v1.
        group: candidate 0 as its sentid has it.
        group_span: its place in the text.
        individual: every span of the individual, in order, without "'s".
        pronoun: the place of the pronoun in question.
        label: 0 if it refers to the group, 1 if to the individual: the label of v0.
        published_label: the label of v1.
        winobias: type (1 or 2) and split (dev or test) in WinoBias; None and None otherwise.
    """

    origin: TableRow
    source: str
    text: str
    group: str
    group_span: Span
    individual: tuple[Span, ...]
    pronoun: Span
    label: int
    published_label: int
    winobias: tuple[int | None, str | None]

    @property
    def number(self) -> int:
        """Its row from 0."""
        return self.origin.line - 2

    @property
    def individual_first(self) -> bool:
        """Whether the individual is mentioned before the group."""
        return self.individual[0] < self.group_span


def paired_rows(sources: Sources) -> Iterator[tuple[TableRow, TableRow]]:
    """Yield the rows of v0 and v1 side by side; `InputError` at the end if one file is longer."""
    old, new = (sources.table(WINONB, name, TABLE) for name in (LABELS, SENTENCES))
    yield from zip(old, new, strict=False)
    if len(old) != len(new):
        # the one that is not the pinned file is at fault; of two such, the one that is cut short
        counts = {LABELS: len(old), SENTENCES: len(new)}
        changed = [name for name in counts if f"{WINONB.folder}/{name}" in sources.changed]
        wrong = changed[0] if len(changed) == 1 else min(counts, key=counts.__getitem__)
        (other,) = counts.keys() - {wrong}
        cause = f"{counts[wrong]} rows where {other} has {counts[other]}"
        cure = "fetch it again from upstream"
        raise InputError(cause, cure=cure, file=sources.locate(WINONB, wrong))


def parse_schema(versions: tuple[TableRow, TableRow]) -> Schema:
    """Read one row: of v0, whose label is right, and of v1, whose sentence is mended.

    Raises:
        InputError: a sentid is not of upstream's form, the versions are not of the same sentence,
            or an entity or the pronoun does not occur as often as it should.
    """
    old, new = versions
    ids, row = _parse_sentid(new), new.line - 2
    label = int(_parse_sentid(old)["label"])
    if _but_for_label(old) != _but_for_label(new):
        raise new.refuse("not the sentence that v0 has in this line")
    group = re.compile(rf"\b{re.escape(ids['group'])}\b", re.IGNORECASE)
    groups = _occurrences("the group", group, new)
    people = _occurrences("someone", SOMEONE, new)
    forms = _occurrences("a form of they", THEY, new)
    if (len(people) == 1 and row in FURTHER_PERSON) or (len(forms) == 1 and row in SECOND_FORM):
        raise new.refuse("a row with a known second mention has only one")
    if len(groups) > 1:
        raise new.refuse("the group occurs more than once")
    return Schema(
        origin=new,
        source=new.cells["source"],
        text=new.cells["sentence"],
        group=ids["group"],
        group_span=groups[0],
        individual=tuple(people[:1] if row in FURTHER_PERSON else people),
        pronoun=forms[row in SECOND_FORM],
        label=label,
        published_label=int(ids["label"]),
        winobias=(int(ids["type"]) if ids["type"] else None, ids["split"]),
    )


def _parse_sentid(row: TableRow) -> dict[str, str]:
    parts = SENTID.fullmatch(row.cells["sentid"])
    if parts is None:
        raise row.refuse("the sentid is not of upstream's form")
    return parts.groupdict()


def _but_for_label(row: TableRow) -> tuple[str, str, str]:
    """Return what v0 and v1 agree on: v1 only adds capitals and drops blanks before a period."""
    sentence = row.cells["sentence"].replace(" .", ".")
    entities = re.sub(r"\.[01]\.", ".", row.cells["sentid"], count=1)
    return row.cells["source"], entities, sentence[:1].upper() + sentence[1:]


def _occurrences(what: str, pattern: re.Pattern[str], row: TableRow) -> list[Span]:
    spans = [Span(*match.span()) for match in pattern.finditer(row.cells["sentence"])]
    if not spans:
        raise row.refuse(f"{what} does not occur in the sentence")
    return spans
