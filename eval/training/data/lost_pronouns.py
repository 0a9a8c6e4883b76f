"""Stand-ins for the pronouns that KnowRef's validation sentences have lost."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pronominal.dataset_scripts.knowref.files import LOST
from pronominal.instances import ResolutionInstance
from pronominal.pronouns import HE, SHE
from pronominal.spans import Mention


def fill_in(
    validation: Sequence[ResolutionInstance], train: Sequence[ResolutionInstance]
) -> list[ResolutionInstance]:
    """Write *she* or *he* where no upstream file has the form of the pronoun.

    It is *she* where the candidates' names occur with feminine pronouns in the train split more
    often than with masculine ones. The grammatical case is lost, too, and taken for the
    nominative; a scorer that reads the pronoun is validated on an approximation.
    """
    feminine: Counter[str] = Counter()
    for instance in train:
        form = instance.pronoun.text.lower()
        sign = (form in SHE.forms) - (form in HE.forms)
        feminine.update({candidate.text: sign for candidate in instance.candidates})
    return [
        _filled(one, "she" if sum(feminine[c.text] for c in one.candidates) > 0 else "he")
        if one.pronoun.text == LOST
        else one
        for one in validation
    ]


def _filled(instance: ResolutionInstance, form: str) -> ResolutionInstance:
    start, end = instance.pronoun.span
    shift = len(form) - len(instance.pronoun.text)
    return replace(
        instance,
        text=instance.text[:start] + form + instance.text[end:],
        pronoun=Mention(form, start, end + shift),
        candidates=tuple(
            Mention(c.text, c.start + shift, c.end + shift) if c.start >= end else c
            for c in instance.candidates
        ),
    )
