"""Text files of other systems, alone or in folders."""

from collections.abc import Iterator
from pathlib import Path

from pronominal.errors import InputError


def answer_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that hold answers, by name; `InputError` if there is none."""
    found = sorted(folder.glob(pattern)) if folder.is_dir() else []
    if not found:
        raise InputError(
            f"no file is named {pattern}", cure="give the folder of a system's output", file=folder
        )
    return found


def whole_text(file: Path) -> str:
    """Return what stands in a file, line ends as they are; `InputError` if it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("no text could be read", cure="give a file in UTF-8", file=file) from error


def numbered_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, from 1 on, without their ends; errors as `whole_text`."""
    for number, line in enumerate(whole_text(file).split("\n"), start=1):
        yield number, line.removesuffix("\r")
