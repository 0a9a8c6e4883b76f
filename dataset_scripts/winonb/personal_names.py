"""The people of WinoNB's ``personal``: the paper's fifteen names, or a file of the user's own."""

import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pronominal.dataset_scripts.building.options import BuildOption
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError, redacted
from pronominal.names import nearest_name
from pronominal.text_files import read_text

HEADER = ("name", "association")
ASSOCIATIONS = ("fem", "masc", "neutral")


@dataclass(frozen=True, slots=True)
class PersonalName:
    """One name that an individual is given.

    Attributes:
        name: as it is written into a sentence.
        association: fem, masc or neutral.
        line: where it stands in its file; the header is line 1. None for one of the fifteen.
    """

    name: str
    association: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class PersonalNames:
    """The names of a build, and the file that they come from; None for the paper's fifteen."""

    names: tuple[PersonalName, ...]
    file: Path | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Association -> how many names have it."""
        counts = Counter(name.association for name in self.names)
        return {association: counts[association] for association in ASSOCIATIONS}

    @property
    def note(self) -> str:
        """What the card of a build with these names says; nothing of the paper's fifteen."""
        if self.file is None:
            return ""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
        number = len(self.names)
        return f"Built with the user's own names (`--names`) in `personal`: {number} ({counts})."

    def refuse(self, name: PersonalName, cause: str) -> InputError:
        """Return the error about one of the names."""
        row = f"line {name.line}" if name.line else f"the name {name.name}"
        return InputError(cause, cure="choose another name", file=self.file, row=row)


FIFTEEN_NAMES = PersonalNames(
    tuple(
        PersonalName(name, association)
        for association, five in (
            ("fem", ("Sophia", "Emma", "Olivia", "Isabella", "Ava")),
            ("masc", ("Noah", "Jacob", "Liam", "Mason", "William")),
            ("neutral", ("Casey", "Riley", "Jessie", "Jackie", "Avery")),
        )
        for name in five
    )
)
"""WinoNB, appendix A.1, in its order: five names of each gender association."""


def load_names(path: Path) -> PersonalNames:
    """Read a file of names: CSV, or TSV if a tab stands in its header, in UTF-8.

    Its columns are ``name`` and ``association`` (fem, masc or neutral), in any order; further
    ones are left out. Blanks around a cell do not count.

    Raises:
        InputError: the file cannot be read or is damaged, a name is empty or there twice in any
            case, or an association is unknown.
    """
    names = PersonalNames(tuple(_name(*row, path) for row in _rows(path)), path)
    if not names.names:
        raise InputError("there is no name in the file", cure="add a row for each name", file=path)
    first: dict[str, PersonalName] = {}
    for name in names.names:
        key = unicodedata.normalize("NFC", name.name).casefold()
        earlier = first.setdefault(key, name)
        if earlier is not name:
            raise names.refuse(name, f"the name is also that of line {earlier.line}")
    return names


def _name(line: int, cells: Sequence[str], path: Path) -> PersonalName:
    name, association = cells
    at = RowLocation(path, f"line {line}")
    if not any(map(str.isalpha, name)) or not name.isprintable():
        cause = "the name is empty" if not name else "the name has no letters, or a control sign"
        raise at.refuse(cause, "write a name")
    if association not in ASSOCIATIONS:
        cause = f"there is no association {redacted(association)}"
        raise at.refuse(cause, nearest_name(association, ASSOCIATIONS))
    return PersonalName(name, association, line)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the cells of `HEADER` in each row that is not blank, with its first line."""
    text = read_text(path, cure="save it as UTF-8")
    dialect = "excel-tab" if "\t" in text.partition("\n")[0] else "excel"
    reader = csv.reader(io.StringIO(text, newline=""), dialect, strict=True, skipinitialspace=True)
    header: list[str] | None = None
    rows = []
    line = 1
    try:
        for cells in reader:
            at = RowLocation(path, f"line {line}")
            if header is None:
                header = [cell.strip() for cell in cells]
                _refuse_header(header, at)
            elif any(map(str.strip, cells)):
                if len(cells) != len(header):
                    cause = f"{len(cells)} cells where the header has {len(header)}"
                    raise at.refuse(cause, "mend the row")
                wanted = [cells[header.index(column)].strip() for column in HEADER]
                rows.append((line, wanted))
            line = reader.line_num + 1
    except csv.Error as error:
        at = RowLocation(path, f"line {line}")
        raise at.refuse(f"the table is damaged ({error})", "mend the row") from error
    if header is None:
        _refuse_header([], RowLocation(path, "line 1"))
    return rows


def _refuse_header(header: Sequence[str], at: RowLocation) -> None:
    for column in HEADER:
        if header.count(column) != 1:
            fault = "missing" if column not in header else "there twice"
            cure = f"begin the file with the header {','.join(HEADER)}"
            raise at.refuse(f"the column '{column}' is {fault}", cure)


NAMES = BuildOption(
    name="names",
    kind=Path,
    meaning="CSV or TSV file with the columns name and association (fem, masc, neutral), instead "
    "of the paper's fifteen names.",
    default=FIFTEEN_NAMES,
    read=load_names,
    note=lambda names: names.note,
)
"""The people of the config ``personal``."""
