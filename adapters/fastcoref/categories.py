"""LingMess's categories of mention pairs (Otmazgin et al., 2023, section 3), whole texts at once.

Which words are pronouns, and of which group, is a table: fastcoref's own, or that of a checkpoint
that was trained with further pronoun sets (``pronoun_groups`` below ``coref_head`` in its config).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pronominal.adapters.fastcoref.package import CATEGORIES, PRONOUNS_GROUPS, STOPWORDS
from pronominal.pronouns import PronounSet

GROUPS = "pronoun_groups"
"""Key of the table in ``coref_head``; fastcoref, which does not know it, reads its own."""


def pronoun_groups(
    known: Mapping[str, int] | None = None, further: Sequence[PronounSet] = ()
) -> dict[str, int]:
    """Return the group of each pronoun: a form that is in none joins those of its set.

    fastcoref has no *theirs*, *themself* and no neopronoun: they are entities to it.

    Args:
        known: a table to add to; fastcoref's when None.
        further: sets whose forms are pronouns, too; a set of which no form is known gets a group.
    """
    groups = dict(PRONOUNS_GROUPS if known is None else known)
    for one in further:
        own = {groups[form] for form in one.forms if form in groups}
        number = min(own) if own else max(groups.values()) + 1
        groups.update({form: number for form in one.forms if form not in groups})
    return groups


class SubtokenWords(NamedTuple):
    """The different words of a text, in lower case.

    Attributes:
        of: the number of each subtoken's word; -1 for special tokens, [subtokens].
        words: the words.
    """

    of: Tensor
    words: Sequence[str]

    @classmethod
    def read(cls, words: Sequence[str], word_of: Sequence[int | None]) -> "SubtokenWords":
        """Return them, given a text's words and which of them each subtoken is a part of."""
        lower = [word.lower() for word in words]
        number_of = {word: number for number, word in enumerate(dict.fromkeys(lower))}
        numbers = [-1 if word is None else number_of[lower[word]] for word in word_of]
        return cls(torch.tensor(numbers), [*number_of])


def pair_categories(
    starts: Tensor, ends: Tensor, text: SubtokenWords, groups: Mapping[str, int]
) -> Tensor:
    """Return the category of each pair of spans, [spans, spans]; the order of a pair is nothing.

    Args:
        starts: first subtoken of each span, [spans].
        ends: its last one.
        text: the words of the text.
        groups: the group of each pronoun.
    """
    present = _present(starts, ends, text.of.to(starts.device), len(text.words))
    number = torch.tensor([groups.get(word, -1) for word in text.words], device=starts.device)
    # the group of a span's only word
    pronoun = torch.where(present.sum(1) == 1, (present * (number + 1)).sum(1) - 1, -1)
    content = [word not in STOPWORDS for word in text.words]
    present = present * torch.tensor(content, device=starts.device)
    sizes, shared = present.sum(1), present @ present.T
    smaller = torch.minimum(sizes[:, None], sizes)
    larger = torch.maximum(sizes[:, None], sizes)
    found = torch.full_like(shared, CATEGORIES["other"], dtype=torch.long)
    found[shared == smaller] = CATEGORIES["contain"]
    found[shared == larger] = CATEGORIES["match"]
    either = (pronoun[:, None] >= 0) | (pronoun >= 0)
    both = (pronoun[:, None] >= 0) & (pronoun >= 0)
    found[either] = CATEGORIES["pron-ent"]
    found[both] = CATEGORIES["pron-pron-no-comp"]
    found[both & (pronoun[:, None] == pronoun)] = CATEGORIES["pron-pron-comp"]
    return found


def expert_pairs(categories: Tensor) -> Tensor:
    """Return which pairs each expert is for, the last one for all, [..., experts, spans, spans].

    A pair is a span and an earlier one.
    """
    earlier = torch.ones_like(categories, dtype=torch.bool).tril(-1)
    own = [(categories == number) & earlier for number in CATEGORIES.values()]
    return torch.stack([*own, earlier], dim=-3)


def _present(starts: Tensor, ends: Tensor, word_of: Tensor, words: int) -> Tensor:
    """Return which words each span has, [spans, words], as 0 and 1."""
    counted = word_of.new_zeros(len(word_of) + 1, words + 1, dtype=torch.float32)
    counted[torch.arange(1, len(word_of) + 1), word_of] = 1  # -1 is the last column
    totals = counted.cumsum(0)[:, :words]
    # spans over the padding of a batch have no words
    first, behind = (place.clamp(max=len(word_of)) for place in (starts, ends + 1))
    return (totals[behind] > totals[first]).float()
