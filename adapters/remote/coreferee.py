"""coreferee, rules and a neural ensemble on a spaCy parse, in an environment of its own."""

from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.environments import in_environment


def coreferee(pipeline: str = "en_core_web_lg", *, timeout: float = 60) -> System:
    """Return coreferee (1.4.1, for spaCy 3.5) on a spaCy pipeline.

    Args:
        pipeline: the pipeline's package or folder in that environment.
        timeout: for how many seconds it may be silent while an answer is due.

    Raises:
        InputError: the environment is not there, or the pipeline does not answer.
    """
    return in_environment("coreferee", [pipeline, "coreferee:coreferee"], timeout)
