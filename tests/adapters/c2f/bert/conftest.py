"""What the original programs answered with one tiny checkpoint."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, SHARED


@pytest.fixture(scope="session")
def c2f() -> Path:
    """The checkpoint and all goldens; where these are not, those of our own sentences.

    The vocabulary of the latter has the pieces of these sentences, and of single characters.
    """
    everything = SHARED / "goldens" / "c2f"
    return everything if everything.is_dir() else ROOT / "tests" / "goldens" / "c2f"


@pytest.fixture(scope="session")
def golden(c2f: Path) -> Callable[[str], Path]:
    """Return a file of them; the test is skipped where it is not there."""

    def find(name: str) -> Path:
        if not (c2f / name).exists():
            pytest.skip(f"the golden vectors (../shared/goldens/c2f/{name}) are not here")
        return c2f / name

    return find
