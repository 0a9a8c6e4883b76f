"""CoNLL-2012's files as gold documents, with speakers and merged clusters.

Words are given as they are written; ``/.`` and ``/?`` are for the systems to read.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from pronominal.errors import InputError
from pronominal.eval.exchange.documents import linked
from pronominal.eval.exchange.formats.conll2012 import SPEAKER, WORD, Dialect, Part, parts
from pronominal.spans import AnnotatedDocument, Cluster, Document, Span

GOLD = Dialect(
    re.compile(r"#begin document \((?P<name>.+)\); part (?P<part>\d+)\s*"), 12, bars=True
)
"""The shared task's own form: eleven columns, any number for predicates, and coreference."""


def read_conll(path: Path) -> list[AnnotatedDocument]:
    """Read a file, or all files named ``*_conll`` below a folder, in the order of their names.

    `InputError` if there is no file, or a line is not in the format; it names file and line.
    """
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*_conll") if file.is_file())
    if not files:
        raise InputError("no file is named *_conll", cure="give the folder of them", file=path)
    return [_annotated(part) for file in files for part in parts(file, GOLD)]


def merged(clusters: Sequence[Sequence[Span]]) -> list[Cluster]:
    """Merge clusters that share a mention, drop repeats, and order by first mention."""
    return sorted(sorted(cluster) for cluster in linked(clusters))


def genre_of(key: str) -> str | None:
    """Return the genre that OntoNotes' keys begin with, such as ``bc``; None for other keys."""
    return key[:2] if key[2:3] == "/" else None


def _annotated(part: Part) -> AnnotatedDocument:
    sentences = [sentence for sentence in part.sentences if sentence]
    document = Document(
        words=[[columns[WORD] for columns in sentence] for sentence in sentences],
        speakers=[[columns[SPEAKER] for columns in sentence] for sentence in sentences],
        genre=genre_of(part.name),
        key=f"{part.name}_{part.number}",
    )
    return AnnotatedDocument(document, merged(part.mentions.clusters()))
