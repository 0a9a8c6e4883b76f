"""``pronominal check-system``."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from pronominal.cli.running import Json


def check_system(
    system: Annotated[
        str, typer.Argument(help="NAME, NAME=CHECKPOINT, or your own as MODULE:ATTRIBUTE.")
    ],
    checkpoint: Annotated[str | None, typer.Option(help="Folder or Hub id of the weights.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, a setting of the system's own.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say whether a system keeps the promises of its interface; exit with 1 if it does not.

    It is asked about sentences of our own only.
    """
    from pronominal.adapters import load
    from pronominal.adapters.contract.check import check_system as checks
    from pronominal.eval.runs.asked_systems import parse_settings, parse_systems, refuse_unknown

    (asked,) = parse_systems([system])
    refuse_unknown([asked])
    loaded = load(asked.name, checkpoint or asked.checkpoint, **parse_settings(settings or []))
    done = []
    for check in checks(loaded):
        done.append(check)
        if not as_json:
            kept = ("FAULT" if check.faults else "ok") if check.examined else "-"
            print(f"{kept:5}  {check.promise}")
            for fault in check.faults:
                print(f"       - {fault}")
    broken = sum(bool(check.faults) for check in done)
    unknown = sum(not check.examined for check in done)
    if as_json:
        print(json.dumps({"system": asked.name, "checks": [asdict(one) for one in done]}, indent=2))
    else:
        rest = f", {unknown} not examined" if unknown else ""
        print(f"{len(done) - broken - unknown} of {len(done)} promises kept{rest}")
    if broken:
        raise typer.Exit(1)
