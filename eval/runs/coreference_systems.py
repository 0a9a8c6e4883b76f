"""Coreference systems' answers: clusters, of which a rule makes decisions, or probabilities."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from pronominal.adapters.contract.answers import as_clusters, as_numbers
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.contract.systems import ChoosingSystem, ClusteringSystem, TextWarning
from pronominal.adapters.lm.coreference.copies import Copy, State
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError
from pronominal.eval.runs.decision_rules import DecisionRule
from pronominal.eval.runs.predictions import Prediction, predictions_file, refuse_other_length
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster

COPIES = get_args(State)
"""How much of a text came back from a system that marks clusters in a copy of it."""


def predict_clusters(
    system: ClusteringSystem, instances: Sequence[ResolutionInstance], rule: DecisionRule
) -> list[Prediction]:
    """Ask for the clusters of each instance's text, and decide by a rule.

    The predictions of a system that has ``copies`` say which of `COPIES` each text's was.

    Raises:
        InputError: spans are no pairs of offsets, or lie outside of their text; a refused text is
            named by its instance's id, and so is one whose copy lacks what the instance is about.
    """
    try:
        with _warnings_by_id(instances):
            answers = system.cluster([instance.text for instance in instances])
    except RefusedTextError as error:
        raise error.at(f"id {instances[error.index].id}") from error
    refuse_other_length(system.name, answers, instances)
    predictions = [
        prediction_of(instance, _checked(system.name, instance, answer), rule)
        for instance, answer in zip(instances, answers, strict=True)
    ]
    copies: Sequence[Copy] | None = getattr(system, "copies", None)
    if copies is None:
        return predictions
    for instance, copy in zip(instances, copies, strict=True):
        _refuse_lost(instance, copy)
    return [
        replace(one, given={**one.given, "copy": copy.state})
        for one, copy in zip(predictions, copies, strict=True)
    ]


def _refuse_lost(instance: ResolutionInstance, copy: Copy) -> None:
    """Raise `InputError` where the pronoun or a candidate has no certain place in a copy."""
    asked = {
        "the pronoun that is asked about": [instance.pronoun],
        "a candidate": instance.candidates,
    }
    for name, mentions in asked.items():
        if any(copy.has_lost(mention.span) for mention in mentions):
            cause = f"the copy is no copy: {name} is not in its place"
            cure = "ask another model, or one that is not limited in what it writes"
            raise InputError(cause, cure=cure, row=f"id {instance.id}")


def prediction_of(
    instance: ResolutionInstance, clusters: Sequence[Cluster], rule: DecisionRule
) -> Prediction:
    """Return the prediction that a rule makes of an instance's clusters, which it keeps."""
    given = {"clusters": [[list(span) for span in cluster] for cluster in clusters]}
    return Prediction(instance.id, rule(instance, clusters), given)


def clusters_of(prediction: Prediction, path: Path, number: int) -> list[Cluster]:
    """Return the clusters of a prediction in line `number` of a file, or of a run's folder.

    Raises:
        InputError: there are none, or they are not lists of pairs of offsets.
    """
    file, given = predictions_file(path), prediction.given
    if "clusters" not in given:
        cause = "the run has no clusters, which readings are about"
        raise InputError(cause, cure="give the run of a clustering system", file=file)
    try:
        clusters = as_clusters(given["clusters"])
    except (TypeError, ValueError):
        clusters = None
    if clusters is None or not all(0 <= start < end for spans in clusters for start, end in spans):
        at = RowLocation(file, f"line {number}")
        raise at.refuse("these are no clusters", "write lists of pairs of offsets")
    return clusters


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


@contextmanager
def _warnings_by_id(instances: Sequence[Instance]) -> Iterator[None]:
    """Let warnings about texts name the ids of their instances."""
    show = warnings.showwarning

    def show_id(message: Warning | str, *where: Any, **others: Any) -> None:
        if isinstance(message, TextWarning):
            message = message.at(f"id {instances[message.index].id}")
        show(message, *where, **others)

    # catch_warnings would forget which warnings of other packages were shown already
    warnings.showwarning = show_id
    try:
        yield
    finally:
        warnings.showwarning = show


def _checked(name: str, instance: ResolutionInstance, answer: Any) -> list[Cluster]:
    """Return a system's answer as clusters; `InputError` unless each could be one of the text."""

    def refuse(cause: str, cure: str) -> InputError:
        return InputError(f"{name} {cause}", cure=cure, row=f"id {instance.id}")

    try:
        clusters = as_clusters(answer)
    except (TypeError, ValueError) as error:
        cure = "return a list of clusters, each a list of pairs of integers"
        raise refuse("does not give clusters of (start, end)", cure) from error
    for cluster in clusters:
        if len({*cluster}) < len(cluster):
            cure = "return every span of a cluster once"
            raise refuse("gives a span twice in one cluster", cure)
        for start, end in cluster:
            if not 0 <= start < end <= len(instance.text):
                cause = f"gives the span {start}:{end} outside the text"
                raise refuse(cause, "return half-open character offsets")
    return clusters
