"""The systems under one interface, one file for each; heavy imports happen in `load`."""

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pronominal.adapters.interface import (
    ChoosingSystem,
    ClusteringSystem,
    GeneratingSystem,
    Kind,
    ScoringSystem,
    System,
    kind_of,
)
from pronominal.errors import InputError, nearest_name, unknown_name


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """One line of ``pronominal systems``.

    Attributes:
        kind: how the system answers.
        place: where its class is, as ``module:attribute`` below ``pronominal.adapters``.
        summary: what it does, in one sentence.
        extra: the extra that installs what it needs; None when the core is enough.
        weights: the Hub id of the published weights; the page that links to them (https://...)
            where they are not on the Hub, or the command that makes them (``pronominal ...``),
            or `ANY_MODEL`, so that a checkpoint has to be given; None when the system has none.
    """

    kind: Kind
    place: str
    summary: str
    extra: str | None = None
    weights: str | None = None


ANY_MODEL = "any model of transformers"
"""Weights of systems that run whatever checkpoint they are given."""

SYSTEMS: dict[str, SystemEntry] = {
    "always-he": SystemEntry(
        "language model", "pronoun_baselines:AlwaysHe", "fills every slot with a form of he"
    ),
    "bag-of-words": SystemEntry(
        "choosing",
        "bag_of_words:BagOfWords",
        "logistic regression over the words around the mentions, their names removed",
        weights="pronominal train bag-of-words",
    ),
    "bert": SystemEntry(
        "choosing",
        "bert:BERT",
        "a classifier of antecedents on any encoder, as KnowRef's BERT (Emami et al., 2019)",
        extra="bert",
        weights="pronominal train bert",
    ),
    "bert-coref": SystemEntry(
        "clustering",
        "bert_coref:BERTCoref",
        "BERT below the coarse-to-fine head (Joshi et al., 2019), base and large",
        extra="c2f",
        weights="https://github.com/mandarjoshi90/coref",
    ),
    "caw": SystemEntry(
        "clustering",
        "caw:CAW",
        "CAW-coref (D'Oosterlinck et al., 2023) and WL-coref (Dobrovolskii, 2021), word-level",
        extra="caw",
        weights="https://github.com/KarelDO/wl-coref",
    ),
    "e2e": SystemEntry(
        "clustering",
        "e2e:E2E",
        "E2E (Lee et al., 2018), higher-order inference on LSTMs and ELMo",
        extra="c2f",
        weights="https://github.com/kentonl/e2e-coref",
    ),
    "fcoref": SystemEntry(
        "clustering",
        "fcoref:FCoref",
        "FCoref, the small coreference model distilled from LingMess (Otmazgin et al., 2022)",
        extra="lingmess",
        weights="biu-nlp/f-coref",
    ),
    "first-mention": SystemEntry(
        "choosing", "baselines:FirstMention", "takes the candidate that is mentioned first"
    ),
    "first-pronoun": SystemEntry(
        "language model", "pronoun_baselines:FirstPronoun", "repeats the first pronoun of the text"
    ),
    "gap-parallelism": SystemEntry(
        "choosing",
        "gap_baselines:GapParallelism",
        "takes the closest candidate in the pronoun's grammatical role (Webster et al., 2018)",
    ),
    "gap-parallelism-url": SystemEntry(
        "choosing",
        "gap_baselines:GapParallelismURL",
        "takes the candidate in the page's title, else as gap-parallelism (Webster et al., 2018)",
    ),
    "last-mention": SystemEntry(
        "choosing", "baselines:LastMention", "takes the candidate that is mentioned last"
    ),
    "last-pronoun": SystemEntry(
        "language model",
        "pronoun_baselines:LastPronoun",
        "repeats the last pronoun before the slot",
    ),
    "lingmess": SystemEntry(
        "clustering",
        "lingmess:LingMess",
        "LingMess, linguistically informed multi-expert scorers (Otmazgin et al., 2023)",
        extra="lingmess",
        weights="biu-nlp/lingmess-coref",
    ),
    "lm": SystemEntry(
        "language model",
        "lm.system:LanguageModel",
        "any causal or masked model, by (pseudo-)log-likelihoods of the filled texts",
        extra="lm",
        weights=ANY_MODEL,
    ),
    "lm-prompts": SystemEntry(
        "language model",
        "lm.generation:PromptedModel",
        "any model that writes, prompted as the papers prompt FLAN-T5 and Llama-2-chat",
        extra="lm",
        weights=ANY_MODEL,
    ),
    "lm-server": SystemEntry(
        "language model",
        "lm.server:ServedModel",
        "a model behind a local server that speaks OpenAI's protocol, prompted as lm-prompts",
    ),
    "nearest-mention": SystemEntry(
        "choosing", "baselines:NearestMention", "takes the last candidate before the pronoun"
    ),
    "parallelism": SystemEntry(
        "choosing",
        "baselines:Parallelism",
        "takes the first-mentioned candidate for a subject form such as she or xe, "
        "and the last one before the pronoun for any other form",
    ),
    "random": SystemEntry(
        "choosing", "baselines:Random", "takes a candidate at random, the same one for a seed"
    ),
    "spanbert": SystemEntry(
        "clustering",
        "spanbert:SpanBERT",
        "SpanBERT below the coarse-to-fine head (Joshi et al., 2020), base and large",
        extra="c2f",
        weights="https://github.com/mandarjoshi90/coref",
    ),
}


def load(name: str, checkpoint: str | None = None, **settings: Any) -> System:
    """Load a system by name.

    Args:
        name: a key of `SYSTEMS`.
        checkpoint: a folder or a Hub id; the published weights when None.
        settings: keywords of the system's own, such as ``seed`` or ``device``.

    Raises:
        InputError: the name, the checkpoint or a setting is wrong, or an extra is missing.
    """
    if name not in SYSTEMS:
        raise unknown_name("system", name, SYSTEMS)
    entry = SYSTEMS[name]
    module, _, attribute = entry.place.partition(":")
    if checkpoint is not None:
        if entry.weights is None:
            raise InputError(f"{name} has no weights", cure=f"write {name} without a checkpoint")
        settings["checkpoint"] = checkpoint
    else:
        _refuse_no_checkpoint(name, entry.weights or "")
    try:
        system_class = getattr(import_module(f"pronominal.adapters.{module}"), attribute)
    except ModuleNotFoundError as error:
        if entry.extra is None:
            raise
        raise InputError(
            f"{name} needs the package {error.name}",
            cure=f'pip install "pronominal[{entry.extra}]"',
        ) from error
    known = inspect.signature(system_class).parameters
    for setting in settings.keys() - known:
        raise InputError(f"{name} has no setting '{setting}'", cure=nearest_name(setting, known))
    try:
        system: System = system_class(**settings)
    except TypeError as error:
        given = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
        raise InputError(
            f"{name} cannot be made with {given} ({error})", cure="give values of the right type"
        ) from error
    return system


def _refuse_no_checkpoint(name: str, weights: str) -> None:
    """Raise `InputError` for a system whose weights are nowhere to be fetched from."""
    if weights.startswith("https://"):
        raise InputError(
            f"{name} needs a checkpoint, for its weights are not on the Hub",
            cure=f"download them (see {weights}) and give the folder, as {name}=FOLDER",
        )
    if weights.startswith("pronominal "):
        raise InputError(
            f"{name} needs a checkpoint, for you train it yourself",
            cure=f"make one with '{weights}' and give its folder, as {name}=FOLDER",
        )
    if weights == ANY_MODEL:
        raise InputError(
            f"{name} needs a checkpoint", cure=f"give a folder or a Hub id, as {name}=ORG/NAME"
        )


__all__ = [
    "SYSTEMS",
    "ChoosingSystem",
    "ClusteringSystem",
    "GeneratingSystem",
    "Kind",
    "ScoringSystem",
    "System",
    "SystemEntry",
    "kind_of",
    "load",
]
