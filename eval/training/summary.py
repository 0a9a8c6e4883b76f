"""What the seeds of a training have in common: counts, and figures with spread."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pronominal.eval.tables.table import UNDEFINED, percent
from pronominal.eval.training.measures.figures import over_seeds
from pronominal.eval.training.seed_folder import read_training
from pronominal.json_files import write_json

OVER_SEEDS = "'pronominal train compare' has that of the difference of two trainings"
"""Why a mean over seeds has no interval."""

TAKES = {
    "balanced accuracy": "it takes answered rows whose first mention is right, and others",
    "balanced correct": "it takes rows whose first mention is right, and others",
}
"""Figure -> why there may be none."""


def summarise(out: Path, identity: Mapping[str, Any], tests: Mapping[str, str]) -> dict[str, Any]:
    """Write ``OUT/summary.json`` about the seeds that are done, whichever commands trained them.

    `tests` are the digests of the test rows by config, where there are any: a seed that was tested
    on other rows, or on none, gives no scores.
    """
    trainings = [read_training(path) for path in out.glob("seed-*")]
    done = [one for one in trainings if one["complete"] and identity.items() <= one.items()]
    done.sort(key=lambda one: one["seed"])
    tested_on = tests or done[0].get("tests", {})
    summary = {
        **identity,
        "seeds": [one["seed"] for one in done],
        "counts": done[0]["counts"],
        "validation": over_seeds([one["outcome"]["validation"] for one in done]),
        "scores": over_seeds([one["scores"] for one in done if one.get("tests", {}) == tested_on]),
        "interval_missing": OVER_SEEDS,
    }
    write_json(out / "summary.json", summary)
    return summary


def counted(counts: Mapping[str, int]) -> str:
    """Say in words how much was learnt, stopped by and left out."""
    if "train_documents" in counts:
        learnt = (
            f"{counts['train_documents']:,} documents, {counts['train_rows']:,} rows among their "
            "sources, "
        )
    else:
        learnt = (
            f"{counts['train_instances']:,} instances from {counts['train_rows']:,} rows, stopped "
            f"by {counts['validation_instances']:,} of {counts['validation_rows']:,} rows; "
        )
    return f"{learnt}{counts['left_out']:,} left out"


def summary_rows(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield what was measured on what, with mean and standard deviation in percent."""
    validation = summary["validation"]
    blocks = {"validation": validation} if "n" in validation else {}
    blocks |= {f"validation {k}": v for k, v in validation.items() if not blocks}
    blocks |= {f"test {k}": v for k, v in summary["scores"].get("as_given", {}).items()}
    for name, block in blocks.items():
        count = block.get("n", block.get("pairs"))
        measured_on = f"{name} ({count['mean']:,.0f})" if count else name
        for figure, spread in block.items():
            if "f1" in spread:  # recall, precision and F1 of one score
                figure, spread = f"{figure} F1", spread["f1"]
            if figure not in ("n", "pairs"):
                figures = percent(spread["mean"]), percent(spread["sd"])
                yield (measured_on, figure.replace("_", " "), *figures)


def summary_notes(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
    """Say why `summary_rows` have no intervals, and what has no figure."""
    yield f"No interval for mean: {OVER_SEEDS}."
    shown = [*rows]
    for measured_on, figure, mean, _ in shown:
        if mean == UNDEFINED:
            why = TAKES.get(figure, "no row or pair there counts in it")
            yield f"No {figure} on {measured_on}: {why}."
    if any(sd == UNDEFINED != mean for _, _, mean, sd in shown):
        yield "No sd: it takes several seeds (--seeds)."
