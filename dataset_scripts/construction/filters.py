"""Sentences by length, first and last character, and signs of mathematics (3.1.1)."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pronominal.dataset_scripts.construction.clean import LINK_TAKEN_OUT
from pronominal.dataset_scripts.construction.stage import Kept, sieve


@dataclass(frozen=True, slots=True)
class FilterRules:
    """Which sentences are read on.

    Attributes:
        fewest: least number of words between blanks (the paper: 9; released code: 11).
        most: greatest number of words (33 in both; the released code's bound is on blanks, 32).
        quotes: let sentences pass that hold a double quote. Documents with one never come so far
            in the released code.
    """

    fewest: int = 9
    most: int = 33
    quotes: bool = False


RELEASED = FilterRules(fewest=11, quotes=True)


def filters(sentences: pa.RecordBatch, rules: FilterRules = FilterRules()) -> Kept:
    """Keep sentences of a fitting length that begin in A-Z, end in ``. ! ? ;``, and have no math.

    Math is told by ``+ = <`` and digits, as in the released code.
    """
    texts, matches = sentences["text"], pc.match_substring_regex
    words = pc.add(pc.count_substring(texts, " "), 1)
    faults = [
        ("a link was taken out of it", pc.match_substring(texts, LINK_TAKEN_OUT)),
        ("too few words", pc.less(words, rules.fewest)),
        ("too many words", pc.greater(words, rules.most)),
        ("no capital letter at the beginning", pc.invert(matches(texts, "^[A-Z]"))),
        ("no end of a sentence", pc.invert(matches(texts, r"[.!?;]$"))),
        ("mathematics or digits", matches(texts, r"[+=<0-9]")),
    ]
    if not rules.quotes:
        faults.append(("a double quote", matches(texts, '"')))
    return sieve(sentences, faults)
