"""What the seeds of a training have in common: rows that were left out, and figures with spread."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pronominal.atomic import new_file
from pronominal.eval.run_store import write_json
from pronominal.eval.training.figures import over_seeds
from pronominal.eval.training.seed_folder import read_training

LEFT_OUT = "left-out.jsonl"
SUMMARY = "summary.json"


class Listed(Protocol):
    """A row that cannot be learnt from, and why."""

    def to_json(self) -> dict[str, Any]:
        """Return what is written of it."""
        ...


def write_left_out(out: Path, rows: Sequence[Listed]) -> None:
    """Write ``OUT/left-out.jsonl``."""
    with new_file(out / LEFT_OUT) as beside:
        lines = [json.dumps(one.to_json()) + "\n" for one in rows]
        beside.write_text("".join(lines), encoding="utf-8")


def summarise(out: Path, identity: Mapping[str, Any], tests: Mapping[str, str]) -> dict[str, Any]:
    """Sum up the seeds of a training that are done, whichever commands trained them.

    Args:
        out: the folder of the seeds; ``summary.json`` is written there.
        identity: what the seeds have in common.
        tests: digests of the test rows by config, where there are any; a seed that was tested on
            other rows, or on none, gives no scores.
    """
    found = [read_training(path) for path in out.glob("seed-*")]
    done = [one for one in found if one["complete"] and identity.items() <= one.items()]
    done.sort(key=lambda one: one["seed"])
    tested_on = tests or done[0].get("tests", {})
    summary = {
        **identity,
        "seeds": [one["seed"] for one in done],
        "counts": done[0]["counts"],
        "validation": over_seeds([one["outcome"]["validation"] for one in done]),
        "scores": over_seeds([one["scores"] for one in done if one.get("tests", {}) == tested_on]),
    }
    write_json(out / SUMMARY, summary)
    return summary
