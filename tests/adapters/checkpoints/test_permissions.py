"""Weights may be read by whom the user's umask lets read files."""

import os
from pathlib import Path

import pytest
import torch

from pronominal.adapters.checkpoints.tensors import write_tensors


@pytest.mark.parametrize(("mask", "permissions"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_are_those_of_the_umask(tmp_path: Path, mask: int, permissions: int) -> None:
    before = os.umask(mask)
    try:
        write_tensors(tmp_path / "model.safetensors", {"a": torch.zeros(2)})
    finally:
        os.umask(before)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == permissions
