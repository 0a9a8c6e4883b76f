"""Models that are asked for a form twice: by its probability, and by what they write themselves."""

import re
from collections.abc import Sequence
from typing import Any

from pronominal.adapters.contract.systems import ContinuingSystem
from pronominal.errors import InputError
from pronominal.eval.runs.language_models import predict_scores
from pronominal.eval.runs.predictions import Prediction, refuse_other_length
from pronominal.instances import FillingInstance
from pronominal.pronouns import CASES, PRONOUN_SETS

CONTINUED = "continuations"
"""Where a prediction has what each sample's first form is of: context -> index, or None."""

BEFORE, AFTER = "before", "after"
"""The contexts: the text up to the slot, and the whole text with the right form in it."""

_WORD = re.compile(r"\w+")


def predict_two_questions(
    system: ContinuingSystem, instances: Sequence[FillingInstance], *, include_text: bool
) -> list[Prediction]:
    """Choose the likeliest option of each instance, and see which form the model writes.

    The choice is that of `predict_scores`. ``continuations`` has, for each of the samples
    ``before`` the slot and ``after`` it, the index of the option whose pronoun set the first form
    among its words is of, in any grammatical case; None where there is no form. Where no option
    is right, there is no text after the slot.

    Raises:
        InputError: there are not as many lists of texts as contexts.
    """
    predictions = predict_scores(system, instances)
    contexts = [
        (row, where, context)
        for row, instance in enumerate(instances)
        for where, context in contexts_of(instance).items()
    ]
    written = system.continuations([context for *_, context in contexts])
    refuse_other_length(system.name, written, contexts)
    found: list[dict[str, Any]] = [{} for _ in instances]
    texts: list[dict[str, Any]] = [{} for _ in instances]
    for (row, where, _), samples in zip(contexts, written, strict=True):
        if isinstance(samples, str) or not all(isinstance(one, str) for one in samples):
            cause, cure = f"{system.name} gives no lists of texts", "return the samples of each"
            raise InputError(cause, cure=cure, row=f"id {instances[row].id}")
        found[row][where] = [first_form(sample, instances[row].options) for sample in samples]
        texts[row][where] = [*samples]
    more = [{CONTINUED: one} for one in found]
    if include_text:
        more = [one | {"generation": own} for one, own in zip(more, texts, strict=True)]
    return [
        Prediction(one.id, one.decision, {**one.given, **given})
        for one, given in zip(predictions, more, strict=True)
    ]


def contexts_of(instance: FillingInstance) -> dict[str, str]:
    """Return what a model goes on with: the text before the slot, and the right text."""
    contexts = {BEFORE: instance.text[: instance.blank.start]}
    if instance.label >= 0:
        contexts[AFTER] = instance.filled()[instance.label]
    return contexts


def first_form(text: str, options: Sequence[str]) -> int | None:
    """Return which option's pronoun set the first form among a text's words is of.

    Forms are those in the three grammatical cases of the four known sets, and the options
    themselves. As in the paper's program, no other form is looked for (*hers*, *herself*), and
    neither is what a plural *they* refers to.

    >>> first_form(" smiled, since Her hat, not his, had won.", ("he", "she", "they", "xe"))
    1
    """
    known = [{one.form(case) for case in CASES} for one in PRONOUN_SETS]
    options_of: dict[str, int] = {}
    for index, option in enumerate(options):
        same = next((forms for forms in known if option in forms), {option})
        options_of |= dict.fromkeys(same, index)
    words = (word.lower() for word in _WORD.findall(text))
    return next((options_of[word] for word in words if word in options_of), None)
