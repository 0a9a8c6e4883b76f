"""What a submission may hold: the files of a run, in which no prediction quotes a text."""

from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from pronominal.eval.planning.plan import KEPT
from pronominal.eval.runs.failures import FAILURES
from pronominal.eval.runs.predictions import PREDICTIONS, read_predictions
from pronominal.eval.runs.record import RUN
from pronominal.eval.runs.units import SCORE, UNITS

OF_A_RUN = (RUN, PREDICTIONS, SCORE, UNITS, FAILURES, f"{KEPT}*.json")
BESIDE = ("README*", "LICENSE*", ".gitignore", ".gitattributes")
"""What may lie in the folders above runs, too."""

LOGS = {
    "*.eval": "inspect",
    "samples_*.jsonl": "lm-evaluation-harness",
    "details_*.parquet": "lighteval",
}
"""How logs are called that hold the rows' sentences, and whose they are."""

NAMED = 10
"""How many files of no run are named."""

TEXTS = ("generation", "prompt", "chain", "generation_thought", "chain_thought", "text")
"""Fields of a prediction that hold text."""

MOST_WORDS = 4
"""Words of a string in a prediction that is no text: names of prompts and reasons have a few."""


def foreign_files(folder: Path, runs: Collection[Path]) -> Iterator[str]:
    """Yield what is wrong with the files that are of no run, as far as `NAMED` of them."""
    files = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    foreign = [file for file in files if not file.is_dir() and not _is_ours(file, folder, runs)]
    for file in foreign[:NAMED]:
        name = file.relative_to(folder) if file != folder else file.name
        whose = next((whose for kind, whose in LOGS.items() if fnmatch(file.name, kind)), None)
        if whose is None:
            yield f"{name} is no file of a run: delete it"
        else:
            log = f"a log of {whose}, which holds the rows' sentences"
            yield f"{name} is {log}: submit the run that 'pronominal import' makes of it"
    if (more := len(foreign) - NAMED) > 0:
        yield f"{more:,} further files are of no run: delete them"


def _is_ours(file: Path, folder: Path, runs: Collection[Path]) -> bool:
    names = (*OF_A_RUN, *BESIDE) if file.parent in runs else BESIDE
    of_git = ".git" in file.relative_to(folder).parts
    return of_git or any(fnmatch(file.name, name) for name in names)


def text_faults(run: Path) -> Iterator[str]:
    """Yield the first prediction of a run that quotes a text; `InputError` where one is damaged."""
    for number, prediction in read_predictions(run):
        if (name := _text_in(prediction.given)) is not None:
            file = run / PREDICTIONS
            yield f"{file}, line {number}: {name} holds text: run it without --include-text"
            return


def _text_in(given: Any, name: str = "") -> str | None:
    """Return the name of the field that holds a text; None where none does."""
    if isinstance(given, dict):
        there = (key if key in TEXTS else _text_in(one, key) for key, one in given.items())
        return next(filter(None, there), None)
    if isinstance(given, list):
        return next(filter(None, (_text_in(one, name) for one in given)), None)
    return name if isinstance(given, str) and len(given.split()) > MOST_WORDS else None
