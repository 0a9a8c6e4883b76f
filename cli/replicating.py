"""``pronominal replicate``: a paper's tables, run again."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table as RichTable

from pronominal.cli.arguments import Json, Markdown
from pronominal.cli.building import SourcesFolder
from pronominal.cli.fetching import Mirror, download_bar
from pronominal.cli.printing import print_tables
from pronominal.cli.progress import loud_warnings, progress_bar
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.eval.papers.packs.resolved import ResolvedRow
    from pronominal.eval.papers.replicate import Replicating


def replicate(
    table: Annotated[
        str | None,
        typer.Argument(metavar="[PAPER[:TABLE]]", help="Such as winopron or winopron:2; else all."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A row, such as lingmess, tried whatever is here; once a row."),
    ] = None,
    list_rows: Annotated[
        bool, typer.Option("--list", help="List the rows and what stands in their way.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option(help="Say what would be fetched and run, and how long it takes.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of datasets and runs.")] = Path("replication"),
    sources: SourcesFolder = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(metavar="ROW=CHECKPOINT", help="Weights of your own for a row."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The first rows of each split only, to try it out.")
    ] = None,
    mirror: Mirror = None,
    trust_remote_code: Annotated[
        bool, typer.Option(help="Run the Python code that checkpoints bring (MosaicBERT).")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Download without asking.")] = False,
    as_json: Json = False,
    markdown: Markdown = False,
) -> int:
    """Run what a paper's tables need, and say whether they hold.

    Each row is run as its authors ran it, where that is possible here; the others say why not. What
    would be downloaded is said, and asked for, first. The same command goes on with what was
    stopped. Exits with 1 if a row's run failed.
    """
    from pronominal.eval.papers.figures import PAPERS, paper_tables
    from pronominal.eval.papers.packs.machine import Machine
    from pronominal.eval.papers.packs.resolved import resolved_rows
    from pronominal.eval.papers.replicate import Replicating
    from pronominal.eval.papers.replicate import replicate as run_again

    tables = [one for name in ([table] if table else PAPERS) for one in paper_tables(name)]
    own = _own_weights(weights or [])
    rows = resolved_rows(tables, Machine.here(), only or [], own)
    if list_rows or dry_run:
        _print_rows(rows, as_json, commands=dry_run)
        return 0
    if table is None:
        raise InputError("no paper is named", cure="name one, such as winopron:2, or add --list")
    how = Replicating(
        data=out / "data",
        runs=out / "runs",
        sources=sources,
        weights=own,
        limit=limit,
        mirror=mirror,
        trust_remote_code=trust_remote_code,
    )
    _announce(rows, how, only or [], yes)
    with loud_warnings():
        done = run_again(tables, rows, how, only or [], progress_bar, download_bar)
    done = [one for one in done if one.rows]
    if as_json:
        print(json.dumps([one.to_json() for one in done], indent=2))
    else:
        print_tables((one.to_table() for one in done), markdown=markdown)
    return int(any("its run failed" in why for one in done for why in one.left_out.values()))


def _own_weights(given: Sequence[str]) -> Mapping[str, str]:
    own = {}
    for argument in given:
        row, _, checkpoint = argument.partition("=")
        if not row or not checkpoint:
            cause = f"'{argument}' names no weights"
            raise InputError(cause, cure="write --weights ROW=CHECKPOINT")
        own[row] = checkpoint
    return own


def _print_rows(rows: Sequence["ResolvedRow"], as_json: bool, *, commands: bool) -> None:
    if as_json:
        print(json.dumps([row.to_json() for row in rows], indent=2))
        return
    if commands:
        for row in rows:
            print(f"# {row.table} {row.row}: {row.status}. {_needs(row)}{row.reason}".rstrip())
            print(*row.commands, sep="\n", end="\n" if row.commands else "")
        return
    listed = RichTable("table", "row", "system", "status", "why", box=None)
    for row in rows:
        listed.add_row(row.table, row.row, row.made_with.written, row.status, row.reason)
    Console().print(listed)


def _announce(
    rows: Sequence["ResolvedRow"], how: "Replicating", only: Sequence[str], yes: bool
) -> None:
    """Say what will be fetched and how long it takes; ask before anything is downloaded."""
    wanted = [row for row in rows if how.left_out(row, only) is None]
    for row in {row.row: row for row in wanted}.values():
        print(f"{row.row}: {row.made_with.written}. {_needs(row)}".rstrip(), file=sys.stderr)
    fetched = {row.made_with.written: row.download for row in wanted if row.download}
    built = [] if how.sources else how.missing_datasets(wanted)
    if not (fetched or built) or yes:
        return
    what = [f"{sum(fetched.values()) / 1e9:.1f} GB of weights (estimate)"] if fetched else []
    what += [f"upstream's files of {', '.join(built)}"] if built else []
    told = " and ".join(what)
    if not sys.stdin.isatty():
        raise InputError(f"{told} would be downloaded", cure="add --yes")
    typer.confirm(f"Download {told}?", abort=True, err=True)


def _needs(row: "ResolvedRow") -> str:
    if not row.memory:
        return ""
    fetched = f"{row.download / 1e9:.1f} GB to download, " if row.download else ""
    return f"Estimates: {fetched}{row.memory / 1e9:.1f} GB of memory, {_duration(row.seconds)}. "


def _duration(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} seconds"
