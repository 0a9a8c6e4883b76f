"""CoNLL's scores of any key and response file."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pronominal.errors import InputError
from pronominal.eval.exchange import FORMATS, exchange_format
from pronominal.eval.exchange.documents import PredictedDocument
from pronominal.eval.scores.conll import conll_intervals, conll_scores
from pronominal.spans import Cluster

ONE_DOCUMENT = "one document does not say how others would be"
"""Why scores have no interval."""


def score_files(
    key: Path, response: Path, form: str = "conll2012", *, singletons: bool = True
) -> dict[str, Any]:
    """Score the clusters of a response file against those of a key file.

    Mentions match when they are the same words. Mentions that stand in a file more than once are
    treated as in the reference scorer (Pradhan et al., 2014), as
    `pronominal.eval.scores.conll.conll_scores` says.

    Args:
        key: the right clusters.
        response: a system's, of the same documents.
        form: the format of both.
        singletons: whether clusters of one mention count, as in the reference scorer; the scorer
            of CorefUD leaves them out.

    Returns:
        The scores of `pronominal.eval.scores.conll.conll_scores`, each with ``recall``,
        ``precision`` and ``f1`` in [0, 1]; ``n``, the number of documents; ``interval``, for other
        documents, in the same form (`pronominal.eval.scores.conll.conll_intervals`), and where
        there is none, why, in ``interval_missing``; and for the ``key`` and
        the ``response``, how many mentions are ``repeats`` of others, and how many mentions of
        empty nodes were left out (``zeros``).

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
    gold, predicted = ([_clusters(pair[side], least) for pair in pairs] for side in (0, 1))
    scores = conll_scores(gold, predicted)
    return {
        "n": len(pairs),
        **{name: score._asdict() for name, score in scores.items()},
        "interval": conll_intervals(gold, predicted),
        **({"interval_missing": dict.fromkeys(scores, ONE_DOCUMENT)} if len(pairs) < 2 else {}),
        "repeats": {"key": _repeats(keys), "response": _repeats(responses)},
        "zeros": {"key": _zeros(keys), "response": _zeros(responses)},
    }


def _clusters(document: PredictedDocument, least: int) -> list[Cluster]:
    """Return the clusters in the order of the file, which decides where a repeat counts."""
    order = range(len(document.clusters)) if document.order is None else document.order
    clusters = (document.clusters[index] for index in order)
    return [cluster for cluster in clusters if len({*cluster}) >= least]


def _zeros(documents: Sequence[PredictedDocument]) -> int:
    return sum(one.zeros for one in documents)


def _repeats(documents: Sequence[PredictedDocument]) -> int:
    mentions = [[*chain.from_iterable(one.clusters)] for one in documents]
    return sum(len(spans) - len({*spans}) for spans in mentions)


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
