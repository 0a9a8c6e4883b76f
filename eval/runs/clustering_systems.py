"""Coreference systems' answers: clusters, and what a reading makes of them."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pronominal.adapters.contract.answers import as_clusters
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.contract.systems import ClusteringSystem, TextWarning
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import Prediction, refuse_other_length
from pronominal.eval.runs.readings import Reading
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster


def predict_clusters(
    system: ClusteringSystem, instances: Sequence[ResolutionInstance], read: Reading
) -> list[Prediction]:
    """Ask for the clusters of each instance's text, and read them.

    Raises:
        InputError: spans are no pairs of offsets, or lie outside of their text; a refused text is
            named by its instance's id.
    """
    try:
        with _warnings_by_id(instances):
            answers = system.cluster([instance.text for instance in instances])
    except RefusedTextError as error:
        raise error.at(f"id {instances[error.index].id}") from error
    refuse_other_length(system.name, answers, instances)
    predictions = []
    for instance, answer in zip(instances, answers, strict=True):
        clusters = _spans(system.name, instance, answer)
        _refuse_repeated(system.name, instance, clusters)
        for span in (span for cluster in clusters for span in cluster):
            if not 0 <= span.start < span.end <= len(instance.text):
                raise InputError(
                    f"{system.name} gives the span {span.start}:{span.end} outside the text",
                    cure="return half-open character offsets",
                    row=f"id {instance.id}",
                )
        decision = read(instance, clusters)
        given = {"clusters": [[list(span) for span in cluster] for cluster in clusters]}
        predictions.append(Prediction(instance.id, decision, given))
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


def _refuse_repeated(name: str, instance: ResolutionInstance, clusters: Sequence[Cluster]) -> None:
    for cluster in clusters:
        if len({*cluster}) < len(cluster):
            raise InputError(
                f"{name} gives a span twice in one cluster",
                cure="return every span of a cluster once",
                row=f"id {instance.id}",
            )


def _spans(name: str, instance: ResolutionInstance, answer: Any) -> list[Cluster]:
    try:
        return as_clusters(answer)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} does not give clusters of (start, end)",
            cure="return a list of clusters, each a list of pairs of integers",
            row=f"id {instance.id}",
        ) from error
