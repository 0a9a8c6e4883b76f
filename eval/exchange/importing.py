"""What another system has answered, as a run like any other."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pronominal.dataset_scripts.reading.published import Split
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.evaluation import score_and_keep
from pronominal.eval.exchange import exchange_format
from pronominal.eval.exchange.exporting import WITHOUT_CLUSTERS
from pronominal.eval.exchange.matching import Matched, matched
from pronominal.eval.runs.asked_systems import LABEL
from pronominal.eval.runs.description import counts, description, now, run_name
from pronominal.eval.runs.failures import FAILED, Failure
from pronominal.eval.runs.folder import RunFolder
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.runs.readings import reading_called
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster

ELSEWHERE = "import its output again instead"


@dataclass(frozen=True, slots=True)
class ClusteringElsewhere:
    """A coreference system whose output was imported; it cannot be asked anything."""

    name: str

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Raise `InputError`."""
        raise InputError(f"{self.name} was run elsewhere", cure=ELSEWHERE)


@dataclass(frozen=True, slots=True)
class ChoosingElsewhere:
    """A system of whose output only the answers were imported."""

    name: str

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        """Raise `InputError`."""
        raise InputError(f"{self.name} was run elsewhere", cure=ELSEWHERE)


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run that was made of another system's output.

    Attributes:
        path: the run's folder.
        failures: the rows that have no answer.
        left_out: how many documents are about none of the rows.
    """

    path: Path
    failures: list[Failure]
    left_out: int


def import_predictions(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    form: str,
    file: Path,
    out: Path,
    *,
    system: str,
    reading: str = "offsets",
    skip_failed: bool = False,
) -> ImportedRun:
    """Make a run of another system's output, and score it.

    Args:
        split: the rows that it answers, at least.
        form: a key of `pronominal.eval.exchange.FORMATS`.
        file: the output, a file or a folder as the format has it.
        out: the folder of runs, or the folder of this run if it holds a ``run.json``.
        system: what the system is to be called.
        reading: how clusters become a decision, by its name; a format that has answers instead
            of clusters is read as its authors do.
        skip_failed: whether rows whose answer cannot be found or aligned are failures of the run,
            instead of refusing the file.

    Raises:
        InputError: the output is not in the format, or cannot be matched with the rows.
    """
    if not LABEL.fullmatch(system):
        cure = "use letters, digits and any of . _ - + @"
        raise InputError(f"'{system}' cannot be the name of a folder", cure=cure)
    instances = split.instances()
    documents = exchange_format(form).read(file)
    found = matched(instances, documents, file, skip_failed=skip_failed)
    answers = form in WITHOUT_CLUSTERS
    reading = "upstream" if answers else reading
    failures = [Failure(name, cause) for name, cause in found.failed.items()]
    settings: dict[str, object] = {"format": form, "file": _digest(file), "reading": reading}
    settings |= {"skip_failed": True} if skip_failed else {}
    elsewhere = ChoosingElsewhere(system) if answers else ClusteringElsewhere(system)
    folder = RunFolder(
        _run_path(split, system, out), description(split, elsewhere, system, system, settings)
    )
    predictions = [*_predictions(instances, found, reading)]
    folder.open()
    try:
        if not folder.complete:
            _fill(folder, split, predictions, failures)
        score_and_keep(split, folder.path)
    finally:
        folder.close()
    return ImportedRun(folder.path, failures, found.left_out)


def _predictions(
    instances: Sequence[ResolutionInstance], found: Matched, reading: str
) -> Iterator[Prediction]:
    read = reading_called(reading)
    for instance in instances:
        # a row without an answer is in no cluster for a reading that knows the row before
        answer = found.answers.get(instance.id, [])
        if isinstance(answer, Decision):
            yield Prediction(instance.id, answer)
            continue
        decision = read(instance, answer)
        if instance.id in found.answers:
            clusters = [[[*span] for span in cluster] for cluster in answer]
            yield Prediction(instance.id, decision, {"clusters": clusters})


def _fill(
    folder: RunFolder,
    split: Split,
    predictions: Sequence[Prediction],
    failures: Sequence[Failure],
) -> None:
    """Write all predictions at once; what a killed import has left is written anew."""
    started = time.monotonic()
    folder.resume((), split.num_rows, 1)
    folder.append(predictions, failures)
    answered = (one for one in split.stream() if one.id not in folder.failures)
    counted = counts(folder.predictions, answered) | {"rows": split.num_rows}
    counted |= {FAILED: len(failures)} if failures else {}
    seconds = round(time.monotonic() - started, 3)
    times = folder.description["times"] | {"finished": now(), "seconds": seconds}
    folder.describe(times=times, counts=counted, complete=True)


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and bytes of a folder's files."""
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        digest.update(f"{file.name}\0".encode() if path.is_dir() else b"")
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()


def _run_path(split: Split, system: str, out: Path) -> Path:
    if (out / "run.json").exists():
        return out
    return out / run_name(split, system)
