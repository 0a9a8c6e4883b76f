"""Which changed copies of evaluation sentences `leakcheck` finds, and what else it takes for one.

Of each dataset at most ``--sentences`` texts of every length are drawn with a fixed seed, changed
in every way of `CHANGES`, and looked for one by one, between other words; the datasets' copies are
counted together. A length is a number of words that count: two letters and more, no pronoun.
``--clean`` names files and folders that should hold nothing (compiled files are left out); ten
megabytes as `construction_scale.py` makes them, which `construct` reads, are looked into besides.
Speed is in CPU time, beside that of a SHA-256 of as many bytes in the same run. Prints the tables
of docs/leakcheck.md, without a sentence.

    python benchmarks/leakcheck_recall.py --dataset out/winopron out/knowref --clean /usr/share/doc
"""

import argparse
import hashlib
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from construction_scale import write_corpus

from pronominal.dataset_scripts.leakcheck.finder import Survey, find_leaks, leakcheck
from pronominal.dataset_scripts.leakcheck.index import LeakIndex
from pronominal.pronouns import PRONOUN_SETS
from pronominal.switching import occurrences

LENGTHS = ((5, 7), (8, 11), (12, 15), (16, 23), (24, 33))
PRONOUNS = {form for pronouns in PRONOUN_SETS for form in pronouns.forms} | {"themselves"}
OTHER = ("walnut", "harbour", "pencil", "saddle", "lantern", "meadow", "copper", "violin")
BEFORE, AFTER = "Amber basil cedar dune ember fjord.\n", "\nGrove heath iris jade kelp lagoon."
COMPILED = ("*.so", "*.so.*", "*.pyc", "*.a", "*.o")
CONSTRUCTED = 125_000
"""Sentences of the text that `construct` reads: ten megabytes."""

Row = dict[str, Any]
Change = Callable[[Row, random.Random], str | None]


def counted(text: str) -> list[re.Match[str]]:
    """Return the words that count."""
    words = re.finditer(r"[A-Za-z]{2,}", text)
    return [word for word in words if word[0].lower() not in PRONOUNS]


def with_other_word(place: Callable[[int, random.Random], int], *, lost: bool = False) -> Change:
    """Return a change that puts another word, or none, in the place of one that counts."""

    def change(row: Row, source: random.Random) -> str:
        text, found = row["text"], counted(row["text"])
        word = found[place(len(found), source)]
        other = "" if lost else source.choice(OTHER)
        return f"{text[: word.start()]}{other}{text[word.end() :]}"

    return change


def with_word_added(row: Row, source: random.Random) -> str:
    place = source.choice(counted(row["text"])[1:]).start()
    return f"{row['text'][:place]}{source.choice(OTHER)} {row['text'][place:]}"


def with_two_words(row: Row, source: random.Random) -> str:
    word = source.choice(counted(row["text"]))
    two = " ".join(source.sample(OTHER, 2))
    return f"{row['text'][: word.start()]}{two}{row['text'][word.end() :]}"


def with_names_exchanged(row: Row, _: random.Random) -> str | None:
    """Let the two candidates change places; None where there are not two."""
    text, names = row["text"], [candidate["text"] for candidate in row.get("candidates") or ()]
    places = occurrences(text, names)
    if len(names) != 2 or {place.candidate for place in places} != {0, 1}:
        return None
    for start, end, candidate in reversed(places):
        text = text[:start] + names[1 - candidate] + text[end:]
    return str(text)


def second_half(row: Row, _: random.Random) -> str:
    words = row["text"].split()
    return " ".join(words[len(words) // 2 :])


def other_pronoun(row: Row, _: random.Random) -> str:
    forms = "|".join(sorted(PRONOUNS, key=len, reverse=True))
    return re.sub(rf"\b(?:{forms})\b", "zir", row["text"], flags=re.IGNORECASE)


CHANGES: dict[str, Change] = {
    "none": lambda row, _: row["text"],
    "capitals, no punctuation": lambda row, _: re.sub(r"[^\w\s'-]", " ", row["text"]).upper(),
    "letters as entities": lambda row, _: "".join(f"&#{ord(c)};" for c in row["text"]),
    "another pronoun": other_pronoun,
    "names exchanged": with_names_exchanged,
    "first word": with_other_word(lambda length, _: 0),
    "middle word": with_other_word(lambda length, _: length // 2),
    "last word": with_other_word(lambda length, _: length - 1),
    "any word": with_other_word(lambda length, source: source.randrange(length)),
    "any word lost": with_other_word(lambda length, source: source.randrange(length), lost=True),
    "a word added": with_word_added,
    "any word replaced by two": with_two_words,
    "second half alone": second_half,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", type=Path, nargs="+", required=True)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--clean", nargs="*", default=[])
    arguments = parser.parse_args()
    index = LeakIndex.of(arguments.dataset)
    rows: dict[str, list[Row]] = defaultdict(list)
    for folder in arguments.dataset:
        for length, its in drawn(folder, arguments.sentences).items():
            rows[length] += its
    print(table(["change", *rows], [*recall(rows, index)]), end="\n\n", flush=True)
    pace = sha256_pace()
    looked = [looked_into(path, index, pace) for path in arguments.clean]
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder), CONSTRUCTED)
        looked.append(looked_into(folder, index, pace, "what `construct` reads"))
    columns = ("text", "MB", "found", "MB a second", "of SHA-256's speed")
    print(table(columns, looked))
    names = ", ".join(folder.name for folder in arguments.dataset)
    print(f"\n{index.sentences:,} sentences, in every wording, of {names}.")


def table(columns: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    columns = [*columns]
    lines = [columns, ["---"] * len(columns), *([*map(str, row)] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace(" --- ", "---")


def drawn(folder: Path, most: int) -> dict[str, list[Row]]:
    """Return rows with distinct texts for each range of lengths, drawn with a fixed seed."""
    texts: dict[str, Row] = {}
    for file in sorted(folder.glob("*/*.parquet")):
        names = pq.read_schema(file).names
        table = pq.read_table(file, columns=[n for n in ("text", "candidates") if n in names])
        texts |= {row["text"]: row for row in table.to_pylist()}
    by_length: dict[str, list[Row]] = defaultdict(list)
    for text, row in texts.items():
        length = len(counted(text))
        for low, high in LENGTHS:
            if low <= length <= high:
                by_length[f"{low}-{high}"].append(row)
    source = random.Random(0)
    return {
        name: source.sample(by_length[name], min(most, len(by_length[name])))
        for low, high in LENGTHS
        if by_length[name := f"{low}-{high}"]
    }


def recall(rows: dict[str, list[Row]], index: LeakIndex) -> Iterator[list[object]]:
    """Yield a line for each change: the hundredths of copies found, for each length."""
    for name, change in CHANGES.items():
        line: list[object] = [name]
        for its in rows.values():
            source = random.Random(1)
            copies = [copy for row in its if (copy := change(row, source)) is not None]
            found = sum(is_found(copy, index) for copy in copies)
            # rounded down: 100 is all of them
            line.append(100 * found // len(copies) if copies else "-")
        yield line
    yield ["sentences", *map(len, rows.values())]


def is_found(copy: str, index: LeakIndex) -> bool:
    return any(find_leaks([f"{BEFORE}{copy}{AFTER}".encode()], index))


def sha256_pace() -> float:
    """Return megabytes that SHA-256 takes in a second of CPU time."""
    content, started = bytes(100_000_000), time.process_time()
    hashlib.sha256(content).digest()
    return len(content) / 1e6 / (time.process_time() - started)


def looked_into(path: str, index: LeakIndex, pace: float, name: str = "") -> list[object]:
    """Return what is called how, its megabytes, what is found in it, and how fast it is read."""
    survey, started = Survey(), time.process_time()
    found = sum(1 for _ in leakcheck([path], index, exclude=COMPILED, history=False, survey=survey))
    speed = survey.size / 1e6 / (time.process_time() - started)
    size = round(survey.size / 1e6)
    return [
        name or f"`{'/'.join(Path(path).parts[-2:])}`",
        size,
        found,
        round(speed),
        f"{speed / pace:.2f}",
    ]


if __name__ == "__main__":
    main()
