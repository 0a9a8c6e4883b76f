"""RUFF's tables beyond its measures: choices without context, tests, errors and margins."""

from collections.abc import Iterator, Mapping

from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.table import UNDEFINED, Cell, Score, Table, p_value, percent, table
from pronominal.pronouns import PRONOUN_SETS

WELCH = (
    "Of the accuracies, in percentage points; in brackets p of Welch's t-test over the three "
    "samples, not corrected (RUFF, section 4.3)."
)


def tables(scores: Mapping[str, Scores]) -> Iterator[Table]:
    """Compare what was chosen without context, pronoun sets, why answers are wrong, and margins."""
    if context_free := _with(scores, "context_free"):
        title = "RUFF: forms chosen without context"
        yield table(title, _context_free(context_free), context_free, [])
    if tested := _with(scores, "tests"):
        title = "RUFF: differences between pronoun sets"
        yield table(title, _tests(tested), tested, [WELCH])
    if errors := _with(scores, "errors"):
        notes = [
            "Ambiguous: the distractors' set is the one chosen without context.",
            "Distraction, bias and other: shares of the other errors.",
        ]
        yield table("RUFF: errors", _errors(), errors, notes)
    if margins := _with(scores, "margins"):
        notes = ["Rows whose best two options are closer than so many nats may turn by rounding."]
        yield table("RUFF: margins", _margins(margins), margins, notes)


def _with(scores: Mapping[str, Scores], key: str) -> dict[str, Scores]:
    return {system: one for system, one in scores.items() if one.get(key)}


def _context_free(scores: Mapping[str, Scores]) -> dict[str, Cell]:
    known = [pronouns.name for pronouns in PRONOUN_SETS]
    first = next(iter(scores.values()))["context_free"]
    names = [name for name in first if name not in (*known, "n", "by_case")]
    return {name: _count("context_free", name) for name in ("n", *known, *names)}


def _tests(scores: Mapping[str, Scores]) -> dict[str, Cell]:
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


def _margins(scores: Mapping[str, Scores]) -> dict[str, Cell]:
    noise = next(iter(scores.values()))["margins"]["within"]
    columns: dict[str, Cell] = {"median": lambda s: f"{s['margins']['median']:.2f}"}
    return columns | {f"below {name}": _within(name) for name in noise}


def _count(block: str, name: str) -> Cell:
    return lambda s: f"{s[block].get(name, 0):,}"


def _share(block: str, name: str) -> Cell:
    return lambda s: percent(s[block][name])


def _within(name: str) -> Cell:
    return lambda s: f"{s['margins']['within'][name]:,}"
