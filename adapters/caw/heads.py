"""Which word of a mention CAW learns to link.

With a parse, CAW-coref's rule (D'Oosterlinck et al., 2023, section 3; ``convert_to_heads.py``): the
first coordinating conjunction less than two dependency steps below the mention's top; else the
word that is governed from outside; the last word where there is none, or more than one. Without
one, the nearest thing that the words alone say.
"""

from collections.abc import Sequence
from itertools import chain

from pronominal.adapters.words.mention_borders import PREPOSITIONS
from pronominal.spans import AnnotatedDocument, Span, Syntax

CONJUNCTION_TAGS = frozenset({"CC", "CCONJ"})
"""Coordinating conjunctions in the Penn Treebank and in Universal Dependencies."""

CONJUNCTIONS = frozenset({"and", "or", "nor", "&"})
"""Words that join the parts of a mention."""

DEPTH = 2
"""Steps below a mention's top at which a conjunction does not join its parts any more."""


def head_spans(gold: AnnotatedDocument) -> dict[int, Span]:
    """Return the mention of each head word; of mentions that share a head, the shortest."""
    words = [*chain.from_iterable(gold.document.words)]
    spans: dict[int, Span] = {}
    for span in chain.from_iterable(gold.clusters):
        head = head_of(span, words, gold.syntax)
        kept = spans.get(head)
        if kept is None or span.end - span.start < kept.end - kept.start:
            spans[head] = span
    return spans


def head_of(span: Span, words: Sequence[str], syntax: Sequence[Syntax] | None = None) -> int:
    """Return the head word of a mention, given the words of the document and their parse.

    Without a parse it is the first conjunction such as *and*, else the last word that stands
    before a preposition behind the first word, with a letter or a digit in it.

    >>> words = "the owner of the dog".split()
    >>> words[head_of(Span(0, 5), words)]
    'owner'
    """
    if syntax is not None:
        return _parsed_head(span, syntax)
    lower = [word.lower() for word in words[span.start : span.end]]
    for place, word in enumerate(lower):
        if word in CONJUNCTIONS and 0 < place < len(lower) - 1:
            return span.start + place
    behind = next((n for n, word in enumerate(lower) if n and word in PREPOSITIONS), len(lower))
    named = [n for n in range(behind) if any(map(str.isalnum, lower[n]))]
    return span.start + (named[-1] if named else len(lower) - 1)


def _parsed_head(span: Span, syntax: Sequence[Syntax]) -> int:
    inside = range(*span)
    for word in inside:
        if syntax[word].tag in CONJUNCTION_TAGS and _depth(word, span, syntax) < DEPTH:
            return word
    tops = [word for word in inside if syntax[word].governor not in inside]
    return tops[0] if len(tops) == 1 else span.end - 1


def _depth(word: int, span: Span, syntax: Sequence[Syntax]) -> int:
    """Return the steps from a word to the first one that is governed from outside of the span.

    The first word of a document governs nothing here, as upstream has it; a circle ends the count.
    """
    for steps in range(span.end - span.start):
        governor = syntax[word].governor
        if not governor or not span.start <= governor < span.end:
            return steps
        word = governor
    return span.end - span.start
