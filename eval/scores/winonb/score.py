"""The scores of WinoNB (Baumler and Rudinger, 2022, section 4)."""

from collections.abc import Sequence

import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.scores.winonb.answers import (
    ASSOCIATIONS,
    SOURCES,
    Clustered,
    Referents,
    schemas_of,
)
from pronominal.eval.scores.winonb.hypothesis_tests import association_tests
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.intervals import Estimate, quotient_interval
from pronominal.eval.statistics.outcomes import refuse_other_number
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.switched_pairs import Answers


def score(
    rows: pa.Table,
    decisions: Sequence[Decision],
    *,
    clustered: Clustered | None = None,
    generic: Answers | None = None,
) -> Block:
    """Score one decision for each row.

    Args:
        rows: a published split; candidate 0 is the group, 1 the individual.
        decisions: in the order of the rows.
        clustered: which pronouns are in a cluster, where the system gave clusters.
        generic: the same split of the config ``generic``, and its decisions.

    Returns:
        ``n``; ``overall``, with ``correct``, the share of all rows that are right; ``by_source``
        (each source and ``all``), ``by_association`` and ``by_name``, each with ``singular``
        and ``plural``: ``n``, ``accuracy``, and the fractions of n resolved to the ``group``, to
        the ``individual``, to ``neither`` and to ``both``; of neither, ``elsewhere``
        and ``unresolved``, None without `clustered`. ``ratios`` (see `_ratios`);
        ``tests``, the effect of the names' association (`association_tests`). With `generic` also
        ``generic``, its ``by_source``.

        ``answered`` is the share resolved to one of the two. Intervals sum over schemas: an
        upstream row with all its names, and the rows that repeat its sentence. They are about
        these names, five of each association; a claim about all names would need more. Fractions
        are in [0, 1], and None where n is 0.

    Raises:
        InputError: the number of decisions is not the number of rows.
    """
    for table, given in [(rows, decisions), *([generic] if generic else [])]:
        refuse_other_number(table, given)
    schemas = schemas_of(rows)
    answered = Referents.of(rows, decisions, clustered, schemas)
    by_association = Strata.of_column(rows["association"], ASSOCIATIONS)
    scores: Block = {
        "n": rows.num_rows,
        "overall": answered.overall(),
        "by_source": answered.by_source(),
        "by_association": answered.divided(by_association, against_rest=True),
        "by_name": answered.divided(Strata.of_column(rows["individual"])),
    }
    scores["by_name"].pop("someone", None)
    other = None if generic is None else Referents.of(*generic, None, schemas)
    if other is not None:
        scores["generic"] = {"by_source": other.by_source()}
    scores["ratios"] = _ratios(answered, other)
    scores["tests"] = {"association": association_tests(rows, answered.right, answered.units.codes)}
    return scores | {"intervals": answered.units.block()}


def paired_units(
    rows: pa.Table, decisions: Sequence[Decision], *, generic: Answers | None = None
) -> dict[str, PairedUnits]:
    """Return the units that paired tests between systems compare: the schemas.

    Returns:
        The names of a schema with a right answer, of how many, shape ``[schemas, 2]``:
        ``singular``, ``plural``, ``singular_SOURCE`` for each source and, with `generic`,
        ``generic_singular``.
    """
    schemas = schemas_of(rows)
    answered = Referents.of(rows, decisions, None, schemas)
    singular, sources = answered.numbers == 0, rows["source"].to_numpy(zero_copy_only=False)
    made: dict[str, PairedUnits] = {
        "singular": answered.shares(singular),
        "plural": answered.shares(~singular),
    }
    for source in SOURCES:
        made[f"singular_{source}"] = answered.shares(singular & (sources == source))
    if generic is not None:
        other = Referents.of(*generic, None, schemas)
        made["generic_singular"] = other.shares(other.numbers == 0)
    return made


def _ratios(answered: Referents, generic: Referents | None) -> Block:
    """Compare the accuracies on all sources with each other.

    Returns:
        ``less_likely_than_plural``, 1 - singular / plural (section 4.1);
        ``generic_to_personal``, generic / personal singular (section 4.2), None without answers to
        ``generic``; both None where they would divide by 0, with their ``interval``.
    """
    places = answered.places(answered.everything)
    right, n = places.accuracy
    singular, plural = (right[:1], n[:1]), (right[1:], n[1:])
    less = quotient_interval(singular, plural)
    found = {
        "less_likely_than_plural": Estimate(
            1 - less.estimate, 1 - less.high, 1 - less.low, less.units
        )
    }
    more = less.undefined()
    if generic is not None:
        right, n = generic.places(generic.everything).accuracy
        more = quotient_interval((right[:1], n[:1]), singular)
    rows = int(answered.places(answered.everything).n.sum())
    return estimate_blocks(found | {"generic_to_personal": more}, n=[rows])[0]
