"""``pronominal systems``, ``check-system``, ``doctor`` and ``env``."""

import json
import shlex
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as RichTable

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue.systems import GIVEN, at
from pronominal.cli.arguments import Checkpoint, Json, Markdown, Settings

env = typer.Typer(
    help="Environments for systems whose packages pin old dependencies.", no_args_is_help=True
)

_ROWS = {"candidates": "candidates", "slots": "slots", "both": "candidates or slots"}


def systems(as_json: Json = False) -> None:
    """List the systems: kind, extra to install, where the weights come from."""
    if as_json:
        listed = [
            {"name": name, **asdict(entry), "server": entry.server and at(entry.server)}
            for name, entry in SYSTEMS.items()
        ]
        print(json.dumps(listed, indent=2))
        return
    width = max(map(len, SYSTEMS))
    for kind in dict.fromkeys(entry.kind for entry in SYSTEMS.values()):
        # names, extras and addresses are typed: each has a line that it fits on
        table = RichTable(box=None, pad_edge=False, show_header=False, title_justify="left")
        table.add_column(no_wrap=True, min_width=width)
        table.add_column(overflow="fold")
        for name, entry in SYSTEMS.items():
            of_it = "to give" if entry.weights in GIVEN else "weights"
            rows = None if entry.rows == "candidates" else _ROWS[entry.rows]
            needed = {"rows with": rows, "extra": entry.extra, of_it: entry.weights}
            lines = [f"{what}: {value}" for what, value in needed.items() if value]
            if entry.kind == kind:
                table.add_row(name, "\n".join((entry.summary, *lines)))
        Console().print(f"{kind}:", style="bold")
        Console().print(table, "")
    Console().print("Where no rows are named, they are those with candidates; RUFF's have slots.")
    Console().print("Your own: --system MODULE:ATTRIBUTE, an object with one method.")


def check_system(
    system: Annotated[
        str, typer.Argument(help="NAME, NAME=CHECKPOINT, or your own as MODULE:ATTRIBUTE.")
    ],
    checkpoint: Checkpoint = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Say whether a system keeps the promises of its interface; exit with 1 if it does not.

    It is asked about sentences of our own only.
    """
    from pronominal.adapters import load
    from pronominal.adapters.contract import check
    from pronominal.eval.runs.asked_systems import parse_settings, parse_systems, refuse_unknown

    (asked,) = parse_systems([system])
    refuse_unknown([asked])
    loaded = load(asked.name, checkpoint or asked.checkpoint, **parse_settings(settings or []))
    done = []
    for one in check.check_system(loaded):
        done.append(one)
        if not as_json:
            kept = ("FAULT" if one.faults else "ok") if one.examined else "-"
            print(f"{kept:5}  {one.promise}")
            for fault in one.faults:
                print(f"       - {fault}")
            for note in one.notes:
                print(f"       note: {note}")
    broken = sum(bool(one.faults) for one in done)
    unknown = sum(not one.examined for one in done)
    if as_json:
        print(json.dumps({"system": asked.name, "checks": [asdict(one) for one in done]}, indent=2))
    else:
        rest = f", {unknown} not examined" if unknown else ""
        print(f"{len(done) - broken - unknown} of {len(done)} promises kept{rest}")
    if broken:
        raise typer.Exit(1)


def doctor(as_json: Json = False, markdown: Markdown = False) -> None:
    """Say what is installed, which systems can run now, and the command for each that cannot."""
    from pronominal.adapters.catalogue.doctor import diagnose
    from pronominal.eval.runs.record import versions

    diagnoses = diagnose()
    if as_json:
        shown = {"versions": versions(), "systems": [asdict(system) for system in diagnoses]}
        print(json.dumps(shown, indent=2))
    elif markdown:
        # only the last column depends on the machine
        heads = "| System | Kind | Rows with | Install | Weights | Here |"
        print(heads, f"|{' --- |' * 6}", sep="\n")
        for system in diagnoses:
            install = f"`{system.install}`" if system.install else "nothing"
            rows = _ROWS[SYSTEMS[system.name].rows]
            cells = (f"`{system.name}`", system.kind, rows, install, system.weights or "none")
            print(f"| {' | '.join(cells)} | {system.state} |")
    else:
        print(" ".join(f"{name} {number}" for name, number in versions().items()))
        width = max(len(system.name) for system in diagnoses)
        for system in diagnoses:
            missing = f" (missing: {', '.join(system.missing)})" if system.missing else ""
            line = f"{system.name:{width}}  {system.state:16}  {system.cure or ''}{missing}"
            print(line.rstrip())


@env.command("list")
def list_environments() -> None:
    """List the environments, where those are that exist, and what is left of killed ones."""
    from pronominal.adapters.remote import environments as made

    for name, environment in made.environments().items():
        place = made.folder_of(name) if made.is_made(name) else "-"
        print(name, place, *environment.requirements, sep="\t")
        for folder in made.unfinished(name):
            cure = f"unless it is being made now, remove it with: rm -r {shlex.quote(str(folder))}"
            print(f"{name}\tunfinished\t{cure}")


@env.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose environment: see 'pronominal env list'.")],
    python: Annotated[str | None, typer.Option(help="The Python to make it with.")] = None,
) -> None:
    """Make a system's environment with venv and pip, which download its packages."""
    from pronominal.adapters.remote import environments

    print(environments.create(name, python, lambda step: print(step, file=sys.stderr)))
