"""A leaderboard without a server: static pages made from runs, and checks of submitted runs."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pronominal.eval.leaderboard.boards import leaderboards
from pronominal.eval.leaderboard.site import Site, refuse_other_folder
from pronominal.eval.leaderboard.submissions import read_submissions
from pronominal.eval.task import Task
from pronominal.opaque_ids import IdKey


def write_leaderboard(  # noqa: PLR0913 - each one is an option of the command
    runs: Iterable[Path],
    out: Path,
    *,
    name: str = "Pronoun leaderboard",
    datasets: Iterable[str] = (),
    reading: str = "offsets",
    papers: bool = True,
    tasks: Sequence[Task] = (),
    key: Path | None = None,
) -> int:
    """Write the pages of a leaderboard, and count its entries.

    The same runs give the same bytes.

    Args:
        runs: folders of runs, at any depth; one may be empty.
        out: the folder of the pages; an earlier leaderboard there is replaced.
        name: of the leaderboard.
        datasets: built datasets, folders or Hub ids, whose rows are those that count; without
            them, those that most runs answered.
        reading: the decision rule of the runs that are ranked.
        papers: whether the papers' published figures are shown.
        tasks: of a user's own, by which some of the runs were scored.
        key: a file with a key of opaque ids, made where there is none. With it, the answers of
            each run are published under opaque ids.

    Returns:
        How many runs have a place, and published figures a row.

    Raises:
        InputError: a folder is missing, a run is damaged or was changed, two on one board have
            one label, or the folder of the pages holds something else.
    """
    refuse_other_folder(out)
    submitted, unranked = read_submissions(runs, tasks)
    boards = leaderboards(
        submitted, unranked, tasks=tasks, datasets=datasets, reading=reading, papers=papers
    )
    site = Site(name, boards)
    site.write(out, None if key is None else IdKey.read_or_make(key))
    return sum(len(board.entries) for board in site.boards)


__all__ = ["write_leaderboard"]
