"""Text files of other systems, alone or in folders."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

from pronominal.errors import InputError
from pronominal.text_files import read_text

IN_UTF_8 = "give a file in UTF-8"


def answer_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that hold answers, by name; `InputError` if there is none."""
    files = sorted(folder.glob(pattern)) if folder.is_dir() else []
    if not files:
        cure = "give the folder of a system's output"
        raise InputError(f"no file is named {pattern}", cure=cure, file=folder)
    return files


def whole_text(file: Path) -> str:
    """Return the text of a file, line ends as they are; errors are those of `read_text`."""
    text = read_text(file, cure=IN_UTF_8)
    # a byte order mark is a character, where characters are counted
    with file.open("rb") as content:
        return f"\ufeff{text}" if content.read(len(BOM_UTF8)) == BOM_UTF8 else text


def numbered_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, from 1 on, without their ends; errors are those of `read_text`."""
    for number, line in enumerate(read_text(file, cure=IN_UTF_8).split("\n"), start=1):
        yield number, line.removesuffix("\r")
