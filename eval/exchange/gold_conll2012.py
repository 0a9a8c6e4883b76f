"""CoNLL-2012's ``*_conll`` files: OntoNotes documents with speakers and coreference.

The format is that of the shared task (Pradhan et al., 2012): one word a line, in columns, a blank
line after each sentence, ``#begin document`` and ``#end document`` around each part. Words are
given as they stand; ``/.`` and ``/?`` are the systems' to read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from pronominal.errors import InputError, redacted
from pronominal.spans import Cluster, Document, Span

BEGIN = re.compile(r"#begin document \((?P<name>.+)\); part (?P<part>\d+)\s*")
END = "#end document"
BRACKET = re.compile(r"(?P<opens>\()?(?P<cluster>\d+)(?P<closes>\))?")

FIELD = re.compile(r"[^ \t\r\n]+")
"""What stands in a column: a word may hold white space that is not ASCII."""

COLUMNS = 12
"""Fewest columns of a line: eleven before the predicates', of which there may be none, and one."""

WORD, SPEAKER = 3, 9


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document and its gold clusters.

    Attributes:
        document: words, speakers, genre, and a key such as ``"bc/cctv/00/cctv_0000_0"``.
        clusters: half-open spans of words, counted over all sentences; in the order of their
            first mentions, as are the mentions in a cluster.
    """

    document: Document
    clusters: list[Cluster]


def read_conll(path: Path) -> list[AnnotatedDocument]:
    """Read a file, or all files named ``*_conll`` below a folder, in the order of their names.

    Raises:
        InputError: there is no file, or a line is not in the format; names file and line.
    """
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*_conll") if file.is_file())
    if not files:
        raise InputError("no file is named *_conll", cure="give the folder of them", file=path)
    return [document for file in files for document in _read_file(file)]


def merged(clusters: Sequence[Sequence[Span]]) -> list[Cluster]:
    """Merge clusters that share a mention, drop repeats, and order by first mention."""
    cluster_of: dict[Span, set[Span]] = {}
    for cluster in clusters:
        whole = set(cluster).union(*(cluster_of.get(span, ()) for span in cluster))
        cluster_of.update(dict.fromkeys(whole, whole))
    distinct = {id(cluster): sorted(cluster) for cluster in cluster_of.values()}
    return sorted(distinct.values())


@dataclass(slots=True)
class _Part:
    """A document while it is read."""

    file: Path
    name: str
    number: int
    begin: int
    sentences: list[list[str]] = field(default_factory=lambda: [[]])
    speakers: list[list[str]] = field(default_factory=lambda: [[]])
    words: int = 0
    open: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    clusters: dict[int, list[Span]] = field(default_factory=dict)

    def add(self, line: str, number: int) -> None:
        """Take in one word, or the blank line that ends a sentence."""
        columns = FIELD.findall(line)
        if not columns:
            self.sentences.append([])
            self.speakers.append([])
            return
        if len(columns) < COLUMNS:
            self._refuse(f"{len(columns)} columns, not {COLUMNS} or more", number)
        self.sentences[-1].append(columns[WORD])
        self.speakers[-1].append(columns[SPEAKER])
        if columns[-1] != "-":
            for bracket in columns[-1].split("|"):
                self._bracket(bracket, number)
        self.words += 1

    def _bracket(self, bracket: str, number: int) -> None:
        match = BRACKET.fullmatch(bracket)
        if match is None or not (match["opens"] or match["closes"]):
            self._refuse(f"{redacted(bracket)} is no bracket of a mention", number)
        cluster = int(match["cluster"])
        if match["opens"]:
            self.open.setdefault(cluster, []).append((self.words, number))
        if match["closes"]:
            if not self.open.get(cluster):
                self._refuse(f"{cluster}) closes a mention that is not open", number)
            start, _ = self.open[cluster].pop()
            self.clusters.setdefault(cluster, []).append(Span(start, self.words + 1))

    def finish(self) -> AnnotatedDocument:
        """Return the document, which has to have its mentions closed."""
        unclosed = [(number, c) for c, opened in self.open.items() for _, number in opened]
        if unclosed:
            number, cluster = min(unclosed)
            self._refuse(f"({cluster} opens a mention that is not closed", number)
        filled = [index for index, sentence in enumerate(self.sentences) if sentence]
        return AnnotatedDocument(
            Document(
                words=[self.sentences[index] for index in filled],
                speakers=[self.speakers[index] for index in filled],
                genre=self.name[:2] if self.name[2:3] == "/" else None,
                key=f"{self.name}_{self.number}",
            ),
            merged(list(self.clusters.values())),
        )

    def _refuse(self, cause: str, number: int) -> NoReturn:
        raise InputError(
            cause, cure="give a file in CoNLL-2012's format", file=self.file, row=f"line {number}"
        )


def _read_file(file: Path) -> Iterator[AnnotatedDocument]:
    part: _Part | None = None
    for number, line in _lines(file):
        begin = BEGIN.fullmatch(line)
        if begin is not None and part is None:
            part = _Part(file, begin["name"], int(begin["part"]), number)
        elif part is None:
            if line.strip() and not line.startswith("#"):
                raise _misplaced("a word outside of a document", file, number)
        elif line.startswith(END):
            yield part.finish()
            part = None
        elif line.startswith("#begin document"):
            raise _misplaced(f"the document of line {part.begin} has no {END}", file, number)
        else:
            part.add(line, number)
    if part is not None:
        raise _misplaced(f"the document that begins here has no {END}", file, part.begin)


def _misplaced(cause: str, file: Path, number: int) -> InputError:
    return InputError(
        cause,
        cure="give a whole file, each document between #begin document and #end document",
        file=file,
        row=f"line {number}",
    )


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        with file.open(encoding="utf-8") as lines:
            yield from enumerate(lines, start=1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "no text could be read", cure="give a CoNLL-2012 file in UTF-8", file=file
        ) from error
