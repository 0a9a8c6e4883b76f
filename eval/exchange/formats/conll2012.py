"""CoNLL-2012's ``*_conll`` files (Pradhan et al., 2012): one word a line, coreference last.

A blank line ends a sentence, ``#begin document`` and ``#end document`` enclose each part. What we
have no annotation of is written as a dash, or as an asterisk in the columns of parse and entities.
Words are neither escaped nor unescaped, brackets included.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pronominal.atomic import new_file
from pronominal.errors import InputError, redacted
from pronominal.eval.exchange.brackets import OpenBrackets, brackets
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument
from pronominal.eval.exchange.text_files import numbered_lines

GENRE = "wb/"
"""Web text."""

END = "#end document"
FIELD = re.compile(r"[^ \t\r\n]+")
"""What a column holds: a word may have white space that is not ASCII."""

BRACKET = re.compile(r"(?P<opens>\()?(?P<cluster>\d+)(?P<closes>\))?")
WORD, SPEAKER = 3, 9
"""Columns."""


class Dialect(NamedTuple):
    """How much of the format a file must have.

    Attributes:
        begin: the line that begins a document, with its ``name`` and maybe its ``part``.
        columns: fewest columns of a word.
        bars: whether the brackets at one word must have bars between them, and are read in their
            order. The reference scorer needs none, and reads what opens before what closes.
    """

    begin: re.Pattern[str]
    columns: int
    bars: bool


ANSWER = Dialect(
    re.compile(r"#begin document \((?P<name>.+)\);?(?:\s*part (?P<part>\d+))?\s*"), 2, bars=False
)
"""What the reference scorer reads: a name and coreference are enough, and no word need be there."""


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write texts as documents of one part, with their clusters in the last column."""
    with new_file(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for text in texts:
            file.writelines(f"{line}\n" for line in _lines(text))


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield the documents of a file; parts are documents of their own.

    Unlike in gold files, clusters that share a mention stay apart: they are a system's answer.
    Where the file has no words, they are empty.
    """
    for part in parts(file, ANSWER):
        key = f"{part.name}_{part.number}" if part.number else part.name
        words = [
            columns[WORD] if len(columns) > WORD + 1 else ""
            for sentence in part.sentences
            for columns in sentence
        ]
        clusters, order = part.mentions.clusters(), part.mentions.order()
        yield PredictedDocument(f"line {part.begin}", key, words, clusters, order=order)


@dataclass(slots=True)
class Part:
    """One part of a document.

    Attributes:
        name: of the document.
        number: of the part.
        begin: number of the line on which it begins.
        mentions: its coreference column.
        sentences: the columns of each word of each sentence; the last one may be empty.
    """

    name: str
    number: int
    begin: int
    mentions: OpenBrackets
    sentences: list[list[list[str]]] = field(default_factory=lambda: [[]])
    _words: int = 0

    def add(self, line: str, dialect: Dialect) -> None:
        """Take in one word, or the blank line that ends a sentence."""
        columns = FIELD.findall(line)
        if not columns:
            self.sentences.append([])
            return
        if len(columns) < dialect.columns:
            cause = f"{len(columns)} columns, not {dialect.columns} or more"
            raise self.mentions.refusal(cause)
        self.sentences[-1].append(columns)
        for bracket in _split(columns[-1], dialect.bars):
            match = BRACKET.fullmatch(bracket)
            if match is None or not (match["opens"] or match["closes"]):
                raise self.mentions.refusal(f"{redacted(bracket)} is no bracket of a mention")
            if match["opens"]:
                self.mentions.open(match["cluster"], self._words)
            if match["closes"]:
                self.mentions.close(match["cluster"], self._words + 1)
        self._words += 1


def parts(file: Path, dialect: Dialect) -> Iterator[Part]:
    """Yield the parts of a file; `InputError` names file and line that are not in the format."""
    part: Part | None = None
    for number, line in numbered_lines(file):
        begin = dialect.begin.fullmatch(line)
        if part is not None:
            part.mentions.line = number
        if begin is not None and part is None:
            mentions = OpenBrackets(file, "CoNLL-2012's format", number)
            part = Part(begin["name"], int(begin["part"] or 0), number, mentions)
        elif part is None:
            if line.strip() and not line.startswith("#"):
                raise _unenclosed("a word outside of a document", file, number)
        elif line.startswith(END):
            yield part
            part = None
        elif line.startswith("#begin document"):
            raise _unenclosed(f"the document of line {part.begin} has no {END}", file, number)
        else:
            part.add(line, dialect)
    if part is not None:
        raise _unenclosed(f"the document that begins here has no {END}", file, part.begin)


def _split(cell: str, bars: bool) -> list[str]:
    """Return the brackets of a cell in the order in which they are read."""
    if bars:
        return [] if cell == "-" else cell.split("|")
    apart = cell.replace("(", "|(").replace(")", ")|").split("|")
    filled = [bracket for bracket in apart if bracket not in ("", "-", "_")]
    return sorted(filled, key=lambda bracket: not bracket.startswith("("))


def _unenclosed(cause: str, file: Path, number: int) -> InputError:
    cure = "give a whole file, each document between #begin document and #end document"
    return InputError(cause, cure=cure, file=file, row=f"line {number}")


def _lines(text: ExportedText) -> Iterator[str]:
    worded, name = text.words(spaces=False), text.key(GENRE)
    at_words = iter(brackets(worded))
    yield f"#begin document ({name}); part 000"
    for sentence in worded.sentences:
        for index, word in enumerate(sentence):
            # the sentence is one constituent
            opens = "(TOP(S" if index == 0 else ""
            parse = f"{opens}*{'))' if index + 1 == len(sentence) else ''}"
            columns = [name, "0", str(index), word, "-", parse, *"---", "-", "*"]
            yield "   ".join([*columns, "|".join(next(at_words).written(str)) or "-"])
        yield ""
    yield END
