"""Clusters from links between mentions."""

from collections.abc import Iterable, Sequence


def linked(links: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return clusters of mentions; whatever shares a mention is one cluster.

    Args:
        links: names of mentions that are the same entity, two or more at a time.

    Returns:
        The clusters and their mentions, in the order in which they were first named.

    >>> linked([["T3", "T1"], ["T5", "T6"], ["T1", "T2"]])
    [['T3', 'T1', 'T2'], ['T5', 'T6']]
    """
    clusters: list[dict[str, None]] = []
    for link in links:
        joined: dict[str, None] = {}
        others = []
        for cluster in clusters:
            if cluster.keys().isdisjoint(link):
                others.append(cluster)
            elif joined:
                joined.update(cluster)
            else:
                joined = cluster
                others.append(cluster)
        if joined:
            joined.update(dict.fromkeys(link))
        else:
            others.append(dict.fromkeys(link))
        clusters = others
    return [[*cluster] for cluster in clusters]
