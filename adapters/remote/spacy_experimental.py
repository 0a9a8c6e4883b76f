"""spacy-experimental's word-level coreference, in an environment of its own."""

from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.environments import in_environment


def spacy_experimental(pipeline: str = "en_coreference_web_trf", *, timeout: float = 60) -> System:
    """Return spacy-experimental's coreference (0.6, for spaCy 3.4).

    Args:
        pipeline: the pipeline's package or folder in that environment.
        timeout: for how many seconds it may be silent while an answer is due.

    Raises:
        InputError: the environment is not there, or the pipeline does not answer.
    """
    return in_environment("spacy-experimental", [pipeline, "spacy_experimental"], timeout)
