"""Choosing systems' answers: one probability for each candidate."""

from collections.abc import Sequence

from pronominal.adapters.contract.answers import as_numbers
from pronominal.adapters.contract.systems import ChoosingSystem
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import Prediction, refuse_other_length
from pronominal.instances import ResolutionInstance


def predict_choices(
    system: ChoosingSystem, instances: Sequence[ResolutionInstance]
) -> list[Prediction]:
    """Choose the most probable candidate of each instance; a tie at the top is ``both``.

    Raises:
        InputError: there is not one number from 0 to 1 for each candidate.
    """
    answers = system.choose(instances)
    refuse_other_length(system.name, answers, instances)
    predictions = []
    for instance, answer in zip(instances, answers, strict=True):
        try:
            scores = as_numbers(answer)
        except (TypeError, ValueError):
            scores = []
        if len(scores) != len(instance.candidates) or not all(0 <= s <= 1 for s in scores):
            cause = f"{system.name} does not give one probability for each candidate"
            raise InputError(cause, cure="return numbers from 0 to 1", row=f"id {instance.id}")
        decision = from_probabilities(scores)
        predictions.append(Prediction(instance.id, decision, {"scores": scores}))
    return predictions
