"""Rows, documents and word vectors of our own, and the command that trains on them."""

import json
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

NAMES = ("Anna", "Bella", "Clara", "Dora", "Emma", "Fiona")


def row(number: int) -> dict[str, Any]:
    """Return a row whose answer is in its words, and not in the places of its names."""
    first, second = NAMES[number % 6], NAMES[(number + 1 + number // 6 % 5) % 6]
    rest, label = (("she had helped", 1), ("she was kind", 0))[number % 2]
    fields = {"text": f"{first} thanked {second} because {rest} .", "candidates": [first, second]}
    return {"id": f"own-{number}", "pronoun": "she", "label": label, **fields}


def write_rows(file: Path, count: int) -> Path:
    lines = (json.dumps(row(number)) + "\n" for number in range(count))
    file.write_text("".join(lines), encoding="utf-8")
    return file


def write_conll(file: Path, documents: int) -> Path:
    lines = []
    for number in range(documents):
        lines.append(f"#begin document (nw/own/{number}); part 000")
        for word, coreference in (("Anna", "(0)"), ("left", "-"), ("her", "(0)"), ("house", "-")):
            lines.append(f"nw/own/{number} 0 0 {word} X * - - - s * {coreference}")
        lines += ["", "#end document"]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def write_vectors(file: Path, size: int = 6) -> Path:
    """Write vectors of the rows' words; what is in them matters to no test."""
    words = sorted({word for number in range(60) for word in row(number)["text"].split()})
    lines = (f"{word} {' '.join(map(str, _numbers(word, size)))}\n" for word in words)
    file.write_text("".join(lines), encoding="utf-8")
    return file


def _numbers(word: str, size: int) -> list[float]:
    spelling = sum(map(ord, word)) * 31 + len(word)
    return [round((spelling * (place + 7) % 101) / 50 - 1, 2) for place in range(size)]


def run(arguments: Iterable[object], *, warned: bool = False) -> int:
    """Run the command line in this process and return its exit code.

    Args:
        arguments: of the command.
        warned: whether warnings are shown: what has hardly learnt clusters nothing, and says so.
    """
    from pronominal.adapters.c2f.elmo.vectors import MissingElmoWarning
    from pronominal.cli.main import main

    before, sys.argv = sys.argv, ["pronominal", *map(str, arguments)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always" if warned else "ignore")
            # no training may go on, or be tested, without the ELMo that it was given
            warnings.simplefilter("error", MissingElmoWarning)
            main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0
