"""Clusters from links between mentions."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Mention = TypeVar("Mention", bound=Hashable)


def linked(links: Iterable[Sequence[Mention]]) -> list[list[Mention]]:
    """Return clusters of mentions; links that share a mention are one cluster.

    Args:
        links: mentions, or their names, that are the same entity; one or more at a time.

    Returns:
        The clusters and their mentions, in the order in which they were first named.

    >>> linked([["T3", "T1"], ["T5", "T6"], ["T1", "T2"]])
    [['T3', 'T1', 'T2'], ['T5', 'T6']]
    """
    clusters: list[dict[Mention, None]] = []
    for link in links:
        joined = [cluster for cluster in clusters if not cluster.keys().isdisjoint(link)] or [{}]
        if not joined[0]:
            clusters += joined
        for cluster in joined[1:]:
            joined[0].update(cluster)
            clusters.remove(cluster)
        joined[0].update(dict.fromkeys(link))
    return [[*cluster] for cluster in clusters]
