"""Every command that a card or a pack's reason tells the reader to run is one that there is."""

import re
import shlex
from collections.abc import Iterator

import pytest
import typer

from pronominal.adapters.catalogue.published import hub_id_of, published_of
from pronominal.cli.main import app
from pronominal.eval.papers.figures import PAPERS, paper_tables
from pronominal.eval.papers.packs.machine import Machine
from pronominal.eval.papers.packs.resolved import resolved_rows
from tests.conftest import ROOT

INSIDE = re.compile(r"\$\((pronominal [^)]*)\)")
IN_PROSE = re.compile(r"(?<![`\w])([`'])(pronominal [^`']+)\1")
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)


def commands_in(prose: str) -> Iterator[str]:
    for block in BLOCK.findall(prose):
        lines = block.replace("\\\n", " ").splitlines()
        yield from (line for line in lines if line.startswith("pronominal "))
        yield from INSIDE.findall(block)
    for _, command in IN_PROSE.findall(BLOCK.sub("", prose)):
        yield INSIDE.sub("FOLDER", " ".join(command.split()))
        yield from INSIDE.findall(command)


TABLES = [table for paper in PAPERS for table in paper_tables(paper)]
REASONS = {row.reason for row in resolved_rows(TABLES, Machine(cores=2))}
CARDS = [file.read_text("utf-8") for file in (ROOT / "cards").glob("*.md")]
WRITTEN = sorted({one for prose in (*REASONS, *CARDS) for one in commands_in(prose)})


@pytest.mark.parametrize("command", WRITTEN)
def test_a_written_command_is_one_that_there_is(command: str) -> None:
    _, name, *arguments = shlex.split(INSIDE.sub("FOLDER", command), comments=True)
    group = typer.main.get_command(app)
    context = group.make_context("pronominal", [name], resilient_parsing=True)
    found = group.get_command(context, name)  # type: ignore[attr-defined]
    assert found is not None
    given, *_ = found.make_parser(context).parse_args([one for one in arguments if one != "..."])
    if name == "fetch":
        assert hub_id_of(given["system"]) or published_of(given["system"])


def test_the_commands_are_found() -> None:
    assert {"pronominal fetch corenlp-neural", "pronominal import cort"} <= {*WRITTEN}
