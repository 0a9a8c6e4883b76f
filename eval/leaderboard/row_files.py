"""What each run answered to each row, under opaque ids: published without saying which row."""

import json
from collections.abc import Iterable
from pathlib import Path

from pronominal.eval.leaderboard.boards import Board
from pronominal.eval.runs.predictions import read_predictions
from pronominal.opaque_ids import IdKey


def write_rows(boards: Iterable[Board], folder: Path, key: IdKey) -> None:
    """Write a file of answers for each run, as ``DATASET.CONFIG.SPLIT.LABEL.jsonl``.

    A line has an opaque ``id``, ``choice`` and ``abstained``. Lines are in the order of the opaque
    ids, for that of the rows would tell which is which.
    """
    folder.mkdir()
    for board in boards:
        for one in board.ranked:
            assert one.entry.folder is not None
            name = ".".join((*board.place, one.entry.label))
            lines = {}
            for _, prediction in read_predictions(one.entry.folder):
                opaque, decision = key.opaque(board.place[0], prediction.id), prediction.decision
                answer = {"choice": decision.choice, "abstained": decision.abstained}
                lines[opaque] = json.dumps({"id": opaque, **answer})
            content = "".join(f"{lines[opaque]}\n" for opaque in sorted(lines))
            (folder / f"{name}.jsonl").write_text(content, encoding="utf-8", newline="\n")
