"""CorefUD's files as gold documents, in sentences, with their parses."""

from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from pronominal.errors import InputError
from pronominal.eval.exchange.formats.corefud import CorefUDDocument, ParsedWord, documents
from pronominal.eval.exchange.gold_conll2012 import merged
from pronominal.spans import AnnotatedDocument, Document, Syntax

UNKNOWN_TAGS = frozenset({"_", "X"})
"""Parts of speech of a file without a parse, such as those that `export` writes."""


def read_corefud(path: Path) -> list[AnnotatedDocument]:
    """Read a file, or all files named ``*.conllu`` below a folder, in the order of their names.

    `InputError` if there is no file, or a line is not in the format; it names file and line.
    """
    files = sorted(path.rglob("*.conllu")) if path.is_dir() else [path]
    if not files:
        raise InputError("no file is named *.conllu", cure="give the folder of them", file=path)
    found = []
    for document in (one for file in files for one in documents(file)):
        ends = pairwise([0, *document.sentence_ends])
        sentences = [document.words[start:end] for start, end in ends]
        clusters, syntax = merged(document.mentions.clusters()), _syntax(document)
        text = Document(sentences, key=document.key)
        found.append(AnnotatedDocument(text, clusters, syntax=syntax))
    return found


def _syntax(document: CorefUDDocument) -> list[Syntax] | None:
    """Return the parse of each word; None if no word has a part of speech."""
    if UNKNOWN_TAGS.issuperset(word.tag for word in document.parse):
        return None
    file, parse = document.mentions.file, document.parse
    ends = pairwise([0, *document.sentence_ends])
    return [one for start, end in ends for one in _sentence(file, parse[start:end], start)]


def _sentence(file: Path, words: Sequence[ParsedWord], start: int) -> Iterator[Syntax]:
    """Yield the parse of a sentence's words; `start` is the number of words before it.

    A conjunction hangs on the first of the parts that it joins, as in the dependencies for which
    CAW-coref's rule of heads was made; Universal Dependencies hang it on the part behind it.
    """
    indices = {"0": None} | {str(index + 1): index for index in range(len(words))}
    governors = [indices[_known(word, indices, file).governor] for word in words]
    for word, governor in zip(words, governors, strict=True):
        if word.relation.startswith("cc") and governor is not None:
            joined = words[governor].relation.startswith("conj")
            governor = governors[governor] if joined else governor
        yield Syntax(word.tag, None if governor is None else start + governor)


def _known(word: ParsedWord, governors: Container[str], file: Path) -> ParsedWord:
    if word.governor not in governors:
        cause = "the governor (column 7) is not the number of a word of the sentence, or 0"
        cure = "give CoNLL-U with a parse, or with X as each part of speech (column 4)"
        raise InputError(cause, cure=cure, file=file, row=f"line {word.line}")
    return word
