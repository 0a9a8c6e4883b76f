"""Rows of the papers as they can be run on this machine: with which files, or why not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from pronominal.adapters.catalogue.published import is_fetched
from pronominal.eval.papers.figures import PAPERS, PaperTable, paper_tables
from pronominal.eval.papers.packs import PackRow, Status, made_with, pack, system_rows
from pronominal.eval.papers.packs.asked import (
    fetched_for,
    settings_of,
    weights_of,
    with_own_weights,
)
from pronominal.eval.papers.packs.commands import builds, evaluations
from pronominal.eval.papers.packs.machine import Machine
from pronominal.eval.papers.packs.needs import (
    NOT_CACHED,
    Needs,
    Place,
    caution_about,
    has_pipeline,
    is_offline,
    needs_of,
    obstacle_to,
)
from pronominal.eval.papers.packs.options import AS_PUBLISHED, RunOptions
from pronominal.eval.runs.runner import SystemSettings
from pronominal.names import unknown_name


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
        caution: what should be known before it runs.
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
    caution: str = ""
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
    def lacks_pipeline(self) -> bool:
        """Whether a spaCy pipeline has to be installed first."""
        return not all(map(has_pipeline, self.systems.values()))

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
            "caution": self.caution,
            **{"revision": made.revision, "dtype": made.dtype, "reading": made.reading},
            **{"settings": {**made.settings, **made.checkpoint_settings}, "passes": made.passes},
            "weights": [one for key, made in self.systems.items() for one in weights_of(key, made)],
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
        elif row.lacks_pipeline:
            left_out[key] = row.reason
        elif row.is_out_of_reach:
            left_out[key] = NOT_CACHED
        elif missing:
            left_out[key] = f"run 'pronominal fetch {missing[0]}' first"
        else:
            systems.append(settings_of(paper, key, {}))
    return systems, left_out


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
    found = [obstacle_to(one, made, machine, how) for one, made in systems.items()]
    status, obstacle, cure = max(found, key=lambda one: (get_args(Status).index(one[0]), one[1]))
    cautions = [caution_about(one, made, machine) for one, made in systems.items()]
    commands = [
        line for one, made in systems.items() for line in evaluations(one, made, places, how)
    ]
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
            needs_of(one, made, places, machine, how.limit) for one, made in systems.items()
        ),
        caution="; ".join(filter(None, cautions)),
        commands=(*builds(places, how), *commands) if status != "not available" else (),
    )


def _places(table: PaperTable) -> tuple[Place, ...]:
    places = (table.place_of(figure) for figure in table.figures.values())
    return tuple(dict.fromkeys(places)) or ((table.dataset, table.config, table.split),)
