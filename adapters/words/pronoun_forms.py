"""Forms of pronouns that a system cannot tell from other words."""

import warnings
from collections.abc import Sequence
from typing import Any

from pronominal.adapters.words.english import english_pipeline
from pronominal.pronouns import PronounSet


class SplitFormWarning(UserWarning):
    """A system cannot represent a form of a pronoun as a mention of its own."""


def warn_of_split_forms(
    sets: Sequence[PronounSet], system: str, tokenizer: Any, longest: int | None = None
) -> None:
    """Warn of forms that are several words, unknown to a tokenizer, or longer than a mention.

    Args:
        sets: the pronoun sets.
        system: its name, for the warning.
        tokenizer: of transformers, which splits a word into subtokens.
        longest: subtokens of a mention; None for any number.
    """
    if not sets:
        return
    english = english_pipeline()
    for form in sorted(frozenset().union(*(one.forms for one in sets))):
        words = len(english(form))
        pieces = tokenizer([form], is_split_into_words=True, add_special_tokens=False)["input_ids"]
        if words > 1:
            reason = f"is split into {words} words"
        elif not pieces or tokenizer.unk_token_id in pieces:
            reason = "is unknown to the tokenizer, as are other words"
        elif longest is not None and len(pieces) > longest:
            reason = f"has {len(pieces)} subtokens, and a mention has at most {longest}"
        else:
            continue
        warnings.warn(
            f"{system}: '{form}' {reason}, so that it cannot be represented as a mention",
            SplitFormWarning,
            stacklevel=3,
        )
