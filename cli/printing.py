"""What commands print of scores: tables, and how many rows have no answer."""

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pronominal.eval.results import Results
    from pronominal.eval.tables.table import Table


def print_results(
    results: "Results", *, full: bool = False, markdown: bool = False, latex: bool = False
) -> None:
    """Print what scores say, and with `full` every table of them."""
    if markdown or latex:
        print(results.to_markdown(full=full) if markdown else results.to_latex(full=full))
        return
    for block in results.blocks(full=full):
        if isinstance(block, str):
            print(block, end="")
        else:
            print_tables([block])


def print_tables(tables: Iterable["Table"], *, markdown: bool = False) -> None:
    """Print tables as Markdown, or as a terminal shows them."""
    from rich.console import Console

    for table in tables:
        if markdown:
            print(table.to_markdown())
        else:
            Console().print(table.to_rich())


def exit_with_failures(failed: Mapping[str, int]) -> None:
    """Say which systems failed at rows, and exit with 1 if there are any."""
    for label, count in failed.items():
        if count:
            print(
                f"pronominal: {label} failed at {count:,} rows, which count as rows without an "
                "answer; failures.jsonl beside the predictions has ids and causes. The same "
                "command asks for them again; code of your own that you mend is another system, so "
                "give it another label: -s LABEL=MODULE:ATTRIBUTE",
                file=sys.stderr,
            )
    if any(failed.values()):
        raise typer.Exit(1)
