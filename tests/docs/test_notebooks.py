"""The notebooks are what their tutorials make of them, and run from the first cell to the last."""

import json
import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.docs.test_docs import environment  # noqa: F401 - a fixture

DOCS = ROOT / "docs"
PROGRAM = """
import json, subprocess, sys
for cell in json.load(open(sys.argv[1]))["cells"]:
    source = "".join(cell["source"])
    magic, _, rest = source.partition("\\n")
    if cell["cell_type"] != "code":
        continue
    if magic.startswith("%%writefile "):
        open(magic.split()[1], "w").write(rest)
    elif magic == "%%bash" or magic.startswith("%pip "):
        line = rest if magic == "%%bash" else magic[1:]
        subprocess.run(["bash", "-euo", "pipefail", "-c", line], check=True)
    else:
        exec(compile(source, cell["id"], "exec"), globals())
"""
"""Runs the cells as Jupyter would, in one process."""


def made() -> Any:
    spec = spec_from_file_location("notebooks", DOCS / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOTEBOOKS = made()


@pytest.mark.parametrize("page", NOTEBOOKS.TUTORIALS)
def test_notebooks_are_those_of_the_tutorials(page: str) -> None:
    held = (DOCS / "notebooks" / f"{page}.ipynb").read_text(encoding="utf-8")
    assert held == NOTEBOOKS.notebook(page), "run python docs/notebooks.py"
    cells = json.loads(held)["cells"]
    assert {"code", "markdown"} == {cell["cell_type"] for cell in cells}
    assert not any(cell.get("outputs") for cell in cells)
    prose = " ".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    assert not re.search(r"===|```(bash|python)|\]\((?!http)", prose)


@pytest.mark.docs
@pytest.mark.parametrize("page", NOTEBOOKS.TUTORIALS)
def test_every_cell_of_a_notebook_runs(
    page: str,
    environment: dict[str, str],  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    place = DOCS / "notebooks" / f"{page}.ipynb"
    path = f"{tmp_path / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, place],
        cwd=tmp_path,
        env={**os.environ, **environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
