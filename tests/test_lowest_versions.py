"""The oldest versions that `make lowest` installs."""

from pathlib import Path

import pytest

from tests.lowest_versions import SETUP, lowest_versions


def write_setup(folder: Path, core: str, extra: str) -> Path:
    file = folder / "setup.cfg"
    file.write_text(
        f"[options]\ninstall_requires =\n    {core}\n\n"
        f"[options.extras_require]\nhub =\n    {extra}\n"
    )
    return file


def test_the_higher_bound_counts(tmp_path: Path) -> None:
    setup = write_setup(tmp_path, "numpy>=1.9", "numpy>=1.26\n    ray[data]>=2.40")
    assert lowest_versions(setup, []) == {"numpy": "1.9"}
    assert lowest_versions(setup, ["hub"]) == {"numpy": "1.26", "ray": "2.40"}


def test_a_requirement_without_a_bound_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"'datasets' states no lowest version"):
        lowest_versions(write_setup(tmp_path, "numpy>=1.9", "datasets"), ["hub"])


def test_the_extras_of_the_job_state_theirs() -> None:
    assert {"typer", "datasets", "scipy"} <= lowest_versions(SETUP, ["hub", "stats"]).keys()
