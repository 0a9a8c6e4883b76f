"""Forms of pronouns that a system cannot tell from other words."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from pronominal.adapters.words.english import english_pipeline
from pronominal.pronouns import PronounSet

Cut = Callable[[str], Sequence[object]]
"""Returns the subtokens of a word; None for one that a system cannot tell from others."""


class SplitFormWarning(UserWarning):
    """A system cannot represent a form of a pronoun as a mention of its own."""


def warn_of_split_forms(
    sets: Sequence[PronounSet], system: str, cut: Cut, longest: int | None = None
) -> None:
    """Warn of forms that are several words, unknown to a system, or longer than a mention.

    Args:
        sets: the pronoun sets.
        system: its name, for the warning.
        cut: into subtokens, as the system reads a word.
        longest: subtokens of a mention; None for any number.
    """
    if not sets:
        return
    english = english_pipeline()
    for form in sorted(frozenset().union(*(one.forms for one in sets))):
        words = len(english(form))
        pieces = cut(form)
        if words > 1:
            reason = f"is split into {words} words"
        elif not pieces or None in pieces:
            reason = "is read like other words that the system does not know"
        elif longest is not None and len(pieces) > longest:
            reason = f"has {len(pieces)} subtokens, and a mention has at most {longest}"
        else:
            continue
        warnings.warn(
            f"{system}: '{form}' {reason}, so that it cannot be represented as a mention",
            SplitFormWarning,
            stacklevel=3,
        )


def cut_by(tokenizer: Any) -> Cut:
    """Return what cuts a word as a tokenizer of transformers does."""

    def cut(word: str) -> Sequence[object]:
        encoded = tokenizer([word], is_split_into_words=True, add_special_tokens=False)
        return [None if one == tokenizer.unk_token_id else one for one in encoded["input_ids"]]

    return cut
