"""``pronominal convert``."""

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from pronominal.errors import InputError, extra_needed, unknown_name


def convert(
    kind: Annotated[str, typer.Argument(help="Whose checkpoint it is, such as caw.")],
    source: Annotated[str, typer.Argument(metavar="IN", help="Folder of upstream's checkpoint.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to make.")],
    section: Annotated[
        str | None,
        typer.Option(
            help="caw: section of its config; the first whose weights are there without it."
        ),
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(help="e2e: text whose words keep their embeddings; all words without it."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="c2f: torch or tensorflow, for a folder that holds both.")
    ] = None,
) -> None:
    """Write an upstream checkpoint as safetensors and JSON, which hold no code."""
    if kind not in CONVERTERS:
        raise unknown_name("kind of checkpoint", kind, CONVERTERS)
    converter = CONVERTERS[kind]
    options = {"section": section, "weights": weights, "words": words}
    given = {name: value for name, value in options.items() if value is not None}
    for name in given.keys() - inspect.signature(converter).parameters:
        raise InputError(f"{kind} has no --{name}", cure="leave it out")
    converter(source, target, **given)
    print(target)


def _c2f(source: str, target: Path, weights: str | None = None) -> None:
    conversion = _module("c2f.bert.checkpoint", extra="c2f")
    _print_report(conversion.convert(source, target, weights))


def _caw(source: str, target: Path, section: str | None = None) -> None:
    _module("caw.loading", extra="caw").convert(source, target, section)


def _e2e(source: str, target: Path, words: Path | None = None) -> None:
    conversion = _module("c2f.e2e.checkpoint", extra="c2f")
    kept = None if words is None else conversion.words_of(words)
    _print_report(conversion.convert(source, target, kept))


def _print_report(report: dict[str, Any]) -> None:
    """Say what became of the variables, those left out by name."""
    used = {variable for variables in report["used"].values() for variable in variables}
    print(f"pronominal: {len(used)} variables used", file=sys.stderr)
    for fate in ("skipped", "missing"):
        named = f": {', '.join(report[fate])}" if report[fate] else ""
        print(f"pronominal: {len(report[fate])} {fate}{named}", file=sys.stderr)


def _module(name: str, *, extra: str) -> Any:
    with extra_needed(extra, "this"):
        return import_module(f"pronominal.adapters.{name}")


CONVERTERS: dict[str, Callable[..., None]] = {"c2f": _c2f, "caw": _caw, "e2e": _e2e}
