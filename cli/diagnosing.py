"""``pronominal systems``, ``doctor`` and ``env``."""

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table as RichTable

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue.table import at
from pronominal.cli.running import Json

if TYPE_CHECKING:
    from pronominal.adapters.catalogue.doctor import Diagnosis

env = typer.Typer(
    help="Environments for systems whose packages pin old dependencies.", no_args_is_help=True
)


def systems(as_json: Json = False) -> None:
    """List the systems: kind, extra to install, where the weights come from."""
    if as_json:
        listed = [
            {"name": name, **asdict(entry), "server": entry.server and at(entry.server)}
            for name, entry in SYSTEMS.items()
        ]
        print(json.dumps(listed, indent=2))
        return
    table = RichTable("system", "kind", "extra", "weights", "what it does", box=None)
    for name, entry in SYSTEMS.items():
        table.add_row(name, entry.kind, entry.extra or "-", entry.weights or "-", entry.summary)
    Console().print(table)
    Console().print("\nYour own: --system MODULE:ATTRIBUTE, an object with one method.")


def doctor(
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Say what is installed, which systems can run now, and the command for each that cannot."""
    from pronominal.adapters.catalogue.doctor import diagnose
    from pronominal.eval.runs.record import versions

    diagnoses = diagnose()
    if as_json:
        shown = {"versions": versions(), "systems": [asdict(system) for system in diagnoses]}
        print(json.dumps(shown, indent=2))
    elif markdown:
        print(_markdown(diagnoses), end="")
    else:
        print(" ".join(f"{name} {number}" for name, number in versions().items()))
        width = max(len(system.name) for system in diagnoses)
        for system in diagnoses:
            missing = f" (missing: {', '.join(system.missing)})" if system.missing else ""
            line = f"{system.name:{width}}  {system.state:16}  {system.cure or ''}{missing}"
            print(line.rstrip())


@env.command("list")
def list_environments() -> None:
    """List the environments, and where those are that exist."""
    from pronominal.adapters.remote.environments import environments, folder_of, is_made

    for name, environment in environments().items():
        print(name, folder_of(name) if is_made(name) else "-", *environment.requirements, sep="\t")


@env.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose environment: see 'pronominal env list'.")],
    python: Annotated[str | None, typer.Option(help="The Python to make it with.")] = None,
) -> None:
    """Make a system's environment with venv and pip, which download its packages."""
    from pronominal.adapters.remote import environments

    print(environments.create(name, python, lambda step: print(step, file=sys.stderr)))


def _markdown(diagnoses: "list[Diagnosis]") -> str:
    """Write the compatibility table; only its last column depends on the machine."""
    lines = [
        "| System | Kind | Install | Weights | Here |",
        "| --- | --- | --- | --- | --- |",
    ]
    for system in diagnoses:
        install = f"`{system.install}`" if system.install else "nothing"
        cells = (f"`{system.name}`", system.kind, install, system.weights or "none")
        lines.append(f"| {' | '.join(cells)} | {system.state} |")
    return "\n".join(lines) + "\n"
