"""Documents split into sentences, without a model: by punctuation and a list of abbreviations."""

import re
from collections.abc import Iterator

import pyarrow as pa

from pronominal.dataset_scripts.construction.stage import SENTENCES, Kept, strings, with_column

BORDER = re.compile(r"""(?<=[.!?])(["')\]]*)\s+(?=["'(\[]*[A-Z])""")
_ABBREVIATIONS = """
    Mr Mrs Ms Mx Dr Prof St Sr Jr Rev Hon Gen Col Maj Capt Lt Sgt Cpl Adm Cmdr Gov Sen Rep Pres
    Fr Br Msgr Supt Insp Det Mt Ft Ave Blvd Rd No Nos Vol Fig Figs pp vs etc al cf ca approx dept
    est Inc Ltd Co Corp Bros Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Wed Thu Fri
    Sat Sun Univ Assn Messrs Mme Mlle
"""
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
LAST_WORD = re.compile(r"([A-Za-z][A-Za-z.]*)\.$")


def sentences(documents: pa.RecordBatch) -> Kept:
    """Split the body of each document; a blank line always ends a sentence.

    The paper used NLTK's Punkt model. This is a rule: a sentence ends at ``. ! ?`` before a blank
    and a capital letter, unless the word before is a known abbreviation or an initial. The column
    ``sentence`` counts the sentences of a document, from 1.
    """
    found: list[tuple[str, str, str]] = []
    numbers: list[int] = []
    for source, document, body in zip(*(c.to_pylist() for c in documents.columns), strict=True):
        before = len(found)
        for paragraph in body.split("\n\n"):
            found += [(source, document, sentence) for sentence in split(paragraph)]
        numbers += range(1, len(found) - before + 1)
    return Kept(with_column(strings(SENTENCES, found), "sentence", pa.int32(), numbers))


def split(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, in order; joined by blanks they are the paragraph."""
    begin = 0
    for border in BORDER.finditer(text):
        end = border.end(1)
        if not _is_abbreviation(text[max(begin, end - 24) : end]):
            yield text[begin:end]
            begin = border.end()
    if begin < len(text):
        yield text[begin:]


def _is_abbreviation(ending: str) -> bool:
    word = LAST_WORD.search(ending)
    if word is None:
        return False
    letters = word[1]
    return letters in ABBREVIATIONS or (len(letters) == 1 and letters != "I") or "." in letters
