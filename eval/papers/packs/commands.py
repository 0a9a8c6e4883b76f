"""The commands that run a paper's rows without ``pronominal replicate``."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pronominal.eval.papers.packs import PackRow
from pronominal.eval.papers.packs.asked import FETCH, fetched_or_run
from pronominal.eval.papers.packs.needs import Place
from pronominal.eval.papers.packs.options import RunOptions


def builds(places: Sequence[Place], how: RunOptions) -> Iterator[str]:
    """Yield the commands that build what a row's splits need and is not there."""
    sources = "" if how.sources is None else f" --sources {_quoted(how.sources)}"
    for name in dict.fromkeys(dataset for dataset, _, _ in places):
        if not (how.data / name).exists():
            yield f"pronominal build {name} --out {_quoted(how.data)}{sources}"


def evaluations(key: str, made: PackRow, places: Sequence[Place], how: RunOptions) -> Iterator[str]:
    """Yield the commands that run a row without ``replicate``."""
    if made.system is None:
        return
    mirror = "" if how.mirror is None else f" --mirror {_quoted(how.mirror)}"
    yield from (f"pronominal fetch {name}{mirror}" for name in fetched_or_run(made))
    named = made.system if key == made.system else f"{key}={made.system}"
    place = f'"$(pronominal fetch {made.weights})"' if made.weights else made.place
    if key in how.weights:
        place = _quoted(how.weights[key])
    system = f"{named}={place}" if place else named
    settings = made.all_settings | ({"trust_remote_code": True} if made.remote_code else {})
    sets = "".join(f" --set {_setting(name, value)}" for name, value in settings.items())
    limit = "" if how.limit is None else f" --limit {how.limit}"
    for dataset, config, split in places:
        yield (
            f"pronominal evaluate --dataset {_quoted(how.data / dataset)} --config {config} "
            f"--split {split} --system {system}{sets} --reading {made.reading} "
            f"--out {_quoted(how.runs_of(key))}{limit}"
        )


def _quoted(word: str | Path) -> str:
    return shlex.quote(str(word))


def _setting(name: str, value: Any) -> str:
    if isinstance(value, str) and value.startswith(FETCH):
        return f'{name}="$(pronominal fetch {value.removeprefix(FETCH)})"'
    return f"{name}={str(value).lower() if isinstance(value, bool) else shlex.quote(str(value))}"
