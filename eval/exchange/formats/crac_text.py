"""The plain text of the CRAC shared tasks' LLM track (ondfa/text2text-coref, Novák et al., 2025).

A line is a document, its words with blanks between them. Behind a word and a bar stand the mentions
that begin or end there: ``the|[e1 old cook|e1]``, ``she|[e1]``, with commas between several. Words
of empty nodes begin with ``##`` and are left out. A document has no key, so texts are found by
their letters.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pronominal.atomic import new_file
from pronominal.eval.exchange.brackets import OpenBrackets, WordBrackets, brackets
from pronominal.eval.exchange.crac_words import EMPTY, crac_words
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument
from pronominal.eval.exchange.text_files import numbered_lines

_TAG = r"(?:\[[^\[\],|]+\]?|[^\[\],|]+\])"
_TAGGED = re.compile(rf"(?P<word>.+?)\|(?P<tags>{_TAG}(?:,{_TAG})*)")


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write texts as lines, with their clusters as entities that are numbered anew in each."""
    with new_file(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{_line(text)}\n" for text in texts)


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield the document of each line that has words."""
    for number, line in numbered_lines(file):
        if line.strip():
            yield _document(file, number, line)


def _line(text: ExportedText) -> str:
    worded = crac_words(text)
    words = zip(worded.flat, brackets(worded), strict=True)
    return " ".join("|".join(filter(None, (word, _tags(at)))) for word, at in words)


def _tags(at_word: WordBrackets) -> str:
    return ",".join(
        [
            *(f"e{cluster + 1}]" for cluster in at_word.closing),
            *(f"[e{cluster + 1}]" for cluster in at_word.alone),
            *(f"[e{cluster + 1}" for cluster in at_word.opening),
        ]
    )


def _document(file: Path, number: int, line: str) -> PredictedDocument:
    words: list[str] = []
    mentions = OpenBrackets(file, "the plain text of CRAC's LLM track", number, "[]")
    for given in line.split():
        tagged = _TAGGED.fullmatch(given)
        word, tags = (tagged["word"], tagged["tags"].split(",")) if tagged else (given, [])
        start = len(words)
        if not word.startswith(EMPTY):
            words.append(word)
        for tag in tags:
            if tag.startswith("["):
                mentions.open(tag.strip("[]"), start)
            if tag.endswith("]"):
                mentions.close(tag.strip("[]"), len(words))
    clusters = [cluster for cluster in mentions.clusters() if cluster]
    found = PredictedDocument(f"line {number}", None, words, clusters, order=mentions.order())
    return replace(found, zeros=mentions.zeros)
