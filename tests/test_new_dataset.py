"""A new dataset with a score of its own: its files, and one line in `DATASETS`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

SCRIPT = '''
"""A toy."""

from pronominal.dataset_scripts.building.script import SplitRows
from pronominal.dataset_scripts.tables.columns import resolution_columns

NAME = "toy"
OPTIONS = ()
UPSTREAM = ()
UNPUBLISHABLE = ()
HYDRATION = None
COLUMNS = resolution_columns("the two who are named", ("first", "second"))
TEXT = "Ada met Bea when she left."


def mention(word):
    return {"text": word, "start": TEXT.index(word), "end": TEXT.index(word) + len(word)}


def splits(sources, options):
    row = {"text": TEXT, "pronoun": mention("she"), "candidates": [mention("Ada"), mention("Bea")]}
    rows = [{"id": f"toy-{label}", "label": label, **row} for label in (0, 1)]
    yield SplitRows.from_rows("all", "test", COLUMNS, rows)


def violations(sources):
    yield from ()
'''

TASK = '''
"""The toy's score."""

from pronominal.eval.tables.measure import Measure
from pronominal.eval.task import Task


def score(answered):
    labels = answered.table["label"].to_pylist()
    right = [label == one.choice for label, one in zip(labels, answered.decisions)]
    return {"n": len(right), "toyness": sum(right) / len(right)}


TASK = Task("toys", score, (Measure("toyness", "Toyness", ("toyness",)),), headline="toyness")
'''

CARD = """---
pretty_name: Toy
license: apache-2.0
canary: pronominal:toy:00000000-0000-0000-0000-000000000000
---

{{ splits }}

{{ columns }}
"""


def test_a_new_dataset_is_its_files_and_one_line(tmp_path: Path) -> None:
    links, package = tmp_path / "links", tmp_path / "pronominal"
    subprocess.run([sys.executable, ROOT / "tests" / "link_tree.py", links], check=True)
    shutil.copytree(links / "pronominal", package)
    (package / "dataset_scripts" / "toy.py").write_text(SCRIPT)
    (package / "eval" / "scores" / "toy.py").write_text(TASK)
    (package / "cards" / "toy.md").write_text(CARD)
    catalogue = package / "dataset_scripts" / "__init__.py"
    text = catalogue.read_text()
    catalogue.write_text(text.replace('    "winopron":', '    "toy": "a toy",\n    "winopron":'))
    built, shown, _ = pronominal(
        tmp_path,
        "build toy --out out",
        "evaluate --dataset out/toy --system first-mention --system random --out runs",
        "report runs --out report.html",
    )
    assert "out/toy" in built
    assert "Toyness" in shown
    (run,) = tmp_path.glob("runs/*first-mention*/score.json")
    assert json.loads(run.read_text())["toyness"] == 0.5
    assert "Toyness" in (tmp_path / "report.html").read_text()


COMMANDS = """
import sys
from pronominal.cli.main import app
for command in sys.argv[1:]:
    app(command.split(), standalone_mode=False)
    print(chr(0))
"""


def pronominal(folder: Path, *commands: str) -> list[str]:
    """Call commands in one process of that package, and return what each prints."""
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, *commands],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\0\n")[:-1]
