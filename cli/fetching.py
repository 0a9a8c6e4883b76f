"""``pronominal fetch``: published weights, when asked."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pronominal.cli.arguments import Json

if TYPE_CHECKING:
    from pronominal.adapters.catalogue.published import Published
    from pronominal.adapters.checkpoints.downloads import Progress

Mirror = Annotated[
    str | None,
    typer.Option(help="A folder, or an address, that has the files under their own names."),
]


def fetch(
    system: Annotated[
        str | None,
        typer.Argument(help="A system, or one of its weights: all of them without it."),
    ] = None,
    mirror: Mirror = None,
    as_json: Json = False,
) -> None:
    """Download a system's published weights into the cache folder, and print their folder.

    A download that was stopped goes on with the same command. Without a system it lists what there
    is to fetch, and downloads nothing.
    """
    from pronominal.adapters.catalogue import published

    if system is None:
        _list(as_json)
    elif (hub_id := published.hub_id_of(system)) is not None:
        from pronominal.adapters.checkpoints.files import open_checkpoint

        print(open_checkpoint(hub_id).folder)
    else:
        one = published.published_of(system)
        if not published.is_fetched(one.name):
            _announce(one)
        with download_bar(one.name) as progress:
            folder = published.fetch(one, progress, mirror)
        print(f"use it with: {one.use.format(system=one.system, folder=folder)}", file=sys.stderr)
        print(folder)


@contextmanager
def download_bar(name: str) -> Iterator["Progress"]:
    """Show how many bytes are there of the files of some weights."""
    from rich.progress import DownloadColumn, TransferSpeedColumn

    from pronominal.cli.progress import progress_bar

    with progress_bar(name, None, DownloadColumn(), TransferSpeedColumn()) as bar:
        yield bar


def _announce(one: "Published") -> None:
    from pronominal.adapters.catalogue.published import without_checksum

    size = f"about {one.size:,} MB" if one.size else "of unknown size"
    files = "1 file" if len(one.files) == 1 else f"{len(one.files)} files"
    print(f"{one.name}: {files}, {size} (estimate); {one.source}", file=sys.stderr)
    if unknown := without_checksum(one):
        told = "no SHA-256 is known; what came is written to fetched.json"
        print(f"{one.name}: {', '.join(unknown)}: {told}", file=sys.stderr)


def _list(as_json: bool) -> None:
    import json

    from pronominal.adapters.catalogue.published import folder_of, is_fetched, published

    found = [
        {
            "name": name,
            "system": one.system,
            "megabytes": one.size or None,
            "files": [{"url": file.url, "sha256": file.sha256} for file, _ in one.files],
            "source": one.source,
            "folder": str(folder_of(name)) if is_fetched(name) else None,
        }
        for name, one in published().items()
    ]
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for one in found:
        size = f"{one['megabytes']:,} MB" if one["megabytes"] else "-"
        print(one["name"], one["system"], size, one["folder"] or "-", one["source"], sep="\t")
