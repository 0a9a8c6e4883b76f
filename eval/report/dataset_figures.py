"""Which charts each dataset's scores become: those for which they have blocks."""

from collections.abc import Iterator, Mapping
from typing import Any

from pronominal.eval.report import charts
from pronominal.eval.report.charts import Point
from pronominal.eval.report.figures import (
    DASHED,
    Figure,
    Keys,
    Scores,
    bar_figure,
    dot_figure,
    legend,
    notes_of,
    point,
    sizes,
    written,
)
from pronominal.eval.tables.table import Score, Table, percent

CHANCE = {"ruff": 0.25, "gap": None}
"""Dataset -> accuracy of a coin; one half for those that are not here."""

OUTCOMES = ("correct", "incorrect", "none", "both")
ERRORS = ("distraction", "bias", "other")
PROMPTED = {
    "prompts": "Accuracy over prompts",
    "chains": "With chains of thought",
    "multiple_choice": "Accuracy over prompts, of the likeliest option",
}
ANSWERS = ("individual", "group", "elsewhere", "unresolved", "neither", "both")


def figures(dataset: str, scores: Scores) -> Iterator[Figure]:
    """Draw what the scores of the systems on one split hold."""
    chance = CHANCE.get(dataset, 0.5)
    yield from _by_form(scores, chance)
    yield from _consistencies(scores)
    yield from _knowref(scores, chance)
    yield from _genders(scores)
    yield from _winonb(scores)
    yield from _errors(scores)
    yield from _prompts(scores)
    yield from _readings(scores)


def curves(split: str, scores: Mapping[str, Scores]) -> Iterator[Figure]:
    """Draw RUFF's accuracy over the number of distractors (Gautam et al., 2024, Figures 5 and 6).

    Args:
        split: of the configs.
        scores: config -> system -> scores.
    """
    configs = sorted(config for config in scores if config.startswith("distractors_"))
    if len(configs) < 2:
        return
    places = [config.rpartition("_")[2] for config in configs]
    systems = dict.fromkeys(system for config in configs for system in scores[config])
    first = next(iter(scores[configs[0]].values()))
    panels: dict[str, Keys] = {"all pronouns": ("accuracy",)}
    panels |= {name: ("by_pronoun_set", name, "accuracy") for name in first["by_pronoun_set"]}
    rows = {
        name: {
            s: [point(scores[c].get(s, {}), path, f"{s}, {c}") for c in configs] for s in systems
        }
        for name, path in panels.items()
    }
    cells = [
        (system, name, *map(written, points[system]))
        for name, points in rows.items()
        for system in systems
    ]
    title = f"Accuracy over the number of distractors, {split}"
    notes = (*sizes(rows), DASHED, *notes_of(first))
    table = Table(title, ("System", "Pronoun", *places), tuple(cells), notes)
    chance = CHANCE["ruff"] or 0.0
    drawn = tuple(
        ((), charts.curves(name, places, points, chance=chance)) for name, points in rows.items()
    )
    yield Figure(f"distractors.{split}", drawn, legend(list(systems), "s"), table)


def _by_form(scores: Scores, chance: float | None) -> Iterator[Figure]:
    """Draw accuracy by grammatical case and pronoun set, as WinoPron's Figure 3 does."""
    forms = dict.fromkeys(f for score in scores.values() for f in score.get("by_form", {}))
    crossed: dict[str, dict[str, Keys]] = {}
    for form in forms:
        case, _, pronoun_set = form.partition("/")
        crossed.setdefault(case, {})[pronoun_set] = ("by_form", form, "accuracy")
    title = "Accuracy by grammatical case with each pronoun set"
    yield from dot_figure("by-form", title, scores, crossed, chance)
    divided = {
        name: {name: (division, name, "accuracy")}
        for division in ("by_case", "by_pronoun_set")
        for score in scores.values()
        for name in score.get(division, {})
    }
    title = "Accuracy by grammatical case, and by pronoun set"
    yield from dot_figure("by-case-and-set", title, scores, divided, chance)


def _consistencies(scores: Scores) -> Iterator[Figure]:
    names = {
        "Right with every pronoun set": "pronoun_consistency",
        "Right in both sentences of a pair": "disambiguation_consistency",
    }
    panels = {heading: {heading: (name, "score")} for heading, name in names.items()}
    chance = {
        heading: block["chance"]
        for heading, name in names.items()
        for score in scores.values()
        if (block := score.get(name)) and block.get("groups")
    }
    title = "Consistent groups of sentences (WinoPron, section 4.3)"
    yield from dot_figure("consistency", title, scores, panels, chance)


def _knowref(scores: Scores, chance: float | None) -> Iterator[Figure]:
    if not any("task_specific_accuracy" in score for score in scores.values()):
        return
    versions: dict[str, Keys] = {"original": ()}
    if any("switched" in score for score in scores.values()):
        versions["switched"] = ("switched",)
    yield from bar_figure("outcomes", "What the answers were", scores, versions, OUTCOMES)
    pairs = {
        "Same choice, switched": {"": ("consistency", "score")},
        "Right in both versions": {"": ("consistency", "consistently_correct")},
    }
    title = "Consistency under antecedent switching, in percent of the pairs"
    yield from dot_figure("switching", title, scores, pairs)
    kinds = {
        f"{division.rpartition('_')[2]} {name}": {"": (division, name, "task_specific_accuracy")}
        for division in ("by_pronoun_gender", "by_right_mention", "by_length")
        for score in scores.values()
        for name in score.get(division, {})
        if name != "no_order"
    }
    title = "Task-specific accuracy by kind of row, with intervals"
    yield from dot_figure("kinds", title, scores, kinds, chance)


def _genders(scores: Scores) -> Iterator[Figure]:
    if any("masculine" in score for score in scores.values()):
        blocks = ("overall", "masculine", "feminine")
        panels = {name: {"": (name, "f1")} for name in blocks}
        yield from dot_figure("genders", "F1 by gender of the pronoun", scores, panels)


def _winonb(scores: Scores) -> Iterator[Figure]:
    """Draw accuracy by source and by association, and where the answers went."""
    for division, kind in (("by_source", "source"), ("by_association", "association")):
        found: dict[str, dict[str, Keys]] = {}
        for score in scores.values():
            for name, block in score.get(division, {}).items():
                for number, inner in block.items():
                    if isinstance(inner, Mapping) and inner.get("n") and "accuracy" in inner:
                        found.setdefault(name, {})[number] = (division, name, number, "accuracy")
            if division == "by_source" and "generic" in score:
                for name, block in score["generic"]["by_source"].items():
                    if block["singular"]["n"]:
                        path = ("generic", "by_source", name, "singular", "accuracy")
                        found.setdefault(name, {})["generic singular"] = path
        title = f"Accuracy on each kind of they, by {kind}"
        yield from dot_figure(f"by-{kind}", title, scores, found)
        if division == "by_source" and "all" in found:
            answers = {number: path[:-1] for number, path in found["all"].items()}
            once = {system: _in_parts(score) for system, score in scores.items()}
            yield from bar_figure("answers", "Where the answers went", once, answers, ANSWERS)


def _in_parts(score: Score) -> Score:
    """Leave out ``neither`` where its parts, ``elsewhere`` and ``unresolved``, are known."""
    answers = {
        number: {k: v for k, v in block.items() if k != "neither" or block.get("elsewhere") is None}
        for number, block in score["by_source"]["all"].items()
    }
    return {**score, "by_source": {**score["by_source"], "all": answers}}


def _errors(scores: Scores) -> Iterator[Figure]:
    there = {system: score for system, score in scores.items() if "errors" in score}
    title = "Why answers are wrong, in percent of the unambiguous errors"
    yield from bar_figure("errors", title, there, {"errors": ("errors",)}, ERRORS)


def _prompts(scores: Scores) -> Iterator[Figure]:
    for kind, title in PROMPTED.items():
        there = {system: score for system, score in scores.items() if kind in score}
        if not there:
            continue
        rows = {
            system: [
                point(score, (kind, "by_prompt", prompt, "accuracy"), f"{system}, prompt {prompt}")
                for prompt in score[kind]["by_prompt"]
            ]
            for system, score in there.items()
        }
        names = ("accuracy", "sd", "lowest", "highest")
        cells = ((s, *(percent(score[kind][name]) for name in names)) for s, score in there.items())
        notes = (
            "Each dot is a prompt; the box holds the middle half of them, its line is the median.",
            "sd: sample standard deviation over the prompts.",
            *sizes({title: rows}),
        )
        table = Table(title, ("System", "Mean", "sd", "Lowest", "Highest"), tuple(cells), notes)
        yield Figure(kind, (((), charts.boxes("Accuracy", rows)),), (), table)


def _readings(scores: Scores) -> Iterator[Figure]:
    """Draw how many rows hang on how clusters are read."""
    there = {s: score for s, score in scores.items() if score.get("readings_differ") is not None}
    if not there:
        return
    cells, rows = [], {}
    for system, score in there.items():
        n, differing = _rows(score), score["readings_differ"]
        cells.append((system, f"{n:,}", f"{differing:,}"))
        rows[system] = [Point(differing / n, None, f"{system}: {differing:,} of {n:,} rows")]
    notes = ("Rows that the offset reading and upstream's decide differently.",)
    title = "Differences between readings"
    table = Table(title, ("System", "n", "Rows that differ"), tuple(cells), notes)
    yield Figure("readings", (((), charts.dots("Percent of the rows", rows)),), (), table)


def _rows(score: Mapping[str, Any]) -> int:
    """Return how many rows a score is of; WinoNB's counts singular and plural apart."""
    if "by_source" in score:
        return sum(int(block["n"]) for block in score["by_source"]["all"].values())
    return int(score["n"] if "n" in score else score["overall"]["n"])
