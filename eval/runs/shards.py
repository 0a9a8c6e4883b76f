"""A run in parts: ``--shard 2/4`` on four machines, and the parts put together."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.eval.runs.failures import read_failures, write_failures
from pronominal.eval.runs.folder import IDENTITY, read_description, write_json
from pronominal.eval.runs.predictions import PREDICTIONS


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
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(f"'{text}' is no shard", cure="write 1/4, 2/4, 3/4 or 4/4, say")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def suffix(self) -> str:
        """What the name of the part's folder ends in."""
        return f".shard-{self.index}-of-{self.of}"

    def rows(self, total: int, chunk: int) -> range:
        """Return the part's rows: whole chunks, as a run in one piece has them.

        Args:
            total: number of rows of the whole run.
            chunk: rows that are predicted together.
        """
        chunks = -(-total // chunk)
        first, last = ((part * chunks // self.of) * chunk for part in (self.index - 1, self.index))
        return range(min(first, total), min(last, total))


WHOLE = Shard(1, 1)


def merge(parts: Sequence[Path], out: Path | None = None) -> Path:
    """Put the parts of a run together, to the bytes that the run in one piece would have.

    Args:
        parts: the folders of all its shards, in any order.
        out: the folder to make; that of the run in one piece, beside the parts, when None.

    Returns:
        The folder.

    Raises:
        InputError: a part is missing, unfinished or of another run, or the folder exists.
    """
    runs = {path: read_description(path) for path in parts}
    ordered = _ordered(runs)
    first = ordered[0]
    if out is None:
        out = first.with_name(first.name.removesuffix(_shard_of(runs[first], first).suffix))
    if out.exists():
        raise InputError("there is a run already", cure="remove it or give another --out", file=out)
    with new_folder(out) as beside:
        with (beside / PREDICTIONS).open("wb") as whole:
            for path in ordered:
                with (path / PREDICTIONS).open("rb") as part:
                    shutil.copyfileobj(part, whole)
        write_failures(beside, (one for path in ordered for one in read_failures(path).values()))
        write_json(beside / "run.json", _merged([runs[path] for path in ordered]))
    return out


def _ordered(runs: dict[Path, dict[str, Any]]) -> list[Path]:
    """Return the parts in order; `InputError` unless they are all the parts of one run."""
    if not runs:
        raise InputError("no shards are given", cure="give the folders of all shards")
    first, whole = next(iter(runs.items()))
    places: dict[int, Path] = {}
    for path, run in runs.items():
        shard = _shard_of(run, path)
        if not run["complete"]:
            raise InputError("the shard is not done", cure="run it to its end", file=path)
        for key in (*IDENTITY, "versions"):
            if _without_shard(run).get(key) != _without_shard(whole).get(key):
                raise InputError(
                    f"the shard has another {key.replace('_', ' ')} than {first}",
                    cure="give the shards of one run",
                    file=path,
                )
        if shard.of != _shard_of(whole, first).of or places.setdefault(shard.index, path) != path:
            raise InputError(
                f"the shard is {shard}, which does not go with {first}",
                cure="give every shard of one run once",
                file=path,
            )
    of = _shard_of(whole, first).of
    for index in range(1, of + 1):
        if index not in places:
            raise InputError(
                f"the shard {index}/{of} is missing", cure="run it, or give its folder too"
            )
    return [places[index] for index in range(1, of + 1)]


def _shard_of(run: dict[str, Any], path: Path) -> Shard:
    text = run["settings"].get("shard")
    if text is None:
        raise InputError("the run is no shard", cure="give shards only", file=path)
    return Shard.parse(text)


def _without_shard(run: dict[str, Any]) -> dict[str, Any]:
    settings = {key: value for key, value in run["settings"].items() if key != "shard"}
    return {**run, "settings": settings}


def _merged(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for run in runs:
        for name, count in run["counts"].items():
            counts[name] = counts.get(name, 0) + count
    times = [run["times"] for run in runs]
    return _without_shard(runs[0]) | {
        "times": {
            "started": min(time["started"] for time in times),
            "finished": max(time["finished"] for time in times),
            "seconds": round(sum(time["seconds"] for time in times), 3),
        },
        "counts": counts,
    }
