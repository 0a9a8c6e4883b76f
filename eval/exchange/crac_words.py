"""Words as the LLM track of the CRAC shared tasks has them (Novák et al., 2025)."""

import re
from dataclasses import replace

from pronominal.eval.exchange.documents import ExportedText, WordedText
from pronominal.spans import Span

EMPTY = "##"
"""What the words of empty nodes begin with."""

_BAR_OR_EMPTY = re.compile(r"(\||#(?=#))")


def crac_words(text: ExportedText) -> WordedText:
    """Return a text in words, none of which could be taken for a tag or an empty node.

    Words with a bar are taken apart at it, and so are number signs that follow each other.
    """
    worded = text.words(spaces=False)
    places = iter(worded.places)
    finer: list[Span] = []
    sentences = []
    for sentence in worded.sentences:
        words = [[part for part in _BAR_OR_EMPTY.split(word) if part] for word in sentence]
        for parts in words:
            start = next(places).start
            for part in parts:
                finer.append(Span(start, start + len(part)))
                start += len(part)
        sentences.append([part for parts in words for part in parts])
    return replace(worded, sentences=sentences, places=finer)
