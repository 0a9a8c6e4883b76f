"""The README's system keeps the promises of systems, and is right more often than chance."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_main import pronominal
from tests.conftest import ROOT


@pytest.fixture
def place(tmp_path: Path) -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r'```python title="mine.py"\n(.*?)```', text, re.S)
    (tmp_path / "readme_example.py").write_text(program)
    return "readme_example:WorkWords"


def test_the_example_passes_check_system(place: str, tmp_path: Path) -> None:
    checked = pronominal("check-system", place, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout


def test_the_example_beats_chance(place: str, sample: Path, tmp_path: Path) -> None:
    asked = ("-d", sample, "-c", "double", "-s", place, "--json")
    done = pronominal("evaluate", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    low, _ = scores["work-words"]["overall"]["interval"]["accuracy"]
    assert low > 0.5
