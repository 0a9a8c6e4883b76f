"""AllenNLP's coreference (Lee et al., 2018, on SpanBERT), in an environment of its own."""

from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.environments import in_environment
from pronominal.adapters.remote.programs.allennlp_coreference import PUBLISHED


def allennlp(archive: str = PUBLISHED, *, timeout: float = 60) -> System:
    """Return AllenNLP's coreference (allennlp-models 2.10.1).

    Args:
        archive: a model archive: a file, or an address from which AllenNLP fetches it.
        timeout: for how many seconds it may be silent while an answer is due.

    Raises:
        InputError: the environment is not there, or the model does not answer.
    """
    return in_environment("allennlp", [archive], timeout)
