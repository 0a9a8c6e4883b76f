"""What the seeds of a training have in common: counts, and figures with spread."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pronominal.eval.training.figures import over_seeds
from pronominal.eval.training.seed_folder import read_training
from pronominal.json_files import write_json

SUMMARY = "summary.json"


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
