"""CoNLL's scores of any key and response file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pronominal.errors import InputError
from pronominal.eval.exchange import FORMATS, exchange_format
from pronominal.eval.exchange.documents import PredictedDocument
from pronominal.eval.scores.conll import conll_scores
from pronominal.spans import Cluster, Span


def score_files(
    key: Path, response: Path, form: str = "conll2012", *, singletons: bool = True
) -> dict[str, Any]:
    """Score the clusters of a response file against those of a key file.

    A mention that is in several clusters of a file counts in the first of them, as in the
    reference scorer (Pradhan et al., 2014).

    Args:
        key: the right clusters.
        response: a system's, of the same documents.
        form: the format of both.
        singletons: whether clusters of one mention count, as in the reference scorer; the scorer
            of CorefUD leaves them out.

    Returns:
        The scores of `pronominal.eval.scores.conll.conll_scores`, each with ``recall``,
        ``precision`` and ``f1`` in [0, 1]; and ``n``, the number of documents.

    Raises:
        InputError: the format has no clusters, a file is not in it, or the two are not of the same
            documents.
    """
    module = exchange_format(form)
    if not FORMATS[form].clusters:
        raise InputError(f"{form} has no clusters to score", cure="give another --format")
    keys, responses = [*module.read(key)], [*module.read(response)]
    pairs = list(_paired(keys, responses, response))
    least = 1 if singletons else 2
    scores = conll_scores(
        [_partition(one.clusters, least) for one, _ in pairs],
        [_partition(other.clusters, least) for _, other in pairs],
    )
    return {"n": len(pairs)} | {name: score._asdict() for name, score in scores.items()}


def _paired(
    keys: Sequence[PredictedDocument], responses: Sequence[PredictedDocument], file: Path
) -> Iterator[tuple[PredictedDocument, PredictedDocument]]:
    """Pair documents by their keys, or by their order where they have none."""
    named = {one.key or number: one for number, one in enumerate(responses)}
    names = [one.key or number for number, one in enumerate(keys)]
    cure = "give the answer to the documents of the key file, words unchanged"
    if len(names) != len(responses) or len({*names}) != len(names):
        cause = f"it has {len(responses)} documents, and the key file {len({*names})}"
        raise InputError(cause, cure=cure, file=file)
    for name, one in zip(names, keys, strict=True):
        if name not in named:
            raise InputError(f"the document {name} is not there", cure=cure, file=file)
        if len(one.content) != len(named[name].content):
            cause = "the document has not the words of the key file"
            raise InputError(cause, cure=cure, file=file, row=named[name].place)
        yield one, named[name]


def _partition(clusters: Sequence[Cluster], least: int) -> list[Cluster]:
    """Leave every mention in the first cluster that has it, and clusters of `least` mentions."""
    seen: set[Span] = set()
    found = []
    for cluster in sorted((c for c in clusters if c), key=min):
        own = [span for span in dict.fromkeys(cluster) if span not in seen]
        seen.update(own)
        found.append(own)
    return [cluster for cluster in found if len(cluster) >= least]
