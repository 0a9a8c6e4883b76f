"""Kept units: whatever is wrong with their file is said in one line."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from pronominal import InputError
from pronominal.eval.runs.units import UNITS, read_units, write_units


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_units(tmp_path, {"accuracy": np.arange(200, dtype=np.int64) % 7})
    return tmp_path


def test_units_come_back(written: Path) -> None:
    units = read_units(written)
    assert units is not None
    assert units["accuracy"].tolist() == [number % 7 for number in range(200)]


@pytest.mark.parametrize("place", range(8, 200, 4))
def test_damaged_units_are_named(written: Path, place: int) -> None:
    file = written / UNITS
    content = bytearray(file.read_bytes())
    content[place] ^= 0xFF
    content[place + 1] ^= 0x63
    file.write_bytes(content)
    with suppress(InputError):
        units = read_units(written)
        # what no checksum covers, such as a time, changes nothing
        assert units is not None
        assert [*units] == ["accuracy"]
