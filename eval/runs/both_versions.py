"""Switching at test time: a row is answered as it is and with its candidates switched.

What a system reads from the sentence is the same in both versions; what it takes from a name or
from a place in the sentence points to the other candidate. Training on switched rows (KnowRef,
section 4.1) lets a system learn that; here it answers both versions without having learnt it.
"""

from collections.abc import Sequence

from pronominal.dataset_scripts.reading.split import Instance
from pronominal.decisions import Decision, from_probabilities
from pronominal.errors import InputError
from pronominal.eval.runs.attempts import Ask
from pronominal.eval.runs.predictions import Prediction
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.switching import Unswitchable, switch

VERSIONS = "versions"
"""Of a prediction: the candidate that each version was answered with, as it is and switched."""


def ask_both_versions(ask: Ask, instances: Sequence[Instance]) -> list[Prediction]:
    """Return one prediction for each instance, made of the answers to its two versions.

    Probabilities are averaged. Decisions that are no probabilities stand where both versions agree,
    or where only one of them has a choice; two different choices are
    ``both``, as a tie of probabilities is. A row that cannot be
    switched keeps the answer to the version that it has.

    Raises:
        InputError: a row has a slot and no candidates.
    """
    switched: dict[str, ResolutionInstance] = {}
    for instance in instances:
        if isinstance(instance, FillingInstance):
            cause = "the rows have slots, and only candidates can change places"
            raise InputError(cause, cure="leave out --switch-at-test")
        try:
            switched[instance.id] = switch(instance)
        except Unswitchable:
            continue
    asked_again = [switched[one.id] for one in instances if one.id in switched]
    again = {answer.id: answer for answer in ask(asked_again)} if asked_again else {}
    return [
        _merged(answer, again[answer.id]) if answer.id in again else answer
        for answer in ask(instances)
    ]


def _merged(as_it_is: Prediction, switched: Prediction) -> Prediction:
    """Return the prediction of two versions; candidates keep their index when they are switched."""
    choices = [as_it_is.decision.choice, _other(switched.decision.choice)]
    if "scores" in as_it_is.given:
        pairs = zip(as_it_is.given["scores"], reversed(switched.given["scores"]), strict=True)
        scores = [(one + other) / 2 for one, other in pairs]
        return Prediction(
            as_it_is.id, from_probabilities(scores), {"scores": scores, VERSIONS: choices}
        )
    chosen = {choice for choice in choices if choice is not None}
    decision = Decision.among(chosen) if chosen else as_it_is.decision
    # without its clusters, which say what was answered to one version alone
    return Prediction(as_it_is.id, decision, {VERSIONS: choices})


def _other(choice: int | None) -> int | None:
    return None if choice is None else 1 - choice
