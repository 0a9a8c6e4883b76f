"""RUFF's scores as tables: accuracy by form, its differences, reasons of errors, and margins."""

from collections.abc import Mapping
from typing import Any

from pronominal.eval.scores.prompts import prompt_tables
from pronominal.eval.statistics.paired_tests import p_value, paired_test_tables
from pronominal.eval.tables.table import UNDEFINED, Cell, Score, Table, percent, table
from pronominal.pronouns import CASES, PRONOUN_SETS

CHANCE = "Chance is 25.0 with four forms; people reach 99.8 (RUFF, section 3.3)."
MEANS = "±: sample standard deviation over the paper's three samples."
WELCH = (
    "Of the accuracies, in percentage points; in brackets p of Welch's t-test over the three "
    "samples, not corrected (RUFF, section 4.3)."
)


def tables(scores: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Compare systems: accuracy, what was chosen without context, and why answers are wrong."""
    found = []
    scored = {name: one for name, one in scores.items() if "accuracy" in one}
    if scored:
        deviate = any(one["sd"] is not None for one in scored.values())
        notes = [CHANCE, MEANS] if deviate else [CHANCE]
        found.append(table("RUFF: accuracy", _accuracy(scored), scored, notes))
    baseline = {name: one for name, one in scores.items() if "context_free" in one}
    if baseline:
        title = "RUFF: forms chosen without context"
        found.append(table(title, _context_free(baseline), baseline, []))
    tested = {name: one for name, one in scored.items() if one.get("tests")}
    if tested:
        title = "RUFF: differences between pronoun sets"
        found.append(table(title, _tests(tested), tested, [WELCH]))
    errors = {name: one for name, one in scored.items() if "errors" in one}
    if errors:
        notes = [
            "Ambiguous: the distractors' set is the one chosen without context.",
            "Distraction, bias and other: shares of the other errors.",
        ]
        found.append(table("RUFF: errors", _errors(), errors, notes))
    margins = {name: one for name, one in scored.items() if "margins" in one}
    if margins:
        notes = ["Rows whose best two options are closer than so many nats may turn by rounding."]
        found.append(table("RUFF: margins", _margins(margins), margins, notes))
    return [*found, *prompt_tables(scores), *paired_test_tables(scores)]


def _accuracy(scores: Mapping[str, Score]) -> dict[str, Cell]:
    columns: dict[str, Cell] = {
        "n": lambda s: f"{s['n']:,}",
        "Accuracy": _with_deviation,
        "none": lambda s: percent(s["none"]),
        "both": lambda s: percent(s["both"]),
    }
    first = next(iter(scores.values()))
    columns |= {name: _part("by_pronoun_set", name) for name in first["by_pronoun_set"]}
    columns |= {case: _part("by_case", case) for case in CASES}
    if any("test" in one for one in scores.values()):
        columns["all rows"] = lambda s: percent(s["test"]["accuracy"]) if "test" in s else UNDEFINED
    return columns


def _part(split: str, name: str) -> Cell:
    return lambda s: _with_deviation(s[split][name]) if name in s[split] else UNDEFINED


def _with_deviation(block: Score) -> str:
    deviation = "" if block["sd"] is None else f" ±{percent(block['sd'])}"
    return f"{percent(block['accuracy'])}{deviation}"


def _context_free(scores: Mapping[str, Score]) -> dict[str, Cell]:
    known = [pronouns.name for pronouns in PRONOUN_SETS]
    first = next(iter(scores.values()))["context_free"]
    names = [name for name in first if name not in (*known, "n", "by_case")]
    return {name: _count("context_free", name) for name in ("n", *known, *names)}


def _tests(scores: Mapping[str, Score]) -> dict[str, Cell]:
    pairs = dict.fromkeys(pair for score in scores.values() for pair in score["tests"])
    return {pair: _test(pair) for pair in pairs}


def _test(pair: str) -> Cell:
    def cell(score: Score) -> str:
        test = score["tests"].get(pair)
        if test is None:
            return UNDEFINED
        return f"{100 * test['difference']:+.1f} ({p_value(test['p'])})"

    return cell


def _errors() -> dict[str, Cell]:
    counts = {name: _count("errors", name) for name in ("n", "ambiguous")}
    return counts | {name: _share("errors", name) for name in ("distraction", "bias", "other")}


def _margins(scores: Mapping[str, Score]) -> dict[str, Cell]:
    noise = next(iter(scores.values()))["margins"]["within"]
    columns: dict[str, Cell] = {"median": lambda s: f"{s['margins']['median']:.2f}"}
    return columns | {f"below {name}": _within(name) for name in noise}


def _count(block: str, name: str) -> Cell:
    return lambda s: f"{s[block].get(name, 0):,}"


def _share(block: str, name: str) -> Cell:
    return lambda s: percent(s[block][name])


def _within(name: str) -> Cell:
    return lambda s: f"{s['margins']['within'][name]:,}"
