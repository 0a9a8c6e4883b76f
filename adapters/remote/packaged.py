"""Published packages with old requirements, each in an environment of its own."""

from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.environments import in_environment
from pronominal.adapters.remote.programs import allennlp_coreference, maverick_coreference


def allennlp(archive: str = allennlp_coreference.PUBLISHED, *, timeout: float = 60) -> System:
    """Return AllenNLP's coreference (Lee et al., 2018, on SpanBERT; allennlp-models 2.10.1).

    Args:
        archive: a model archive: a file, or an address from which AllenNLP fetches it.
        timeout: for how many seconds it may be silent while an answer is due.

    Raises:
        InputError: the environment is not there, or the model does not answer.
    """
    return in_environment("allennlp", [archive], timeout)


def coreferee(pipeline: str = "en_core_web_lg", *, timeout: float = 60) -> System:
    """Return coreferee (1.4.1, for spaCy 3.5): rules and a neural ensemble on a spaCy parse.

    `pipeline` is a spaCy pipeline's package or folder in that environment; the rest is as for
    `allennlp`.
    """
    return in_environment("coreferee", [pipeline, "coreferee:coreferee"], timeout)


def maverick(
    checkpoint: str = maverick_coreference.PUBLISHED, *, device: str = "cpu", timeout: float = 60
) -> System:
    """Return Maverick (Martinelli et al., 2024; maverick-coref 1.0.7).

    `checkpoint` is a Hub id or a checkpoint file, `device` a torch device in that environment; the
    rest is as for `allennlp`.
    """
    return in_environment("maverick", [checkpoint, device], timeout)


def spacy_experimental(pipeline: str = "en_coreference_web_trf", *, timeout: float = 60) -> System:
    """Return spacy-experimental's word-level coreference (0.6, for spaCy 3.4).

    `pipeline` is the pipeline's package or folder in that environment; the rest is as for
    `allennlp`.
    """
    return in_environment("spacy-experimental", [pipeline, "spacy_experimental"], timeout)
