"""A run in parts: ``--shard 2/4`` on four machines, and the parts put together."""

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.eval.runs.failures import read_failures, write_failures
from pronominal.eval.runs.predictions import PREDICTIONS, as_left
from pronominal.eval.runs.record import (
    IDENTITY,
    RUN,
    PredictionsRecord,
    RunRecord,
    Times,
    is_run,
    read_record,
)
from pronominal.json_files import write_json


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run.

    Attributes:
        index: which part, from 1.
        of: the number of parts.
    """

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read ``2/4``; `InputError` unless it is a part of that many."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise InputError(f"'{text}' is no shard", cure="write 1/4, 2/4, 3/4 or 4/4, say")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def suffix(self) -> str:
        """What the name of the part's folder ends in."""
        return f".shard-{self.index}-of-{self.of}"

    def rows(self, total: int, chunk: int) -> range:
        """Return the part's rows of `total`: whole chunks, as a run in one piece has them."""
        chunks = -(-total // chunk)
        first, last = ((part * chunks // self.of) * chunk for part in (self.index - 1, self.index))
        return range(min(first, total), min(last, total))


WHOLE = Shard(1, 1)


def merge(parts: Sequence[Path], out: Path | None = None) -> Path:
    """Put the parts of a run together, to the bytes that the run in one piece would have.

    `parts` are the folders of all shards, in any order; `out`, which is returned, is the folder to
    make: that of the run in one piece, beside the parts, when None. One that holds this very run
    stays as it is.

    Raises:
        InputError: a part is missing, unfinished or of another run, or the folder holds
            something else.
    """
    if not parts:
        raise InputError("no shards are given", cure="give the folders of all shards")
    records = {path: as_left(path, read_record(path)) for path in parts}
    shards = {path: _shard_of(record, path) for path, record in records.items()}
    _refuse_parts_of_others(records, shards)
    ordered = sorted(shards, key=lambda path: shards[path].index)
    first = ordered[0]
    if out is None:
        out = first.with_name(first.name.removesuffix(shards[first].suffix))
    merged = _merged(ordered, [records[path] for path in ordered])
    if is_run(out) and as_left(out, read_record(out)) == merged:
        return out
    if out.exists():
        raise InputError("there is a run already", cure="remove it or give another --out", file=out)
    with new_folder(out) as beside:
        with (beside / PREDICTIONS).open("wb") as whole:
            for path in ordered:
                with (path / PREDICTIONS).open("rb") as part:
                    shutil.copyfileobj(part, whole)
        write_failures(beside, (row for path in ordered for row in read_failures(path).values()))
        write_json(beside / RUN, merged.to_json())
    return out


def _refuse_parts_of_others(records: dict[Path, RunRecord], shards: dict[Path, Shard]) -> None:
    """Raise `InputError` unless these are all the parts of one run."""
    first, whole = next(iter(records.items()))
    of, places = shards[first].of, dict[int, Path]()
    for path, record in records.items():
        shard = shards[path]
        if not record.complete:
            raise InputError("the shard is not done", cure="run it to its end", file=path)
        for key in (*IDENTITY, "versions"):
            if getattr(_without_shard(record), key) != getattr(_without_shard(whole), key):
                cause = f"the shard has another {key} than {first}"
                raise InputError(cause, cure="give the shards of one run", file=path)
        if shard.of != of or places.setdefault(shard.index, path) != path:
            cause = f"the shard is {shard}, which does not go with {first}"
            raise InputError(cause, cure="give every shard of one run once", file=path)
    for index in range(1, of + 1):
        if index not in places:
            cause = f"the shard {index}/{of} is missing"
            raise InputError(cause, cure="run it, or give its folder too")


def _shard_of(record: RunRecord, path: Path) -> Shard:
    text = record.settings.get("shard")
    if text is None:
        raise InputError("the run is no shard", cure="give shards only", file=path)
    return Shard.parse(str(text))


def _without_shard(record: RunRecord) -> RunRecord:
    settings = {key: value for key, value in record.settings.items() if key != "shard"}
    return replace(record, settings=settings)


def _merged(parts: Sequence[Path], records: Sequence[RunRecord]) -> RunRecord:
    counts = Counter[str]()
    for record in records:
        counts.update(record.counts)
    times = [record.times for record in records]
    whole = Times(
        started=min(time.started for time in times),
        finished=max(time.finished or "" for time in times),
        seconds=round(sum(time.seconds for time in times), 3),
    )
    predictions = PredictionsRecord.of(*(path / PREDICTIONS for path in parts))
    first = _without_shard(records[0])
    return replace(first, times=whole, counts=dict(counts), predictions=predictions)
