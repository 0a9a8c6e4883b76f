"""CorefUD's files as gold documents, in sentences."""

from itertools import pairwise
from pathlib import Path

from pronominal.errors import InputError
from pronominal.eval.exchange.formats.corefud import documents
from pronominal.eval.exchange.gold_conll2012 import merged
from pronominal.spans import AnnotatedDocument, Document


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
        clusters = merged(document.mentions.clusters())
        found.append(AnnotatedDocument(Document(sentences, key=document.key), clusters))
    return found
