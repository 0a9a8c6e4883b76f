"""Where WinoNB's unresolved pronouns went: into a cluster with something else, or into none."""

from pathlib import Path
from typing import Any

import numpy as np

from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.runs.predictions import predictions_file, read_lines


def options_of(split: Split, predictions: Path) -> dict[str, Any]:
    """Return which pronouns are in a cluster, ``clustered``; None where lines have no clusters.

    Args:
        split: the rows.
        predictions: a predictions file, or the folder of a run.
    """
    if not predictions_file(predictions).exists():
        return {}  # whoever reads the decisions says so
    pronouns = [[p["start"], p["end"]] for p in split.table["pronoun"].to_pylist()]
    places = {name: row for row, name in enumerate(split.table["id"].to_pylist())}
    clustered = np.zeros(len(places), dtype=np.bool_)
    for _, fields in read_lines(predictions):
        try:
            row, clusters = places[fields["id"]], fields["clusters"]
            clustered[row] = any(
                pronouns[row] in cluster and len(cluster) > 1 for cluster in clusters
            )
        except (KeyError, TypeError):
            return {}
    return {"clustered": clustered}
