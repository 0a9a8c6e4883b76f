"""Maverick (Martinelli et al., 2024), in an environment of its own."""

from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.environments import in_environment
from pronominal.adapters.remote.programs.maverick_coreference import PUBLISHED


def maverick(checkpoint: str = PUBLISHED, *, device: str = "cpu", timeout: float = 60) -> System:
    """Return Maverick (maverick-coref 1.0.7).

    Args:
        checkpoint: a Hub id, or a checkpoint file.
        device: a torch device in that environment.
        timeout: for how many seconds it may be silent while an answer is due.

    Raises:
        InputError: the environment is not there, or the model does not answer.
    """
    return in_environment("maverick", [checkpoint, device], timeout)
