"""Asks a system so that one text it cannot answer costs one row and not the run."""

import warnings
from collections.abc import Callable, Sequence

from pronominal.adapters.contract.refusals import FailedCallError
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.errors import THIRD_PARTY_ERRORS, InputError, raised
from pronominal.eval.runs.failures import Failure
from pronominal.eval.runs.predictions import Prediction

Ask = Callable[[Sequence[Instance]], list[Prediction]]
"""Asks a system for its answers to some instances, and raises where one is missing or wrong."""

Attempt = Callable[[Sequence[Instance]], tuple[list[Prediction], list[Failure]]]
"""Asks a system and returns the answers to some instances, and those that have none."""


class AskedTogetherWarning(UserWarning):
    """A system answers rows one by one and not together, which its contract asks for."""


def attempt(ask: Ask, instances: Sequence[Instance]) -> tuple[list[Prediction], list[Failure]]:
    """Return the answers to instances, and those instances that have none.

    They are asked together; where that fails, one by one, to find those at fault.

    Raises:
        InputError: the system says what is wrong and names no row, so it can answer nothing.
    """
    try:
        return ask(instances), []
    except InputError as error:
        if error.row is None and not isinstance(error, FailedCallError):
            raise
        cause = f"{error.cause}; {error.cure}"
    except THIRD_PARTY_ERRORS as error:
        cause = raised(error)
    if len(instances) == 1:
        return [], [Failure(instances[0].id, cause)]
    predictions, failures = [], []
    for instance in instances:
        answered, failed = attempt(ask, [instance])
        predictions += answered
        failures += failed
    if not failures:
        told = f"{cause}; asked one by one it answers: see what 'pronominal check-system' says"
        warnings.warn(f"asked for many rows at once, the system fails: {told}",
                      AskedTogetherWarning, stacklevel=2)  # fmt: skip
    return predictions, failures


def strictly(ask: Ask, instances: Sequence[Instance]) -> tuple[list[Prediction], list[Failure]]:
    """Return the answers as `attempt` does; `InputError` for the first instance that has none."""
    try:
        return ask(instances), []
    except InputError:
        raise
    except THIRD_PARTY_ERRORS:
        for instance in instances:
            for failure in attempt(ask, [instance])[1]:
                cure = "see it with --debug"
                raise InputError(failure.cause, cure=cure, row=f"id {failure.id}") from None
        raise
