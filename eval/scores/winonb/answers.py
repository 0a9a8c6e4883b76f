"""Where answers to WinoNB go, counted by stratum and by the number of the pronoun's referent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.statistics.bootstrap import Bootstrap
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import (
    BoolArray,
    Counts,
    FloatArray,
    IntArray,
    ratio,
    shares_by,
)
from pronominal.eval.statistics.scores import Block, blocks

SOURCES = ("winogender", "winobias", "wsc", "dpr")
ASSOCIATIONS = ("fem", "masc", "neutral", "someone")
NUMBERS = ("singular", "plural")

GROUP, INDIVIDUAL, ELSEWHERE, UNRESOLVED, BOTH = range(5)
"""Where an answer goes: elsewhere is a cluster with neither candidate, unresolved is none."""

Clustered = BoolArray
"""Whether a row's pronoun is in a cluster with anything, shape ``[rows]``."""


@dataclass(frozen=True, slots=True)
class Places:
    """Counts of where answers go, shape ``[..., strata * 2, 5]``; even strata are singular."""

    counts: Counts

    @property
    def n(self) -> Counts:
        """Number of answers."""
        return self.counts.sum(axis=-1)  # type: ignore[no-any-return]

    @property
    def accuracy(self) -> FloatArray:
        """Share of singular they resolved to the individual, of plural they to the group."""
        numbers = np.arange(self.counts.shape[-2]) % len(NUMBERS)
        right = np.where(numbers == 0, self.counts[..., INDIVIDUAL], self.counts[..., GROUP])
        return ratio(right, self.n)

    def share(self, *places: int) -> FloatArray:
        """Share of the answers that went to one of the places."""
        return ratio(self.counts[..., list(places)].sum(axis=-1), self.n)


@dataclass(frozen=True, slots=True)
class Referents:
    """Rows and answers as integers, with what is counted of them.

    Attributes:
        sources: rows by source.
        numbers: index into `NUMBERS`, shape ``[rows]``.
        units: each row's schema, shape ``[rows]``.
        counts: where each row's answer goes, shape ``[rows, 5]``.
        has_clusters: whether elsewhere and unresolved are known.
        bootstrap: the resamples of the schemas.
    """

    sources: Strata
    numbers: IntArray
    units: IntArray
    counts: IntArray
    has_clusters: bool
    bootstrap: Bootstrap

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        decisions: Sequence[Decision],
        clustered: Clustered | None,
        schemas: Mapping[str, int],
        bootstrap: Bootstrap,
    ) -> "Referents":
        """Read a table and its decisions; `schemas` are those of `schemas_of`."""
        known = [False] * rows.num_rows if clustered is None else clustered.tolist()
        places = [_place(d, there) for d, there in zip(decisions, known, strict=True)]
        return cls(
            sources=Strata.of(rows["source"].to_pylist(), SOURCES),
            numbers=Strata.of(rows["number"].to_pylist(), NUMBERS).codes,
            units=np.array([schemas[_upstream_row(n)] for n in rows["id"].to_pylist()], np.int64),
            counts=np.eye(5, dtype=np.int64)[places],
            has_clusters=clustered is not None,
            bootstrap=bootstrap,
        )

    @property
    def right(self) -> BoolArray:
        """Which rows got the right answer, shape ``[rows]``."""
        found = np.where(self.numbers == 0, self.counts[:, INDIVIDUAL], self.counts[:, GROUP])
        return found > 0

    def shares(self, kept: BoolArray) -> FloatArray:
        """Return the share of right answers in each schema that has rows among the kept ones."""
        shares = shares_by(self.units, self.right, kept)
        return shares[~np.isnan(shares)]

    def places(self, strata: Strata) -> tuple[Places, Places]:
        """Count by stratum and number: what there is, and in every resample."""
        names = tuple(f"{name} {number}" for name in strata.names for number in NUMBERS)
        divided = Strata(names, strata.codes * len(NUMBERS) + self.numbers)
        observed, drawn = map(Places, self.bootstrap.tally(self.counts, self.units, divided))
        return observed, drawn

    def divided(self, strata: Strata) -> Block:
        """Return a block for each stratum and number; see `score`."""
        observed, resampled = self.places(strata)
        made = blocks(
            n=observed.n,
            accuracy=observed.accuracy,
            group=observed.share(GROUP),
            individual=observed.share(INDIVIDUAL),
            neither=observed.share(ELSEWHERE, UNRESOLVED),
            both=observed.share(BOTH),
            elsewhere=self._if_clustered(observed.share(ELSEWHERE)),
            unresolved=self._if_clustered(observed.share(UNRESOLVED)),
            interval=self.bootstrap.interval_blocks(accuracy=resampled.accuracy),
        )
        pairs = zip(made[::2], made[1::2], strict=True)
        return strata.named(dict(zip(NUMBERS, pair, strict=True)) for pair in pairs)

    def by_source(self) -> Block:
        """Return the blocks of each source and of ``all``."""
        return self.divided(self.sources) | self.divided(self.everything)

    @property
    def everything(self) -> Strata:
        """All rows as one stratum."""
        return Strata.whole(len(self.numbers), "all")

    def _if_clustered(self, values: FloatArray) -> FloatArray:
        return values if self.has_clusters else np.full_like(values, np.nan)


def _place(decision: Decision, clustered: bool) -> int:
    if decision.choice is not None:
        return (GROUP, INDIVIDUAL)[decision.choice]
    if decision.abstained == "both":
        return BOTH
    return ELSEWHERE if clustered else UNRESOLVED


def _upstream_row(name: str) -> str:
    return name.partition("-")[0]


def schemas_of(rows: pa.Table) -> dict[str, int]:
    """Number the upstream rows; one that repeats an earlier sentence has that one's number."""
    first: dict[tuple[str, str], str] = {}
    schemas: dict[str, str] = {}
    columns = (rows[name].to_pylist() for name in ("id", "individual", "text"))
    for name, individual, text in zip(*columns, strict=True):
        row = _upstream_row(name)
        schemas.setdefault(row, first.setdefault((individual, text), row))
    numbers = {row: number for number, row in enumerate(dict.fromkeys(schemas.values()))}
    return {row: numbers[earlier] for row, earlier in schemas.items()}


def clustered_pronouns(rows: pa.Table, predictions: Iterable[Prediction]) -> Clustered | None:
    """Return which pronouns are in a cluster; None where predictions have no clusters."""
    pronouns = [[p["start"], p["end"]] for p in rows["pronoun"].to_pylist()]
    places = {name: row for row, name in enumerate(rows["id"].to_pylist())}
    clustered, prediction = np.zeros(len(places), dtype=np.bool_), None
    for prediction in predictions:
        try:
            row, clusters = places[prediction.id], prediction.given["clusters"]
            clustered[row] = any(
                pronouns[row] in cluster and len(cluster) > 1 for cluster in clusters
            )
        except (KeyError, TypeError):
            return None
    return None if prediction is None else clustered
