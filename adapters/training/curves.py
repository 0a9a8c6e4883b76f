"""Learning curves: one JSON object a line, and a picture of them."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pronominal.adapters.training.state import writing
from pronominal.atomic import new_file
from pronominal.json_files import as_record, parse_object

WINDOW = 50
"""Updates over which the picture averages the loss."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the picture takes of a point."""

    update: int
    loss: float = 0.0
    validation: float = 0.0


class Curves:
    """The learning curves of one training, on disk.

    Args:
        path: the JSONL file; lines after `update` are of a training that was killed and go.
        update: number of updates that are done.
    """

    def __init__(self, path: Path, update: int) -> None:
        self.path = path
        kept = [point for point in read_curves(path) if point["update"] <= update]
        with new_file(path) as beside:
            beside.write_text(
                "".join(json.dumps(point) + "\n" for point in kept), "utf-8", newline="\n"
            )
        self._lines = path.open("a", encoding="utf-8", newline="\n")

    def add(self, update: int, **values: Any) -> None:
        """Add a point."""
        self._lines.write(json.dumps({"update": update, **values}) + "\n")

    def flush(self) -> None:
        """Make sure that all points are on disk."""
        with writing(self.path):
            self._lines.flush()
            os.fsync(self._lines.fileno())

    def close(self) -> None:
        """Close the file."""
        with writing(self.path):
            self._lines.close()


def read_curves(path: Path) -> list[dict[str, Any]]:
    """Return the points of a file of curves; a line that was cut off by a kill is left out."""
    if not path.exists():
        return []
    points = []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        if line.endswith(b"\n"):
            row, cure = f"line {number}", "remove the training's folder to begin again"
            point = parse_object(line, file=path, row=row, cure=cure)
            as_record(Drawn, point, file=path, row=row, cure=cure)
            points.append(point)
    return points


def draw_curves(points: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """Draw loss and validation score over the updates into an ``.svg`` or ``.png`` file."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    updates = [point["update"] for point in points if "loss" in point]
    losses = [point["loss"] for point in points if "loss" in point]
    scores = [(point["update"], point["validation"]) for point in points if "validation" in point]
    figure = Figure(figsize=(7, 4), layout="constrained")
    left = figure.add_subplot(title=title, xlabel="updates", ylabel="training loss")
    ends = range(1, len(losses) + 1)
    smooth = [fmean(losses[max(0, end - WINDOW) : end]) for end in ends]
    left.plot(updates, smooth, color="tab:blue")
    if scores:
        right = left.twinx()
        right.plot(*zip(*scores, strict=True), "o-", color="tab:orange")
        right.set_ylabel("validation score")
    # matplotlib would write the time and random ids, and no two pictures would be equal
    undated = {"Date": None} if path.suffix == ".svg" else {}
    with new_file(path) as beside, rc_context({"svg.hashsalt": "pronominal"}):
        figure.savefig(beside, format=path.suffix[1:], metadata=undated)
