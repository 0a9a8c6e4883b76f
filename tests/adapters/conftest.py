"""What the tests of several families of systems share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def without_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH: spaCy imports torch where it can, which takes most of its start."""
    folder = tmp_path_factory.mktemp("without")
    (folder / "torch.py").write_text('raise ImportError("this environment has no torch")\n')
    return folder
