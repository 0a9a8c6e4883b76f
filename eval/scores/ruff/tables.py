"""RUFF's tables beyond its measures: choices without context, tests, errors and margins."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.paired_tests import Tests, tests_table
from pronominal.eval.tables.table import (
    Cell,
    Score,
    Table,
    count_of,
    interval_notes,
    p_value,
    share_of,
    table,
)
from pronominal.pronouns import PRONOUN_SETS

WELCH = (
    "p (Welch): of the t-test over the three samples, not corrected (RUFF, section 4.3). It is "
    "about these tasks and other contexts for them, not about other tasks."
)


def tables(scores: Mapping[str, Scores]) -> Iterator[Table]:
    """Compare what was chosen without context, pronoun sets, why answers are wrong, and margins."""
    if context_free := _with(scores, "context_free"):
        known = [pronouns.name for pronouns in PRONOUN_SETS]
        further = [name for name in next(iter(context_free.values())) if name != "by_case"]
        columns = {name: count_of(name) for name in dict.fromkeys(("n", *known, *further))}
        yield table("RUFF: forms chosen without context", columns, context_free, [])
    if tested := _with(scores, "tests"):
        yield _tests(tested)
    if errors := _with(scores, "errors"):
        columns = {name: count_of(name) for name in ("n", "ambiguous")}
        columns |= {name: share_of(name) for name in ("distraction", "bias", "other")}
        notes = [
            "Ambiguous: the distractors' set is the one chosen without context.",
            "Distraction, bias and other: shares of the other errors.",
            *interval_notes(scores.values()),
        ]
        yield table("RUFF: errors", columns, errors, notes)
    if margins := _with(scores, "margins"):
        noise = next(iter(margins.values()))["within"]
        columns = {"median": lambda block: f"{block['median']:.2f}"}
        columns |= {f"below {name}": _within(name) for name in noise}
        notes = [
            "Rows whose best two options are closer than so many nats may turn by rounding.",
            "No interval for median: it is in nats, of these rows alone.",
        ]
        yield table("RUFF: margins", columns, margins, notes)


def _with(scores: Mapping[str, Scores], key: str) -> dict[str, Score]:
    """Return a block of the scores by system, of those that have it."""
    return {system: one[key] for system, one in scores.items() if one.get(key)}


def _tests(tested: Mapping[str, Score]) -> Table:
    """Show the tests between pronoun sets, and Welch's beside them where there are samples."""
    rows: Tests = {
        (system, pair): test for system, of in tested.items() for pair, test in of.items()
    }
    title, family = "RUFF: differences between pronoun sets", "a system's pairs of sets"
    made = tests_table(title, ("System", "Sets"), rows, family)
    if not any("welch" in test for test in rows.values()):
        return made
    welch = (p_value(test.get("welch", {}).get("p")) for test in rows.values())
    return replace(
        made,
        columns=(*made.columns, "p (Welch)"),
        rows=tuple((*row, p) for row, p in zip(made.rows, welch, strict=True)),
        notes=(*made.notes, WELCH),
    )


def _within(name: str) -> Cell:
    return lambda block: f"{block['within'][name]:,}"
