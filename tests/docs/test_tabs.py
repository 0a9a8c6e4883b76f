"""A page that shows a command shows the same in Python, in the tab beside it."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
IN_PYTHON = {
    "build": "build",
    "evaluate": "evaluate",
    "report": "report",
    "score": "score",
    "switch": "switch_antecedents",
}
"""Command -> the function of `pronominal` that does the same."""

BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.M | re.S)
COMMAND = re.compile(rf"pronominal ({'|'.join(IN_PYTHON)}) ")
OTHER_TAB = re.compile(r'\s*=== "Python"\s*')


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_stand_beside_the_same_in_python(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # what a block prints belongs to it
    blocks = [block for block in BLOCK.finditer(text) if block[2] != "output"]
    for block, beside in pairwise([*blocks, None]):
        commands = {*COMMAND.findall(block[3])} if block[2] == "bash" else {}
        line = text[: block.start()].count("\n") + 1
        for command in commands:
            assert beside is not None, f"line {line}: {command}"
            between = BLOCK.sub("", text[block.end() : beside.start()])
            assert OTHER_TAB.fullmatch(between), f"line {line}: {command} has no tab with Python"
            called = rf"\.{IN_PYTHON[command]}(_experiment)?\("
            assert re.search(called, beside[3]) or command == "build", f"line {line}: no {called}"
