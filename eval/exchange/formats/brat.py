"""brat's standoff format: ``KEY.txt`` with the text and ``KEY.ann`` with what is marked in it.

``T1`` to ``Tn`` are mentions, in characters; a line ``*`` names those that are equivalent, and a
relation ``R`` whose type begins with *coref* links two. Other annotations are passed by.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, linked, spans
from pronominal.eval.exchange.text_files import answer_files, numbered_lines, whole_text
from pronominal.spans import Span

GENRE = "wb_"

MENTION = re.compile(r"(?P<name>T\S+)\t\S+ (?P<start>\d+) (?:\d+;\d+ )*(?P<end>\d+)(?:\t.*)?")
EQUIVALENCE = re.compile(r"\*\t\S+ (?P<names>T\S+(?: T\S+)*)\s*")
RELATION = re.compile(r"R\S+\tcoref\S* \w+:(?P<one>T\S+) \w+:(?P<other>T\S+)\s*", re.IGNORECASE)
OTHERS = "EAMN#R"
"""What the lines of other annotations begin with."""


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write a folder with the two files of each text; without clusters nothing is marked."""
    with new_folder(out) as folder:
        for text in texts:
            key = text.key(GENRE)
            (folder / f"{key}.txt").write_bytes(text.instance.text.encode())
            lines = "".join(f"{line}\n" for line in _lines(text))
            (folder / f"{key}.ann").write_text(lines, "utf-8", newline="\n")


def read(folder: Path) -> Iterator[PredictedDocument]:
    """Yield what is marked in each text; a mention in parts reaches from its first to its last."""
    for file in answer_files(folder, "*.ann"):
        mentions: dict[str, Span] = {}
        links: list[list[str]] = []
        for number, line in numbered_lines(file):
            if match := MENTION.fullmatch(line):
                mentions[match["name"]] = Span(int(match["start"]), int(match["end"]))
            elif match := EQUIVALENCE.fullmatch(line):
                links.append(match["names"].split())
            elif match := RELATION.fullmatch(line):
                links.append([match["one"], match["other"]])
            elif line.strip() and line[0] not in OTHERS:
                raise _no_brat("no annotation of brat", file, f"line {number}")
        text = whole_text(file.with_suffix(".txt"))
        try:
            named = [[mentions[name] for name in cluster] for cluster in linked(links)]
            yield PredictedDocument(file.name, file.stem, text, spans(named, len(text)))
        except KeyError as error:
            raise _no_brat(f"the mention {error.args[0]} is not there", file) from error
        except ValueError as error:
            raise _no_brat(str(error), file) from error


def _lines(text: ExportedText) -> Iterator[str]:
    count = 0
    for cluster in text.clusters or []:
        for number, (start, end) in enumerate(cluster, start=count + 1):
            marked = " ".join(text.instance.text[start:end].split())
            yield f"T{number}\tMention {start} {end}\t{marked}"
        names = " ".join(f"T{count + place}" for place in range(1, len(cluster) + 1))
        yield f"*\tCoreference {names}"
        count += len(cluster)


def _no_brat(cause: str, file: Path, row: str | None = None) -> InputError:
    return InputError(cause, cure="give a folder that brat can read", file=file, row=row)
