"""Runs a construction on one machine: a process for each shard, every part of it kept on disk.

What a run writes depends on its inputs and rules only: a part is a fixed number of documents, the
parts are put together in order, and duplicates are looked for last, in that order. So any number
of workers gives the same bytes, and a run that was killed goes on behind its last whole part.
"""

import json
import os
import shutil
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import chain, islice
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.atomic import new_file
from pronominal.dataset_scripts.construction.genders import NameGenders, load_names
from pronominal.dataset_scripts.construction.inputs import PIECE, Shard, documents, shards
from pronominal.dataset_scripts.construction.pipeline import Report, construct, stages
from pronominal.dataset_scripts.construction.rejections import Fates, Listing, fates_file
from pronominal.dataset_scripts.construction.rules import PAPER, Rules
from pronominal.dataset_scripts.construction.stage import DOCUMENTS, Stage, strings
from pronominal.dataset_scripts.construction.tagged_phrases import loaded
from pronominal.errors import InputError

BATCH = 2048
"""Documents that go through the stages at a time, at most."""
BATCH_SIZE = 4 << 20
"""Code points of text from which a batch is full, however few its documents."""
PART = 32
"""Batches that are kept together: what a killed run may have to do again."""
NOTE = "construction.json"
"""In the folder of parts: what they are of. Parts without it are not gone on with."""

Refusal = tuple[str, str]
"""The cause and the cure of an `InputError` in another process."""


@dataclass(frozen=True, slots=True)
class Construction:
    """What is to be constructed.

    Attributes:
        inputs: files and folders.
        rules: what a sentence has to be.
        field: the field of JSONL objects that holds the text.
        names: CSV file with the genders of first names; None for gender-guesser's list.
        piece: bytes of a large file of lines that are one shard.
        part: batches that are kept together.
        list_rejected: what is listed of rejected sentences; None for no list.
    """

    inputs: tuple[Path, ...]
    rules: Rules = PAPER
    field: str = "text"
    names: Path | None = None
    piece: int = PIECE
    part: int = PART
    list_rejected: Listing | None = None

    def load_names(self) -> NameGenders:
        """Return the genders of first names."""
        return load_names(self.names, guess=self.rules.guess_genders)

    def describe(self) -> dict[str, Any]:
        """Return what the dataset depends on; a run goes on only where this is the same."""
        begun = [shard.path for shard in shards(self.inputs, self.piece) if shard.start == 0]
        files = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in begun]
        return {
            "version": version("pronominal"),
            "files": files,
            "rules": self.rules.describe(),
            "names": self.names and self.names.read_text(encoding="utf-8", errors="replace"),
            "settings": [self.field, self.piece, self.part, BATCH, BATCH_SIZE],
        }


def run(
    construction: Construction,
    work: Path,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, shards: None,
) -> Report:
    """Run every shard, and return the report up to the duplicates.

    Parts are kept in the folder `work`; one of the same construction is gone on with. With one
    worker everything happens in this process. Progress is the shards done and their number.
    """
    todo = prepare(construction, work)
    run_one = partial(attempt_shard, construction=construction, work=work)
    if workers == 1:
        _count(map(run_one, todo), len(todo), progress)
    else:
        run_in_processes(run_one, todo, workers, progress)
    return report_of(construction, work)


def run_in_processes(
    run_one: Callable[[Shard], Refusal | None],
    todo: Sequence[Shard],
    workers: int,
    progress: Callable[[int, int], None],
) -> None:
    """Run every shard in one of several processes; after a refusal no further one is begun."""
    # spawned, not forked: pyarrow and spaCy have threads of their own
    with ProcessPoolExecutor(workers, get_context("spawn"), _end_with_parent) as pool:
        try:
            _count(pool.map(run_one, todo), len(todo), progress)
        except BrokenProcessPool as error:
            cause = "a process was killed, perhaps for want of memory"
            cure = "give the same command again, with fewer --workers"
            raise InputError(cause, cure=cure) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def prepare(construction: Construction, work: Path) -> list[Shard]:
    """Make the folder of parts, or check that it is this construction's; return the shards."""
    todo = shards(construction.inputs, construction.piece)
    # what is missing is found before the first process starts
    construction.load_names()
    if construction.rules.pipeline is not None:
        loaded(construction.rules.pipeline)
    facts = construction.describe()
    if construction.list_rejected is not None:
        facts["list_rejected"] = construction.list_rejected
    described = json.dumps(facts, sort_keys=True)
    note = work / NOTE
    if not note.exists():
        # a run that had ended was killed as it removed its parts: some of them are gone
        for folder in work.glob("[0-9]*"):
            shutil.rmtree(folder)
    elif note.read_text(encoding="utf-8") != described:
        cause = "an unfinished run of other inputs, rules or lists lies there"
        raise InputError(cause, cure="give the same command again, or remove the folder", file=work)
    with new_file(note) as beside:
        beside.write_text(described, encoding="utf-8", newline="\n")
    return todo


def remove_parts(work: Path) -> None:
    """Remove the folder of parts, in an order in which a kill leaves nothing to go on with."""
    (work / NOTE).unlink(missing_ok=True)
    shutil.rmtree(work)


def attempt_shard(shard: Shard, construction: Construction, work: Path) -> Refusal | None:
    """Run a shard in another process; what it refuses comes back as cause and cure."""
    try:
        run_shard(shard, construction, work)
    except InputError as error:
        return error.cause, error.cure
    return None


def run_shard(shard: Shard, construction: Construction, work: Path) -> None:
    """Write the parts of one shard that are not there yet, and at last its damage."""
    folder = work / f"{shard.number:06d}"
    finished = folder / "damage.json"
    if finished.exists():
        return
    damage: Counter[str] = Counter()
    made = stages(
        construction.rules, load_names(construction.names, guess=construction.rules.guess_genders)
    )
    read = documents(shard, construction.field, damage)
    batches = _batches(shard, read)
    number = 0
    while (first := next(batches, None)) is not None:
        rest = islice(batches, construction.part - 1)
        part = folder / f"{number:06d}.parquet"
        if part.exists():
            # what came before it is read again, but nothing is done with it
            deque(rest, maxlen=0)
        else:
            _write_part(chain((first,), rest), made, part, construction.list_rejected)
        number += 1
    with new_file(finished) as beside:
        beside.write_text(json.dumps(damage), encoding="utf-8", newline="\n")


def _write_part(
    batches: Iterable[pa.RecordBatch], made: dict[str, Stage], part: Path, listing: Listing | None
) -> None:
    report = Report()
    if listing is None:
        rows = [construct(batch, made, report) for batch in batches]
    else:
        # in place before the part, which says that both are whole
        with fates_file(part, listing) as write:
            rows = []
            for batch in batches:
                fates = Fates(batch)
                rows.append(construct(batch, made, report, fates))
                write(fates)
    facts = {"report": json.dumps(report.describe())}
    with new_file(part) as beside:
        table = pa.Table.from_batches(rows).replace_schema_metadata(facts)
        pq.write_table(table, beside, compression="zstd")


def _batches(shard: Shard, read: Iterator[tuple[str, str]]) -> Iterator[pa.RecordBatch]:
    """Yield the documents in batches of a fixed size."""
    rows: list[tuple[str, str, str]] = []
    size = 0
    for place, body in read:
        rows.append((shard.path.name, place, body))
        size += len(body)
        if len(rows) == BATCH or size >= BATCH_SIZE:
            yield strings(DOCUMENTS, rows)
            rows, size = [], 0
    if rows:
        yield strings(DOCUMENTS, rows)


def parts(construction: Construction, work: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each part of a finished run, in order: the file of text, and the part."""
    for shard in shards(construction.inputs, construction.piece):
        for part in sorted((work / f"{shard.number:06d}").glob("*.parquet")):
            yield shard.path, part


def report_of(construction: Construction, work: Path) -> Report:
    """Return the report of a finished run, up to the duplicates."""
    report = Report()
    for shard in shards(construction.inputs, construction.piece):
        damage = work / f"{shard.number:06d}" / "damage.json"
        report.damage.update(json.loads(damage.read_text(encoding="utf-8")))
    for _, part in parts(construction, work):
        report.add(json.loads(pq.read_schema(part).metadata[b"report"]))
    return report


def _count(
    done: Iterable[Refusal | None], number: int, progress: Callable[[int, int], None]
) -> None:
    for count, refusal in enumerate(done, start=1):
        if refusal is not None:
            raise InputError(refusal[0], cure=refusal[1])
        progress(count, number)


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, also when that is killed."""
    parent = parent_process()
    assert parent is not None

    def wait() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
