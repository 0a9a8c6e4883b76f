"""What only Unix has is not needed: the commands run where the module fcntl cannot be imported."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
sys.modules["fcntl"] = None
from pronominal.cli.main import app

rows = ["--dataset", "out/sample", "--config", "double"]
run = "runs/sample.double.test.random"
for command in (
    ["build", "sample", "--out", "out"],
    ["evaluate", *rows, "--system", "random", "--system", "first-mention"],
    ["score", "sample", *rows, "--predictions", run],
    ["report", "runs"],
):
    app(command, standalone_mode=False)
"""


def test_the_first_table_needs_no_fcntl(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()
    assert not [*tmp_path.rglob(".*")]
