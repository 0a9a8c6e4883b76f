"""CoNLL-2012's ``*_conll`` files (Pradhan et al., 2012): one word a line, coreference last.

What we have no annotation of is a dash, or an asterisk in the columns of parse and entities. Words
stand as they are, brackets too.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval.exchange.brackets import OpenBrackets, WordBrackets, brackets
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument
from pronominal.eval.exchange.gold_conll2012 import END, FIELD, WORD
from pronominal.eval.exchange.text_files import numbered_lines

GENRE = "wb/"
"""Web text."""

BEGIN = re.compile(r"#begin document \((?P<name>.+)\);?(?:\s*part (?P<part>\d+))?\s*")
BRACKET = re.compile(r"\((?P<opened>\d+)(?P<alone>\))?|(?P<closed>\d+)\)")
FEWEST_COLUMNS = 5
"""Name, part, number and word, and coreference: what the reference scorer's own files have."""


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write texts as documents of one part, with their clusters in the last column."""
    with new_file(out) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        for text in texts:
            file.writelines(f"{line}\n" for line in _lines(text))


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield the documents of a file; parts are documents of their own.

    Unlike in gold files, clusters that share a mention stay apart: they are a system's answer. What
    the reference scorer reads is read: a document without a part, fewer columns, brackets without
    bars between them.
    """
    document: _Part | None = None
    for number, line in numbered_lines(file):
        begin = BEGIN.fullmatch(line)
        try:
            if begin is not None and document is None:
                part = int(begin["part"] or 0)
                key = f"{begin['name']}_{part}" if part else begin["name"]
                document = _Part(f"line {number}", key)
            elif document is not None and line.startswith(END):
                yield document.finished()
                document = None
            elif document is not None:
                document.add(line)
            elif line.strip() and not line.startswith("#"):
                raise ValueError("a word stands outside of a document")
        except ValueError as error:
            raise _no_conll(str(error), file, f"line {number}") from error
    if document is not None:
        raise _no_conll(f"the document that begins here has no {END}", file, document.place)


@dataclass(slots=True)
class _Part:
    """A document while it is read; `key` has the number of its part, unless it is the first."""

    place: str
    key: str
    words: list[str] = field(default_factory=list)
    mentions: OpenBrackets = field(default_factory=OpenBrackets)

    def add(self, line: str) -> None:
        columns = FIELD.findall(line)
        if not columns:
            return
        if line.startswith("#begin document") or len(columns) < FEWEST_COLUMNS:
            raise ValueError(f"{len(columns)} columns, not {FEWEST_COLUMNS} or more")
        self.words.append(columns[WORD])
        if BRACKET.sub("", columns[-1]).strip("|") not in ("", "-", "_"):
            raise ValueError("the last column holds no brackets of mentions")
        for bracket in BRACKET.finditer(columns[-1]):
            if bracket["opened"]:
                self.mentions.open(bracket["opened"], len(self.words) - 1)
            if bracket["closed"] or bracket["alone"]:
                self.mentions.close(bracket["closed"] or bracket["opened"], len(self.words))

    def finished(self) -> PredictedDocument:
        return PredictedDocument(self.place, self.key, self.words, self.mentions.clusters())


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
            yield "   ".join([*columns, _cell(next(at_words))])
        yield ""
    yield END


def _cell(at_word: WordBrackets) -> str:
    parts = [
        *(f"{cluster})" for cluster in at_word.closing),
        *(f"({cluster})" for cluster in at_word.alone),
        *(f"({cluster}" for cluster in at_word.opening),
    ]
    return "|".join(parts) or "-"


def _no_conll(cause: str, file: Path, row: str) -> InputError:
    return InputError(cause, cure="give a file in CoNLL-2012's format", file=file, row=row)
