"""Language models' answers: the likeliest filling, what a generation names, or what is offered."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
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
from pronominal.adapters.lm.thoughts.reading import Reply, as_replies
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.decisions import BOTH, NONE, UNFINISHED, Decision, likeliest
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import Prediction, refuse_other_length
from pronominal.instances import FillingInstance

EXTRACTIONS: dict[str, Callable[[str, list[str]], list[int]]] = {
    "offsets": named_by_words,
    "upstream": named_by_upstream,
}
"""How a generation becomes an answer, by the name of the rule; the first is the default."""

Answer = int | str
"""An option's index, ``"none"``, ``"both"`` or ``"unfinished"``."""


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
        decision = Decision.among(likeliest(scores))
        predictions.append(Prediction(instance.id, decision, {"scores": scores}))
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
    prompts = [prompting.of(instance) for instance in instances]
    options = [_options(instance) for instance in instances]
    texts = [prompt.text for own in prompts for prompt in own]
    offered = [names for own, names in zip(prompts, options, strict=True) for _ in own]
    with _refused_by_id(instances, prompts):
        answers = system.option_loglikelihoods(texts, offered)
    refuse_other_length(system.name, answers, texts)
    predictions, rest = [], iter(answers)
    for instance, own, names in zip(instances, prompts, options, strict=True):
        scores = {
            prompt.name: _numbers(system.name, instance, len(names), next(rest)) for prompt in own
        }
        answer = {prompt: _answer(likeliest(numbers)) for prompt, numbers in scores.items()}
        given: dict[str, Any] = {"likeliest": answer, "scores": scores}
        if include_text:
            given["prompt"] = {prompt.name: prompt.text for prompt in own}
        predictions.append(Prediction(instance.id, most_frequent([*answer.values()]), given))
    return predictions


def _numbers(name: str, instance: Instance, options: int, answer: Any) -> list[float]:
    try:
        scores = as_numbers(answer)
    except (TypeError, ValueError):
        scores = []
    if len(scores) != options or not all(map(isfinite, scores)):
        cause = f"{name} does not give one finite number for each option"
        cure = "return log-likelihoods; check dtype and weights if they are no numbers"
        raise InputError(cause, cure=cure, row=f"id {instance.id}")
    return scores


def predict_generations(
    system: GeneratingSystem, instances: Sequence[Instance], reading: str, *, include_text: bool
) -> list[Prediction]:
    """Ask a model that writes with every prompt, and read its answers.

    A prediction has ``answers``, and with a chain of thought also ``chain_answers``, which is what
    the chain names: prompt -> index, ``"none"``, ``"both"`` or ``"unfinished"``. Its choice is that
    of most prompts (see `most_frequent`). Where a model thought, or did not end by itself,
    ``replies`` and ``chains`` say so: prompt -> what `_circumstances` returns.
    """
    prompting = getattr(system, "prompting", Prompting())
    prompts = [prompting.of(instance) for instance in instances]
    with _refused_by_id(instances, prompts):
        written = _generate(system, [*chain(*prompts)], prompting.chain_of_thought)
    predictions, rest = [], {kind: iter(texts) for kind, texts in written.items()}
    kept_as = {"answers": "generation", "chain_answers": "chain"}
    told_as = {"answers": "replies", "chain_answers": "chains"}
    for instance, own in zip(instances, prompts, strict=True):
        options, given, kept = _options(instance), dict[str, Any](), dict[str, Any]()
        for kind, replies in rest.items():
            by_prompt = {prompt.name: reply for prompt, reply in zip(own, replies, strict=False)}
            given[kind] = {
                name: _answer_of(reply, options, reading) for name, reply in by_prompt.items()
            }
            told = {name: _circumstances(reply) for name, reply in by_prompt.items()}
            if any(told.values()):
                given[told_as[kind]] = {name: one for name, one in told.items() if one}
            kept[kept_as[kind]] = by_prompt
            if thoughts := {name: r.thought for name, r in by_prompt.items() if r.thought}:
                kept[f"{kept_as[kind]}_thought"] = thoughts
        if include_text:
            given |= {"prompt": {prompt.name: prompt.text for prompt in own}, **kept}
        decision = most_frequent([*given["answers"].values()])
        predictions.append(Prediction(instance.id, decision, given))
    return predictions


@contextmanager
def _refused_by_id(
    instances: Sequence[Instance], prompts: Sequence[Sequence[Prompt]]
) -> Iterator[None]:
    """Let an error about a prompt name the id of its instance."""
    try:
        yield
    except RefusedTextError as error:
        owners = [i.id for i, own in zip(instances, prompts, strict=True) for _ in own]
        raise error.at(f"id {owners[error.index]}") from error


def _options(instance: Instance) -> list[str]:
    if isinstance(instance, FillingInstance):
        return [*instance.options]
    return [candidate.text for candidate in instance.candidates]


def most_frequent(answers: Sequence[Answer]) -> Decision:
    """Return the option that most prompts gave; a tie between options is ``both``.

    Where no prompt gave an option, the most frequent abstention counts; of those that are as
    frequent, unfinished before none, and none before both.

    >>> most_frequent([1, 1, 0, "none", "none", "none"]).choice
    1
    """
    votes = Counter(answer for answer in answers if isinstance(answer, int))
    if not votes:
        return max((UNFINISHED, NONE, BOTH), key=lambda one: answers.count(str(one.abstained)))
    most = max(votes.values())
    return Decision.among([option for option, count in votes.items() if count == most])


def _generate(
    system: GeneratingSystem, prompts: Sequence[Prompt], chain_of_thought: str | None
) -> dict[str, list[Reply]]:
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


def _written(system: GeneratingSystem, texts: Sequence[str], **limits: int) -> list[Reply]:
    answers = system.generate(texts, **limits)
    refuse_other_length(system.name, answers, texts)
    if not all(isinstance(answer, str) for answer in answers):
        raise FailedCallError(f"{system.name} gives no strings", cure="return one string for each")
    # a system of the user's own returns strings as they were written
    return as_replies(answers)


def _answer_of(reply: Reply, options: list[str], reading: str) -> Answer:
    if reply.unfinished:
        return "unfinished"
    return _answer(EXTRACTIONS[reading](reply, options))


def _circumstances(reply: Reply) -> dict[str, Any]:
    """Return how an answer came about, without its words; nothing where that is as usual.

    Returns:
        ``state`` (`pronominal.adapters.lm.thoughts.reading.State`), ``finish_reason`` and
        ``thought_characters``, the length of the thought.
    """
    if reply.thought is None and reply.finish_reason in (None, "stop") and not reply.unfinished:
        return {}
    return {
        "state": reply.state,
        "finish_reason": reply.finish_reason,
        "thought_characters": len(reply.thought or ""),
    }


def _answer(indices: Sequence[int]) -> Answer:
    if len(indices) == 1:
        return indices[0]
    return "both" if indices else "none"
