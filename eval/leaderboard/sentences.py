"""What the pages say of boards and entries: which is best, what its figures are, what was run."""

import re
from collections.abc import Iterator
from dataclasses import replace

from pronominal.eval.leaderboard.boards import BY_SIGNS, Board
from pronominal.eval.leaderboard.entries import Entry, Ranked
from pronominal.eval.runs.record import RunRecord
from pronominal.eval.tables.comparison import mark_notes, parts_of
from pronominal.eval.tables.findings import listed
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.table import UNDEFINED

INTERVALS = "[ ]: 95 % interval over {}."
"""What brackets are, by the units in words."""


def answer_of(board: Board) -> str:
    """Say which system of a board is the best one, or between which that is open."""
    if not board.ranked:
        return "No run yet: the figures are those of the papers."
    leaders, measure = board.leaders, board.headline.name
    if len(board.ranked) == 1:
        return f"{leaders[0]} is the only run, with {measure} {_cell(board, 0)}."
    if len(leaders) == 1:
        of = "every other run" if len(board.ranked) > 2 else board.ranked[1].entry.name
        figure = f"{measure} {_cell(board, 0)}{_ahead(board)}"
        return f"{leaders[0]} is better than {of}, beyond chance: {figure}."
    if len(leaders) == len(board.ranked):
        return f"No run is better than all others beyond chance: {listed(leaders)} may each lead."
    return f"{listed(leaders)} may each be the best: no difference between them is clear."


def _cell(board: Board, place: int) -> str:
    return board.ranked[place].entry.cell(board.headline)


def _ahead(board: Board) -> str:
    """Say by how much the first run is ahead of the second one."""
    test = board.ahead
    if test is None or test.difference is None or (ends := test.interval["difference"]) is None:
        return ""
    points = ", ".join(f"{100 * end:.1f}" for end in ends)
    second = board.ranked[1].entry.name
    return f", {100 * test.difference:.1f} points [{points}] more than {second}"


def place_of(board: Board, one: Ranked) -> str:
    """Say which places a run may have."""
    if one.rank is None:
        return "The only run of its board."
    best, worst = one.places
    where = f"Place {best}" if best == worst else f"Place {best} to {worst}"
    return f"{where} of {len(board.ranked)}, by {board.headline.name}."


def notes_of(board: Board) -> Iterator[str]:
    """Say what the figures of a board are."""
    shown = board.measures
    runs = [one.entry.scores for one in board.ranked]
    if board.ranked:
        first = board.ranked[0].entry.run
        assert first is not None
        yield f"{first.dataset.rows:,} rows; {INTERVALS.format(board.task.units)}"
        test = "by paired t-tests" if len(runs) > BY_SIGNS else "as in reports"
        yield (
            f"Places by {board.headline.name}: every two runs are compared on the same units, "
            f"{test}, and corrected for all pairs."
        )
        yield "Weakest: the part of the rows with the lowest figure, where that is clear."
        yield "Source: how the SHA-256 of the run's predictions.jsonl begins."
    if board.published:
        yield "Published rows stand below the runs; a click on a heading sorts all of them."
    yield from dict.fromkeys(measure.note for measure in shown if measure.note)
    yield from dict.fromkeys(mark_notes(shown, runs))


def notes_on(board: Board, entry: Entry) -> Iterator[str]:
    """Say what stands beside the figures of a run on its own page."""
    if entry.run is not None:
        parts = (measure for _, measure in parts_with_figures(board, entry))
        yield INTERVALS.format(board.task.units)
        yield from dict.fromkeys(mark_notes([*board.measures, *parts], [entry.scores]))
    yield from entry.notes


def parts_with_figures(board: Board, entry: Entry) -> Iterator[tuple[str, Measure]]:
    """Yield the headline of each part of the rows for which there is a chart, such as a case."""
    headline = board.headline
    for division in headline.chart_divisions:
        if "/" not in division:
            for (part,), path in parts_of(headline, division, [entry.scores]):
                yield f"{division.replace('_', ' ')} {part}", replace(headline, path=path)


def weakest_of(board: Board, entry: Entry) -> str:
    """Name the part of the rows with the lowest headline, if it is clearly below the whole."""
    whole = entry.value(board.headline)
    found = {}
    for name, measure in parts_with_figures(board, entry):
        figure = measure.of(entry.scores)
        if figure is not None and figure.high is not None and figure.high < (whole or 0):
            found[figure.value, name] = measure
    if not found:
        return UNDEFINED
    (_, name), measure = min(found.items(), key=lambda one: one[0])
    return f"{name}: {entry.cell(measure)}"


def facts_of(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield what was run, and what tells this run from others."""
    run = entry.run
    assert run is not None
    assert run.predictions is not None
    settings = [f"{key} = {_public(value)}" for key, value in {**run.settings, **run.seeds}.items()]
    yield "System", run.system.name
    yield "Weights", weights_of(run)
    yield "Digest of the weights", run.checkpoint or UNDEFINED
    yield "Digest of the rows", run.dataset.digest
    yield "Digest of the predictions", run.predictions.sha256
    yield "Settings", ", ".join(settings) or UNDEFINED
    yield "Computed in", ", ".join(filter(None, (run.dtype, run.device, run.engine))) or UNDEFINED
    yield "Versions", ", ".join(f"{name} {number}" for name, number in run.versions.items())
    yield "Finished", run.times.finished or UNDEFINED


def weights_of(run: RunRecord) -> str:
    """Name the weights and the commit of the Hub that they are of."""
    commit = f"@{run.revision[:8]}" if run.revision else ""
    return f"{_public(run.checkpoint_name)}{commit}" if run.checkpoint_name else UNDEFINED


def _public(value: object) -> str:
    """Write a setting; of a place on somebody's machine only the last part.

    >>> _public("/home/ann/weights"), _public("ORG/MODEL"), _public(7)
    ('weights', 'ORG/MODEL', '7')
    """
    written = str(value).rstrip("/\\")
    parts = re.split(r"[/\\]", written)
    local = len(parts) > 2 or written.startswith((".", "~", "/", "\\"))
    return parts[-1] if local and "://" not in written else written
