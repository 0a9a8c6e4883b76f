"""What a system prints is not among what a command prints."""

import json
from pathlib import Path

import pytest

from tests.cli.test_main import pronominal

TALKATIVE = """
print("imported")


class Talkative:
    name = "talkative"

    def __init__(self):
        print("made")

    def cluster(self, texts):
        print("asked")
        return [[] for _ in texts]
"""


@pytest.mark.parametrize("command", ["evaluate", "check-system"])
def test_stdout_stays_json(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / f"talkative_{command[:5]}.py").write_text(TALKATIVE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    place = f"talkative_{command[:5]}:Talkative"
    rows = ("--dataset", sample, "--config", "double", "--out", tmp_path / "out", "--system")
    result = pronominal(command, *(rows if command == "evaluate" else ()), place, "--json")
    json.loads(result.stdout)
    said = result.stderr.splitlines()
    assert {"imported", "made", "asked"} <= {*said}
