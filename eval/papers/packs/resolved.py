"""Rows of the papers as they can be run on this machine: with which files, or why not."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, get_args

from pronominal.adapters.catalogue.published import folder_of, is_fetched, published
from pronominal.adapters.checkpoints.files import cached_weights
from pronominal.errors import InputError
from pronominal.eval.papers.figures import PAPERS, PaperTable, paper_tables
from pronominal.eval.papers.packs import (
    PackRow,
    Status,
    made_with,
    pack,
    split_sizes,
    system_rows,
)
from pronominal.eval.papers.packs.machine import Machine, tokens_read
from pronominal.eval.papers.packs.options import AS_PUBLISHED, RunOptions
from pronominal.eval.runs.runner import SystemSettings
from pronominal.names import unknown_name

FETCH = "fetch:"
"""How a setting begins that is the folder of fetched files."""

DTYPE_BYTES = {"float16": 2, "bfloat16": 2}

Place = tuple[str, str, str]
"""Names of a dataset, a config and a split."""

BRINGS_CODE = "its checkpoint brings Python code, which would run with all of your rights"
TRUST_IT = "read it, and add --trust-remote-code"

NOT_CACHED = "its weights are not in the Hub's cache, and HF_HUB_OFFLINE is set"


@dataclass(frozen=True, slots=True)
class Needs:
    """What runs need of a machine, estimated.

    Attributes:
        downloads: name of weights that are not here yet -> their bytes.
        memory: bytes that the weights take; of several systems, which run one after another, the
            most that one of them takes.
        runs: key of a row and the split that it answers -> seconds.
    """

    downloads: Mapping[str, float] = field(default_factory=dict)
    memory: float = 0
    runs: Mapping[tuple[str, Place], float] = field(default_factory=dict)

    @classmethod
    def together(cls, parts: Iterable[Self]) -> Self:
        """Return what several have in all: weights and runs that they share count once."""
        parts = [*parts]
        downloads = {name: size for one in parts for name, size in one.downloads.items()}
        runs = {run: seconds for one in parts for run, seconds in one.runs.items()}
        return cls(downloads, max((one.memory for one in parts), default=0), runs)

    @property
    def download(self) -> float:
        """How many bytes are not here yet."""
        return sum(self.downloads.values())

    @property
    def seconds(self) -> float:
        """How long all runs take."""
        return sum(self.runs.values())


@dataclass(frozen=True, slots=True)
class ResolvedRow:
    """A row of a table, and what its run needs here.

    Attributes:
        table: the name of its table, such as ``winopron:2``.
        row: its key.
        name: as the paper has it.
        systems: what the paper ran, by the keys of the rows that have to be run for it.
        places: the splits that they answer.
        status: what stands in its way here.
        obstacle: why; also what a row that is ready needs of the user.
        cure: the option of ``replicate`` that helps, if one does.
        needs: what its runs need here.
        commands: those that run it without ``replicate``.
    """

    table: str
    row: str
    name: str
    systems: Mapping[str, PackRow]
    places: tuple[Place, ...]
    status: Status
    obstacle: str = ""
    cure: str = ""
    needs: Needs = field(default_factory=Needs)
    commands: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """Name of the paper."""
        return self.table.partition(":")[0]

    @property
    def reason(self) -> str:
        """What stands in its way, and what can be done."""
        return "; ".join(part for part in (self.obstacle, self.cure) if part)

    @property
    def written(self) -> tuple[str, ...]:
        """Its systems as ``--system`` takes them, each once."""
        return tuple(dict.fromkeys(made.written for made in self.systems.values()))

    @property
    def brings_code(self) -> bool:
        """Whether a checkpoint brings Python code that has to be run."""
        return any(made.remote_code for made in self.systems.values())

    @property
    def is_out_of_reach(self) -> bool:
        """Whether weights are not in the Hub's cache, and the Hub is not to be asked."""
        places = (made.place for made in self.systems.values())
        return is_offline() and any(place in self.needs.downloads for place in places)

    def to_json(self) -> dict[str, Any]:
        """Return it as ``--list --json`` prints it."""
        made = next(iter(self.systems.values()))
        seeds = [int(n) for _, _, split in self.places[:1] for n in _numbers(split)]
        if not seeds and "seed" in made.settings:
            seeds = [made.settings["seed"]]
        return {
            **{"paper": self.paper, "table": self.table.partition(":")[2], "row": self.row},
            **{"name": self.name, "system": " + ".join(self.written), "source": made.source},
            **{"status": self.status, "reason": self.reason},
            **{"revision": made.revision, "dtype": made.dtype, "reading": made.reading},
            **{"settings": {**made.settings, **made.checkpoint_settings}, "passes": made.passes},
            "weights": [one for key, made in self.systems.items() for one in _weights(key, made)],
            "splits": ["/".join(place) for place in self.places],
            "seeds": seeds,
            "estimate": {
                "download_bytes": round(self.needs.download),
                "memory_bytes": round(self.needs.memory),
                "seconds": round(self.needs.seconds, 1),
            },
            "commands": list(self.commands),
        }


def _numbers(split: str) -> Iterator[str]:
    for part in split.split("+"):
        name, _, number = part.rpartition("_")
        if name and number.isdigit():
            yield number


def resolved_rows(
    tables: Sequence[PaperTable],
    machine: Machine,
    only: Sequence[str] = (),
    how: RunOptions = AS_PUBLISHED,
) -> list[ResolvedRow]:
    """Return the rows about systems of some tables, with what they need on a machine.

    Args:
        tables: the papers'.
        machine: this one.
        only: keys of the rows that are wanted; all of them without.
        how: what the user asks of the runs.

    Raises:
        InputError: there is no row of such a name, or it takes no weights.
    """
    known = {key for table in tables for key in system_rows(table)}
    run = {key for table in tables for row in system_rows(table) for key in made_with(table, row)}
    for asked, rows in ((only, known), (how.weights, run)):
        for key in asked:
            if key not in rows:
                raise unknown_name("row", key, rows)
    return [
        _resolved(table, key, machine, how)
        for table in tables
        for key in system_rows(table)
        if not only or key in only
    ]


def pack_systems(name: str, machine: Machine) -> tuple[list[SystemSettings], dict[str, str]] | None:
    """Return the systems of a paper, asked for as ``ruff-paper``, that can be run on a machine.

    Returns:
        The systems, called as in the paper's tables, and why the others are left out; None for a
        name that is no paper's.
    """
    paper = name.removesuffix("-paper")
    if paper == name or paper not in PAPERS:
        return None
    rows = {row.row: row for row in resolved_rows(paper_tables(paper), machine)}
    systems, left_out = [], {}
    for key in (key for key in pack(paper) if key in rows):
        row = rows[key]
        missing = [name for name in fetched_for(pack(paper)[key]) if not is_fetched(name)]
        if row.status != "ready":
            left_out[key] = row.obstacle
        elif row.brings_code:
            cure = f"pronominal replicate {row.table} --only {key} --trust-remote-code"
            left_out[key] = f"{row.obstacle}; read it, then run '{cure}'"
        elif row.is_out_of_reach:
            left_out[key] = NOT_CACHED
        elif missing:
            left_out[key] = f"run 'pronominal fetch {missing[0]}' first"
        else:
            systems.append(settings_of(paper, key, {}))
    return systems, left_out


def settings_of(paper: str, key: str, weights: Mapping[str, str]) -> SystemSettings:
    """Return how a row's system is asked for, fetched files by their folders."""
    made = with_own_weights(pack(paper)[key], weights.get(key))
    assert made.system is not None  # a row without one is never run
    settings = {
        name: str(folder_of(value.removeprefix(FETCH)))
        if isinstance(value, str) and value.startswith(FETCH)
        else value
        for name, value in made.all_settings.items()
    }
    settings |= {"trust_remote_code": True} if made.remote_code else {}
    checkpoint = str(folder_of(made.weights)) if made.weights else made.place
    return SystemSettings(key, made.system, checkpoint, settings)


def fetched_for(made: PackRow) -> list[str]:
    """Return what has to be fetched for a row, by the names of ``pronominal fetch``."""
    settings = [str(value) for value in made.all_settings.values()]
    named = [value.removeprefix(FETCH) for value in settings if value.startswith(FETCH)]
    return [*([made.weights] if made.weights else []), *named]


def _weights(key: str, made: PackRow) -> list[dict[str, str]]:
    """Return where a row's weights are had, one entry a file or Hub id, and where that stands."""
    on_hub = [] if made.place is None else [{"row": key, "id": made.place, "source": made.source}]
    return on_hub + [
        {"row": key, "fetch": name, "url": file.url, "source": published()[name].source}
        for name in _named(made)
        for file, _ in published()[name].files
    ]


def _named(made: PackRow) -> list[str]:
    """Return what ``pronominal fetch`` has for a row, what the user runs elsewhere included."""
    return [*fetched_for(made), *([made.run_elsewhere] if made.run_elsewhere else [])]


def with_own_weights(made: PackRow, checkpoint: str | None) -> PackRow:
    """Return a row with a checkpoint of the user's own in the place of the published one.

    What belongs to the published weights goes with them: their settings, dtype and Python code.
    """
    if checkpoint is None:
        return made
    if made.system is None:
        raise InputError("the row has no system of ours", cure="import its predictions instead")
    own = replace(made, checkpoint=checkpoint, weights=None, revision=None, dtype=None)
    own = replace(own, checkpoint_settings={}, remote_code=False, stored_bytes=4)
    return replace(
        own, run_elsewhere=None, gated=False, parameters=0, status="ready", reason="", train=None
    )


def told_of_own_weights(rows: Iterable[ResolvedRow], weights: Mapping[str, str]) -> Iterator[str]:
    """Yield, for each row with weights of the user's own, which settings are kept and which not."""
    own = {(row.paper, key): made for row in rows for key, made in row.systems.items()}
    for (paper, key), made in own.items():
        published, kept = pack(paper)[key].all_settings, made.all_settings
        dropped = {name: value for name, value in published.items() if name not in kept}
        if key in weights and published:
            told = (("left out", dropped), ("kept", kept))
            parts = [f"{what}: {_listed(of)}" for what, of in told if of]
            yield f"settings of row {key} for weights of your own: {'; '.join(parts)}"


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _resolved(table: PaperTable, key: str, machine: Machine, how: RunOptions) -> ResolvedRow:
    paper = table.name.partition(":")[0]
    systems = {
        one: with_own_weights(pack(paper)[one], how.weights.get(one))
        for one in made_with(table, key)
    }
    row, places = table.rows.get(key), _places(table)
    found = [_status(one, made, machine, how) for one, made in systems.items()]
    status, obstacle, cure = max(found, key=lambda one: get_args(Status).index(one[0]))
    commands = [line for one, made in systems.items() for line in _commands(one, made, places, how)]
    return ResolvedRow(
        table=table.name,
        row=key,
        name=table.models[key].name if row is None else row.name,
        systems=systems,
        places=places,
        status=status,
        obstacle=obstacle,
        cure=cure,
        needs=Needs.together(
            _needs(one, made, places, machine, how.limit) for one, made in systems.items()
        ),
        commands=(*_builds(places, how), *commands) if status != "not available" else (),
    )


def _needs(
    key: str, made: PackRow, places: Sequence[Place], machine: Machine, limit: int | None
) -> Needs:
    size = _size(made)
    tokens = {place: _tokens(place, made.passes, limit) for place in places}
    runs = {(key, place): machine.seconds(size, count) for place, count in tokens.items()}
    return Needs(_missing(made), _memory(made), runs)


def _memory(made: PackRow) -> float:
    return 1e6 * _size(made) * DTYPE_BYTES.get(made.dtype or "", 4)


def _places(table: PaperTable) -> tuple[Place, ...]:
    places = (table.place_of(figure) for figure in table.figures.values())
    return tuple(dict.fromkeys(places)) or ((table.dataset, table.config, table.split),)


def _tokens(place: Place, passes: str, limit: int | None) -> float:
    size = split_sizes()[place[:2]]
    rows = size.rows if limit is None else min(limit, size.rows)
    return rows * tokens_read(size.words, passes)


def _status(key: str, made: PackRow, machine: Machine, how: RunOptions) -> tuple[Status, str, str]:
    """Return what stands in a system's way, why, and which option of ``replicate`` helps."""
    if made.status != "ready":
        own = f"then add --weights {key}=FOLDER" if made.train else ""
        return made.status, made.reason, own
    here = made.place is None or bool(_cached_bytes(made))
    if made.gated and not here:
        page = f"https://huggingface.co/{made.checkpoint}"
        told = f"accept the licence on {page}, and log in with 'hf auth login'"
        return "needs licence", told, f"then add --only {key}"
    memory = _memory(made)
    if (lacking := machine.too_small_for(_size(made), memory)) is not None:
        told = f"{_size(made):,.0f} million parameters, {memory / 1e9:.0f} GB, and {lacking}"
        return "needs gpu", told, "--only runs it all the same"
    asks_trust = made.remote_code and not how.trust_remote_code
    return ("ready", BRINGS_CODE, TRUST_IT) if asks_trust else ("ready", "", "")


def _size(made: PackRow) -> float:
    """Return how many millions of parameters: those that are here, else as published."""
    return _cached_bytes(made) / made.stored_bytes / 1e6 or made.parameters


def _cached_bytes(made: PackRow) -> float:
    files = cached_weights(made.place) if made.place else None
    return float(sum(file.stat().st_size for file in files or ()))


def _missing(made: PackRow) -> dict[str, float]:
    """Return which weights are not here, by name, and how many bytes they are."""
    if made.status != "ready":
        return {}
    names = (name for name in fetched_for(made) if not is_fetched(name))
    fetched = {name: 1e6 * published()[name].size for name in names}
    on_hub = made.place is not None and made.parameters and not _cached_bytes(made)
    return fetched | (
        {str(made.place): 1e6 * made.parameters * made.stored_bytes} if on_hub else {}
    )


def is_offline() -> bool:
    """Say whether the Hub is not to be asked."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")


def _builds(places: Sequence[Place], how: RunOptions) -> Iterator[str]:
    """Yield the commands that build what a row's splits need and is not there."""
    sources = "" if how.sources is None else f" --sources {_quoted(how.sources)}"
    for name in dict.fromkeys(dataset for dataset, _, _ in places):
        if not (how.data / name).exists():
            yield f"pronominal build {name} --out {_quoted(how.data)}{sources}"


def _commands(key: str, made: PackRow, places: Sequence[Place], how: RunOptions) -> Iterator[str]:
    """Yield the commands that run a row without ``replicate``."""
    if made.system is None:
        return
    mirror = "" if how.mirror is None else f" --mirror {_quoted(how.mirror)}"
    yield from (f"pronominal fetch {name}{mirror}" for name in _named(made))
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
