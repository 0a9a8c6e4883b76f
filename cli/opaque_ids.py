"""``pronominal ids``: the key of opaque ids, and whose they are."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pronominal.cli.arguments import Config, DatasetPlace, SplitName
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.opaque_ids import IdKey

app = typer.Typer(help="Opaque ids, which say nothing of a row: make their key, resolve them.")

KeyFile = Annotated[Path, typer.Option("--key", help="The key that they were made with.")]


@app.command()
def key(
    file: Annotated[Path, typer.Argument(help="The new file; keep it where the dataset is kept.")],
) -> None:
    """Make the key with which ids are made opaque, readable for you alone."""
    from pronominal.opaque_ids import IdKey

    print(f"{file}: key {IdKey.make(file).name}")


@app.command()
def resolve(
    file: Annotated[
        Path, typer.Argument(help="JSON lines with opaque ids, as leaderboards publish them.")
    ],
    key_file: KeyFile,
    dataset: DatasetPlace,
    config: Config = None,
    split: SplitName = "test",
) -> int:
    """Print JSON lines with the rows' own ids; exit with 1 if some are of other rows or keys."""
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.opaque_ids import IdKey

    rows = load_split(dataset, config, split)
    secret = IdKey.read(key_file)
    known = secret.resolved(rows.dataset_name, rows.table["id"].to_pylist())
    unknown = 0
    for line in _lines(file):
        name = line["id"]
        unknown += name not in known
        print(json.dumps({**line, "id": known.get(name, name)}, ensure_ascii=False))
    if unknown:
        print(f"pronominal: {_unresolved(unknown, secret)}", file=sys.stderr)
    return int(unknown > 0)


def _lines(file: Path) -> list[dict[str, Any]]:
    from pronominal.errors import os_errors
    from pronominal.json_files import parse_object

    cure = 'give lines such as {"id": "row-..."}'
    with os_errors(file, cure):
        content = file.read_bytes()
    found = []
    for number, line in enumerate(content.splitlines(), start=1):
        at = f"line {number}"
        found.append(parse_object(line, file=file, row=at, cure=cure))
        if not isinstance(found[-1].get("id"), str):
            raise InputError("the id is not a string", cure=cure, file=file, row=at)
    return found


def _unresolved(many: int, key: "IdKey") -> str:
    of = "1 id is" if many == 1 else f"{many:,} ids are"
    return f"{of} of other rows, or were made with another key than {key.name}"
