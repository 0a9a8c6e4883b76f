"""``pronominal replicate``: a paper's tables, run again."""

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from pronominal.cli.arguments import Json, Markdown
from pronominal.cli.building import SourcesFolder
from pronominal.cli.fetching import Mirror, download_bar
from pronominal.cli.printing import print_tables
from pronominal.cli.progress import loud_warnings, progress_bar
from pronominal.errors import InputError, printable

if TYPE_CHECKING:
    from pronominal.eval.papers.packs.needs import Needs
    from pronominal.eval.papers.packs.resolved import ResolvedRow
    from pronominal.eval.papers.replicate import Replicating, Replication

LINE = 80
"""How many letters a line of ``--list`` has."""


PlaceOfTable = Annotated[
    str | None,
    typer.Argument(metavar="[PAPER[:TABLE]]", help="Such as winopron or winopron:2; else all."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(help="A row, such as lingmess, tried whatever is here; once a row."),
]
List = Annotated[bool, typer.Option("--list", help="List the rows and what stands in their way.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Say what would be fetched and run, and how long it takes."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder of datasets and runs.")]
OwnWeights = Annotated[
    list[str] | None,
    typer.Option(metavar="ROW=CHECKPOINT", help="Weights of your own for a row."),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", "-m", min=1, help="The first rows of each split only, to try it out."),
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code", help="Run the Python code that checkpoints bring (MosaicBERT)."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Download without asking.")]


def replicate(
    table: PlaceOfTable = None,
    only: Only = None,
    list_rows: List = False,
    dry_run: DryRun = False,
    out: Out = Path("replication"),
    sources: SourcesFolder = None,
    weights: OwnWeights = None,
    limit: Limit = None,
    mirror: Mirror = None,
    trust_remote_code: TrustRemoteCode = False,
    yes: Yes = False,
    as_json: Json = False,
    markdown: Markdown = False,
) -> int:
    """Run what a paper's tables need, and say whether they hold.

    Each row is run as its authors ran it, where that is possible here; the others say why not. What
    would be downloaded is said, and asked for, first. The same command goes on with what was
    stopped. Exits with 1 if a row's run failed, or if one that --only names was not run.
    """
    from pronominal.eval.papers.figures import PAPERS, paper_tables
    from pronominal.eval.papers.packs.machine import Machine
    from pronominal.eval.papers.packs.resolved import resolved_rows, told_of_own_weights
    from pronominal.eval.papers.replicate import Replicating
    from pronominal.eval.papers.replicate import replicate as run_again

    tables = [one for name in ([table] if table else PAPERS) for one in paper_tables(name)]
    own, named = _own_weights(weights or []), only or []
    data, runs = out / "data", out / "runs"
    how = Replicating(data, runs, sources, own, limit, mirror, trust_remote_code)
    rows = resolved_rows(tables, Machine.here(), named, how)
    for told in told_of_own_weights(rows, own):
        print(f"pronominal: {printable(told)}", file=sys.stderr)
    if list_rows or dry_run:
        _print_rows(rows, as_json, commands=dry_run)
        return 0
    if table is None:
        raise InputError("no paper is named", cure="name one, such as winopron:2, or add --list")
    _announce(rows, how, named, yes)
    with loud_warnings():
        done = run_again(tables, rows, how, named, progress_bar, download_bar)
    shown = [one for one in done if one.rows]
    _print_done(shown, as_json, markdown)
    unrun = {row: why for one in shown for row, why in one.left_out.items() if row in named}
    for row, why in unrun.items():
        print(f"pronominal: {row} was not run: {printable(why)}", file=sys.stderr)
    return int(bool(unrun) or any(one.failed for one in shown))


def _print_done(done: Sequence["Replication"], as_json: bool, markdown: bool) -> None:
    if as_json:
        print(json.dumps([one.to_json() for one in done], indent=2))
    else:
        print_tables((one.to_table() for one in done), markdown=markdown)


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
    elif commands:
        _print_commands(rows)
    else:
        _print_list(rows)


def _print_commands(rows: Sequence["ResolvedRow"]) -> None:
    """Print what runs each row, as a shell takes it; a dataset is built once."""
    built: set[str] = set()
    for row in rows:
        told = f"{_told(row.needs)}{_sentence(row.caution)}{row.reason}"
        print(f"# {row.table} {row.row}: {row.status}. {told}".rstrip())
        builds = {line for line in row.commands if line.startswith("pronominal build ")}
        lines = [line for line in row.commands if line not in built]
        print(*lines, sep="\n", end="\n" if lines else "")
        built |= builds


def _print_list(rows: Sequence["ResolvedRow"]) -> None:
    """Print a line a row, below its table's name, and then each reason once."""
    for table, same in groupby(rows, lambda row: row.table):
        of_table = [*same]
        width = max(len(row.row) for row in of_table)
        print(table)
        for row in of_table:
            first, *others = row.written
            print(f"  {row.row:{width}}  {row.status:13}  {first}")
            print(*(f"{'':{width + 19}}{one}\n" for one in others), sep="", end="")
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        if row.reason:
            reasons.setdefault((row.status, row.reason), {})[row.row] = None
    for (status, reason), keys in reasons.items():
        told = f"{', '.join(keys)}: {status}. {_sentence(reason)}".rstrip()
        print("", fill(told, LINE, break_long_words=False, break_on_hyphens=False), sep="\n")


def _announce(
    rows: Sequence["ResolvedRow"], how: "Replicating", only: Sequence[str], yes: bool
) -> None:
    """Say what will be fetched and how long it takes; ask before anything is downloaded."""
    from pronominal.eval.papers.packs.needs import Needs

    wanted = [row for row in rows if how.left_out(row, only) is None]
    by_key = {row.row: [one for one in wanted if one.row == row.row] for row in wanted}
    for key, same in by_key.items():
        told = _told(Needs.together(row.needs for row in same))
        told += _sentence(same[0].caution)
        print(f"{key}: {' + '.join(same[0].written)}. {told}".rstrip(), file=sys.stderr)
    needs = Needs.together(row.needs for row in wanted)
    if len(by_key) > 1:
        print(f"In all: {_told(needs)}".rstrip(), file=sys.stderr)
    built = [] if how.sources else how.missing_datasets(wanted)
    if not (needs.downloads or built) or yes:
        return
    what = [f"{_size(needs.download)} of weights (estimate)"] if needs.downloads else []
    what += [f"upstream's files of {', '.join(built)}"] if built else []
    told = " and ".join(what)
    if not sys.stdin.isatty():
        raise InputError(f"{told} would be downloaded", cure="add --yes")
    typer.confirm(f"Download {told}?", abort=True, err=True)


def _told(needs: "Needs") -> str:
    if not needs.memory:
        return ""
    fetched = f"{_size(needs.download)} to download, " if needs.downloads else ""
    return f"Estimates: {fetched}{_size(needs.memory)} of memory, {_duration(needs.seconds)}. "


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}. " if words else ""


def _size(count: float) -> str:
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else "less than 1 MB"


def _duration(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} seconds" if seconds >= 2 else "a few seconds"
