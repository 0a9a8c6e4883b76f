"""From the scores of antecedents to clusters."""

from pronominal.adapters.c2f.head.units import AntecedentScores
from pronominal.spans import Cluster, Span


def predicted_antecedents(scores: AntecedentScores) -> list[int]:
    """Return which span each one's best antecedent is, -1 for none.

    None wins a tie, as it comes first.
    """
    if not len(scores.starts):
        return []
    # not argmax(), which need not give the first of several
    best = (scores.scores == scores.scores.amax(1, keepdim=True)).int().argmax(1)
    chosen = scores.antecedents.gather(1, (best - 1).clamp(min=0).unsqueeze(1)).squeeze(1)
    antecedents: list[int] = chosen.masked_fill(best == 0, -1).tolist()
    return antecedents


def decode(scores: AntecedentScores) -> list[Cluster]:
    """Return the clusters as half-open spans of units.

    Every span joins its antecedent's cluster, in the order of the spans; clusters have the
    order in which they were opened. No cluster has fewer than two spans.
    """
    places = zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)
    spans = [Span(*place) for place in places]
    clusters: list[Cluster] = []
    cluster_of: dict[int, Cluster] = {}
    for span, antecedent in enumerate(predicted_antecedents(scores)):
        if antecedent < 0:
            continue
        if antecedent not in cluster_of:
            cluster_of[antecedent] = [spans[antecedent]]
            clusters.append(cluster_of[antecedent])
        cluster_of[antecedent].append(spans[span])
        cluster_of[span] = cluster_of[antecedent]
    return clusters
