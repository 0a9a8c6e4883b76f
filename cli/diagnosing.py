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
    from pronominal.eval.runs.description import versions

    found = diagnose()
    if as_json:
        shown = {"versions": versions(), "systems": [asdict(one) for one in found]}
        print(json.dumps(shown, indent=2))
    elif markdown:
        print(_markdown(found), end="")
    else:
        print(" ".join(f"{name} {number}" for name, number in versions().items()))
        width = max(len(one.name) for one in found)
        for one in found:
            missing = f" (missing: {', '.join(one.missing)})" if one.missing else ""
            line = f"{one.name:{width}}  {one.state:16}  {one.cure or ''}{missing}"
            print(line.rstrip())


@env.command("list")
def list_environments() -> None:
    """List the environments, and where those are that exist."""
    from pronominal.adapters.remote.environments import environments, folder_of, is_made

    for name, one in environments().items():
        print(name, folder_of(name) if is_made(name) else "-", *one.requirements, sep="\t")


@env.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose environment: see 'pronominal env list'.")],
    python: Annotated[str | None, typer.Option(help="The Python to make it with.")] = None,
) -> None:
    """Make a system's environment with venv and pip, which download its packages."""
    from pronominal.adapters.remote import environments

    print(environments.create(name, python, lambda step: print(step, file=sys.stderr)))


def _markdown(found: "list[Diagnosis]") -> str:
    """Write the compatibility table; only its last column depends on the machine."""
    lines = [
        "| System | Kind | Install | Weights | Here |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in found:
        install = f"`{one.install}`" if one.install else "nothing"
        cells = (f"`{one.name}`", one.kind, install, one.weights or "none")
        lines.append(f"| {' | '.join(cells)} | {one.state} |")
    return "\n".join(lines) + "\n"
