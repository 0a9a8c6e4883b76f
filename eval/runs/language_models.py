"""Language models' answers: the likeliest filling, what a generation names, or what is offered."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any

from pronominal.adapters.contract.answers import as_numbers
from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.adapters.contract.systems import (
    GeneratingSystem,
    MultipleChoiceSystem,
    ScoringSystem,
)
from pronominal.adapters.lm.prompting.answers import named_by_upstream, named_by_words
from pronominal.adapters.lm.prompting.prompts import (
    CHAIN_TOKENS,
    CONCLUSION_TOKENS,
    Prompt,
    Prompting,
    concluding,
    question_and_answer,
)
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.decisions import BOTH, NONE, Decision
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import Prediction, refuse_other_length
from pronominal.instances import FillingInstance

EXTRACTIONS: dict[str, Callable[[str, list[str]], list[int]]] = {
    "offsets": named_by_words,
    "upstream": named_by_upstream,
}
"""How a generation becomes an answer, by the name of the reading; the first is the default."""

Answer = int | str
"""An option's index, ``"none"`` or ``"both"``."""


def predict_scores(system: ScoringSystem, instances: Sequence[FillingInstance]) -> list[Prediction]:
    """Choose the likeliest option of each instance; a tie at the top is ``both``.

    Raises:
        InputError: there is not one finite number for each option.
    """
    answers = system.loglikelihood(instances)
    refuse_other_length(system.name, answers, instances)
    predictions = []
    for instance, answer in zip(instances, answers, strict=True):
        scores = _numbers(system.name, instance, len(instance.options), answer)
        predictions.append(Prediction(instance.id, _likeliest(scores), {"scores": scores}))
    return predictions


def predict_multiple_choice(
    system: MultipleChoiceSystem, instances: Sequence[Instance], *, include_text: bool
) -> list[Prediction]:
    """Offer a model the options of each instance with every prompt.

    A prediction has ``likeliest``, prompt -> index, or ``"both"`` for a tie at the top, and
    ``scores``, prompt -> one number for each option. Its choice is that of most prompts (see
    `most_frequent`).

    Raises:
        InputError: there is not one finite number for each option.
    """
    prompting = getattr(system, "prompting", Prompting())
    asked = [prompting.of(instance) for instance in instances]
    offered = [_options(instance) for instance in instances]
    texts = [prompt.text for every in asked for prompt in every]
    options = [names for every, names in zip(asked, offered, strict=True) for _ in every]
    with _refused_by_id(instances, asked):
        answers = system.option_loglikelihoods(texts, options)
    refuse_other_length(system.name, answers, texts)
    predictions, place = [], iter(answers)
    for instance, every, names in zip(instances, asked, offered, strict=True):
        scores = {
            prompt.name: _numbers(system.name, instance, len(names), answer)
            for prompt, answer in zip(every, place, strict=False)
        }
        chosen = {prompt: _likeliest(numbers).choice for prompt, numbers in scores.items()}
        likeliest: dict[str, Answer] = {
            prompt: "both" if choice is None else choice for prompt, choice in chosen.items()
        }
        given: dict[str, Any] = {"likeliest": likeliest, "scores": scores}
        if include_text:
            given["prompt"] = {prompt.name: prompt.text for prompt in every}
        predictions.append(Prediction(instance.id, most_frequent([*likeliest.values()]), given))
    return predictions


def _numbers(name: str, instance: Instance, options: int, answer: Any) -> list[float]:
    try:
        scores = as_numbers(answer)
    except (TypeError, ValueError):
        scores = []
    if len(scores) != options or not all(map(isfinite, scores)):
        raise InputError(
            f"{name} does not give one finite number for each option",
            cure="return log-likelihoods; check dtype and weights if they are no numbers",
            row=f"id {instance.id}",
        )
    return scores


def _likeliest(scores: Sequence[float]) -> Decision:
    best = max(scores)
    winners = [index for index, score in enumerate(scores) if score == best]
    return Decision(winners[0]) if len(winners) == 1 else BOTH


def predict_generations(
    system: GeneratingSystem,
    instances: Sequence[Instance],
    reading: str,
    *,
    include_text: bool,
) -> list[Prediction]:
    """Ask a model that writes with every prompt, and read its answers.

    A prediction has ``answers``, and with a chain of thought also ``chain_answers``, which is what
    the chain names: prompt -> index, ``"none"`` or ``"both"``. Its choice is that of most prompts
    (see `most_frequent`).
    """
    prompting = getattr(system, "prompting", Prompting())
    asked = [prompting.of(instance) for instance in instances]
    prompts = [prompt for every in asked for prompt in every]
    with _refused_by_id(instances, asked):
        written = _generate(system, prompts, prompting.chain_of_thought)
    predictions, place = [], 0
    for instance, every in zip(instances, asked, strict=True):
        part = {kind: texts[place : place + len(every)] for kind, texts in written.items()}
        place += len(every)
        predictions.append(_prediction(instance, every, part, reading, include_text))
    return predictions


@contextmanager
def _refused_by_id(
    instances: Sequence[Instance], asked: Sequence[Sequence[Prompt]]
) -> Iterator[None]:
    """Let an error about a prompt name the id of its instance."""
    try:
        yield
    except RefusedTextError as error:
        owners = [i.id for i, every in zip(instances, asked, strict=True) for _ in every]
        raise error.at(f"id {owners[error.index]}") from error


def _options(instance: Instance) -> list[str]:
    if isinstance(instance, FillingInstance):
        return [*instance.options]
    return [candidate.text for candidate in instance.candidates]


def most_frequent(answers: Sequence[Answer]) -> Decision:
    """Return the option that most prompts gave; a tie between options is ``both``.

    Where no prompt gave an option, the more frequent abstention counts, none if they are as many.

    >>> most_frequent([1, 1, 0, "none", "none", "none"]).choice
    1
    """
    votes = Counter(answer for answer in answers if isinstance(answer, int))
    if not votes:
        return BOTH if answers.count("both") > answers.count("none") else NONE
    most = max(votes.values())
    winners = [option for option, count in votes.items() if count == most]
    return Decision(winners[0]) if len(winners) == 1 else BOTH


def _generate(
    system: GeneratingSystem, prompts: Sequence[Prompt], chain_of_thought: str | None
) -> dict[str, list[str]]:
    """Return what the model wrote for each prompt: ``answers`` and perhaps ``chain_answers``."""
    if chain_of_thought is None:
        return {"answers": _written(system, [prompt.text for prompt in prompts])}
    questions = [question_and_answer(prompt.text, chain_of_thought) for prompt in prompts]
    chains = _written(system, questions, max_new_tokens=CHAIN_TOKENS)
    conclusions = [
        concluding(question, chain, prompt.conclusion)
        for question, chain, prompt in zip(questions, chains, prompts, strict=True)
    ]
    answers = _written(system, conclusions, max_new_tokens=CONCLUSION_TOKENS)
    return {"answers": answers, "chain_answers": chains}


def _written(system: GeneratingSystem, texts: Sequence[str], **limits: int) -> list[str]:
    answers = system.generate(texts, **limits)
    refuse_other_length(system.name, answers, texts)
    if not all(isinstance(answer, str) for answer in answers):
        raise FailedCallError(f"{system.name} gives no strings", cure="return one string for each")
    return answers


def _prediction(
    instance: Instance,
    prompts: Sequence[Prompt],
    written: Mapping[str, Sequence[str]],
    reading: str,
    include_text: bool,
) -> Prediction:
    options = _options(instance)
    given: dict[str, Any] = {}
    for kind, texts in written.items():
        found = [_answer(EXTRACTIONS[reading](text, options)) for text in texts]
        given[kind] = {prompt.name: answer for prompt, answer in zip(prompts, found, strict=True)}
    decision = most_frequent([*given["answers"].values()])
    if include_text:
        given["prompt"] = {prompt.name: prompt.text for prompt in prompts}
        names = {"answers": "generation", "chain_answers": "chain"}
        for kind, texts in written.items():
            given[names[kind]] = dict(zip(given[kind], texts, strict=True))
    return Prediction(instance.id, decision, given)


def _answer(found: Sequence[int]) -> Answer:
    if not found:
        return "none"
    return found[0] if len(found) == 1 else "both"
