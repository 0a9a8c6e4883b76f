"""Where answers to WinoNB go, counted by stratum and by the number of the pronoun's referent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.decisions import Decision
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.statistics.groups import Strata, distinct
from pronominal.eval.statistics.intervals import ratio_interval, ratio_intervals
from pronominal.eval.statistics.outcomes import (
    CHOSE_UNFINISHED,
    BoolArray,
    Counts,
    IntArray,
    Share,
    choices_of,
    parts_by,
)
from pronominal.eval.statistics.parts import with_rest
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.units import Units

SOURCES = ("winogender", "winobias", "wsc", "dpr")
ASSOCIATIONS = ("fem", "masc", "neutral", "someone")
NUMBERS = ("singular", "plural")

GROUP, INDIVIDUAL, ELSEWHERE, UNRESOLVED, BOTH, UNFINISHED = range(6)
"""Where an answer goes: elsewhere is a cluster with neither candidate, unresolved is none, and
unfinished was cut off."""

PLACES = np.array([UNFINISHED, -1, BOTH, UNRESOLVED, GROUP, INDIVIDUAL])
"""Where the answer goes that `choices_of` gives a number, from `CHOSE_UNFINISHED` on."""

Clustered = BoolArray
"""Whether a row's pronoun is in a cluster with anything, shape ``[rows]``."""


@dataclass(frozen=True, slots=True)
class Places:
    """Counts of where answers go, shape ``[strata * 2, schemas, 6]``; even strata are singular."""

    counts: Counts

    @property
    def n(self) -> Counts:
        """Number of answers."""
        return self.counts.sum(axis=-1)  # type: ignore[no-any-return]

    @property
    def accuracy(self) -> Share:
        """Singular they resolved to the individual and plural they to the group, of the answers."""
        right = self.counts[..., INDIVIDUAL].copy()
        right[1::2] = self.counts[1::2, ..., GROUP]
        return right, self.n

    def share(self, *places: int) -> Share:
        """Answers that went to one of the places, of all."""
        return self.counts[..., list(places)].sum(axis=-1), self.n


@dataclass(frozen=True, slots=True)
class Referents:
    """Rows and answers as integers, with what is counted of them.

    Attributes:
        sources: rows by source.
        numbers: index into `NUMBERS`, shape ``[rows]``.
        units: the schemas.
        counts: where each row's answer goes, shape ``[rows, 6]``.
        has_clusters: whether elsewhere and unresolved are known.
    """

    sources: Strata
    numbers: IntArray
    units: Units
    counts: IntArray
    has_clusters: bool

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        decisions: Sequence[Decision],
        clustered: Clustered | None,
        schemas: Mapping[str, int],
    ) -> "Referents":
        """Read a table and its decisions; `schemas` are those of `schemas_of`."""
        elsewhere = np.zeros(rows.num_rows, np.bool_) if clustered is None else clustered
        places = PLACES[choices_of(decisions) - CHOSE_UNFINISHED]
        places = np.where((places == UNRESOLVED) & elsewhere, ELSEWHERE, places)
        return cls(
            sources=Strata.of_column(rows["source"], SOURCES),
            numbers=Strata.of_column(rows["number"], NUMBERS).codes,
            units=units(rows, schemas),
            counts=np.eye(6, dtype=np.int64)[places],
            has_clusters=clustered is not None,
        )

    @property
    def right(self) -> BoolArray:
        """Which rows got the right answer, shape ``[rows]``."""
        found = np.where(self.numbers == 0, self.counts[:, INDIVIDUAL], self.counts[:, GROUP])
        return found > 0

    def shares(self, kept: BoolArray) -> IntArray:
        """Return the right answers of each schema that has kept rows, of how many, ``[., 2]``."""
        found = parts_by(self.units.codes, self.right, kept)
        return found[found[:, 1] > 0]

    def places(self, strata: Strata) -> Places:
        """Count by stratum and number."""
        names = tuple(f"{name} {number}" for name in strata.names for number in NUMBERS)
        divided = Strata(names, strata.codes * len(NUMBERS) + self.numbers)
        return Places(self.units.sums(self.counts, divided))

    def divided(self, strata: Strata, *, against_rest: bool = False) -> Block:
        """Return a block for each stratum and number; see `score` and `with_rest`."""
        places = self.places(strata)
        shares = {
            "accuracy": places.accuracy,
            "answered": places.share(GROUP, INDIVIDUAL),
            "group": places.share(GROUP),
            "individual": places.share(INDIVIDUAL),
            "neither": places.share(ELSEWHERE, UNRESOLVED),
            "both": places.share(BOTH),
            "unfinished": places.share(UNFINISHED),
            "elsewhere": places.share(ELSEWHERE),
            "unresolved": places.share(UNRESOLVED),
        }
        estimates = ratio_intervals(shares)
        if not self.has_clusters:
            unknown = ("elsewhere", "unresolved")
            estimates |= {name: estimates[name].undefined() for name in unknown}
        made = estimate_blocks(estimates, n=places.n.sum(axis=-1))
        of_numbers = [made[::2], made[1::2]]
        if against_rest:
            right, n = places.accuracy
            of_numbers = [
                with_rest(of_it, right[number::2], n[number::2])
                for number, of_it in enumerate(of_numbers)
            ]
        pairs = zip(*of_numbers, strict=True)
        return strata.named(dict(zip(NUMBERS, pair, strict=True)) for pair in pairs)

    def overall(self) -> Block:
        """Return the share of all rows that are right, of either number."""
        right, n = self.places(self.everything).accuracy
        share = right.sum(axis=0, keepdims=True), n.sum(axis=0, keepdims=True)
        return estimate_blocks({"correct": ratio_interval(*share)}, n=share[1].sum(axis=-1))[0]

    def by_source(self) -> Block:
        """Return the blocks of each source and of ``all``."""
        return self.divided(self.sources) | self.divided(self.everything)

    @property
    def everything(self) -> Strata:
        """All rows as one stratum."""
        return Strata.whole(len(self.numbers), "all")


def schemas_of(rows: pa.Table) -> dict[str, int]:
    """Number the upstream rows; one that repeats an earlier sentence has that one's number."""
    names, upstream = _upstream_rows(rows)
    (people, who), (_, sentences) = distinct(rows["individual"]), distinct(rows["text"])
    _, first, same = np.unique(
        sentences * len(people) + who, return_index=True, return_inverse=True
    )
    earlier = upstream[first[same]]
    of_row = [names[row] for row in earlier[np.unique(upstream, return_index=True)[1]]]
    numbers = {row: number for number, row in enumerate(dict.fromkeys(of_row))}
    return {name: numbers[row] for name, row in zip(names, of_row, strict=True)}


def _upstream_rows(rows: pa.Table) -> tuple[list[str], IntArray]:
    """Return the upstream rows, in order, and which of them each row is made of."""
    return distinct(pc.list_element(pc.split_pattern(rows["id"], "-", max_splits=1), 0))


def units(rows: pa.Table, schemas: Mapping[str, int]) -> Units:
    """Return each row's schema, of those that `schemas_of` numbered."""
    names, upstream = _upstream_rows(rows)
    codes = np.array([schemas[name] for name in names], dtype=np.int64)[upstream]
    return Units("schema", codes, len(set(schemas.values())))


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
