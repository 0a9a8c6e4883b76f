"""``pronominal convert``."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pronominal.adapters.catalogue.convertible import CONVERTIBLE
from pronominal.adapters.catalogue.convertible import convert as convert_checkpoint
from pronominal.cli.declared_options import shared_parameters, taking


@taking(
    shared_parameters((kind, one) for kind, entry in CONVERTIBLE.items() for one in entry.options)
)
def convert(
    kind: Annotated[str, typer.Argument(help="Whose checkpoint it is, such as caw.")],
    source: Annotated[str, typer.Argument(metavar="IN", help="Folder of upstream's checkpoint.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to make.")],
    **options: Any,
) -> None:
    """Write an upstream checkpoint as safetensors and JSON, which hold no code."""
    given = {name: value for name, value in options.items() if value is not None}
    report = convert_checkpoint(kind, source, target, **given)
    if report is not None:
        _print_report(report)
    print(target)


def _print_report(report: dict[str, Any]) -> None:
    """Say what became of the variables, those left out by name."""
    used = {variable for variables in report["used"].values() for variable in variables}
    print(f"pronominal: {len(used)} variables used", file=sys.stderr)
    for fate in ("skipped", "missing"):
        named = f": {', '.join(report[fate])}" if report[fate] else ""
        print(f"pronominal: {len(report[fate])} {fate}{named}", file=sys.stderr)
