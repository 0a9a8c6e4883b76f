"""The entries of a leaderboard for machines: one object for each."""

from collections.abc import Iterable, Iterator
from typing import Any

from pronominal.eval.leaderboard.boards import Board
from pronominal.eval.leaderboard.entries import Entry, Ranked

OF_PAPERS = "it is the paper's, and nobody has the answers"
"""Why a published figure has no interval."""


def records(boards: Iterable[Board]) -> Iterator[dict[str, Any]]:
    """Yield what is known of each entry: which rows, what was run, figures and place.

    Figures are as in ``score.json``, shares in [0, 1]; what has no interval says why.
    """
    for board in boards:
        for one in board.ranked:
            yield _place(board) | _run(one) | {"figures": _figures(board, one.entry)}
        for entry in board.published:
            paper = {"paper": entry.paper, "tables": [*entry.tables], "system": entry.name}
            told = {"kind": "published", "label": entry.label, **paper}
            yield _place(board) | told | {"figures": _figures(board, entry)}


def _place(board: Board) -> dict[str, Any]:
    dataset, config, split = board.place
    return {"dataset": dataset, "config": config, "split": split, "digest": board.digest}


def _run(one: Ranked) -> dict[str, Any]:
    run = one.entry.run
    assert run is not None
    assert run.predictions is not None
    return {
        "kind": "run",
        "label": run.label,
        "system": run.system.name,
        "checkpoint": run.checkpoint,
        "revision": run.revision,
        "reading": run.settings.get("reading"),
        "rows": run.dataset.rows,
        "failed": run.counts.get("failed", 0),
        "predictions": run.predictions.sha256,
        "versions": dict(run.versions),
        "finished": run.times.finished,
        "place": None if one.rank is None else one.rank,
    }


def _figures(board: Board, entry: Entry) -> dict[str, Any]:
    found = {}
    for measure in board.measures:
        if (figure := measure.of(entry.scores)) is not None:
            interval = None if figure.ends is None else [*figure.ends]
            block: dict[str, Any] = {"value": figure.value, "interval": interval}
            if interval is None:
                block["interval_missing"] = figure.missing if entry.run else OF_PAPERS
            found[measure.key] = block
    return found
