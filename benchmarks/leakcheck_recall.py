"""Which changed copies of evaluation sentences `leakcheck` finds, and what else it takes for one.

Of each dataset at most ``--sentences`` texts of every length are drawn with a fixed seed, changed
in every way of `CHANGES`, and looked for one by one, between other words. A length is a number of
words that count: two letters and more, no pronoun. ``--clean`` names files and folders that should
hold nothing; ten megabytes as `construction_scale.py` makes them, which `construct` reads, are
looked into besides. Prints one JSON object, without a sentence; shares are of the copies found.

    python benchmarks/leakcheck_recall.py --dataset out/winopron out/knowref --clean /usr/share/doc
"""

import argparse
import json
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
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
    "second half alone": second_half,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", type=Path, nargs="+", required=True)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--clean", nargs="*", default=[])
    arguments = parser.parse_args()
    index = LeakIndex.of(arguments.dataset)
    told: dict[str, object] = {
        "found": {
            folder.name: found_shares(drawn(folder, arguments.sentences), index)
            for folder in arguments.dataset
        }
    }
    told["clean"] = [looked_into(path, index) for path in arguments.clean]
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder), CONSTRUCTED)
        told["constructed"] = looked_into(folder, index)
    print(json.dumps(told, indent=2))


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


def found_shares(rows: dict[str, list[Row]], index: LeakIndex) -> dict[str, dict[str, object]]:
    """Return the share of copies found by change and length, and the number of copies."""
    shares: dict[str, dict[str, object]] = {
        length: {"copies": len(its)} for length, its in rows.items()
    }
    for name, change in CHANGES.items():
        for length, its in rows.items():
            source = random.Random(1)
            copies = [copy for row in its if (copy := change(row, source)) is not None]
            found = sum(is_found(copy, index) for copy in copies)
            shares[length][name] = round(found / len(copies), 3) if copies else None
    return shares


def is_found(copy: str, index: LeakIndex) -> bool:
    return any(find_leaks([f"{BEFORE}{copy}{AFTER}".encode()], index))


def looked_into(path: str, index: LeakIndex) -> dict[str, object]:
    survey, started = Survey(), time.process_time()
    found = sum(1 for _ in leakcheck([path], index, history=False, survey=survey))
    megabytes, seconds = survey.size / 1e6, time.process_time() - started
    return {
        "path": Path(path).name,
        "megabytes": round(megabytes, 1),
        "megabytes_per_cpu_second": round(megabytes / seconds, 1),
        "found": found,
    }


if __name__ == "__main__":
    main()
