"""Opaque ids say nothing of a row to whoever has no key, and all of it to who has."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.errors import InputError
from pronominal.opaque_ids import OPAQUE_ID, IdKey

ONE, OTHER = IdKey(bytes(32)), IdKey(bytes([1]) * 32)


@given(st.text(max_size=20), st.text(max_size=20))
def test_an_id_is_opaque_and_resolved_with_its_key(dataset: str, row: str) -> None:
    opaque = ONE.opaque(dataset, row)
    assert OPAQUE_ID.fullmatch(opaque)
    assert ONE.resolved(dataset, [row, f"{row}'"])[opaque] == row
    assert opaque not in OTHER.resolved(dataset, [row])


def test_datasets_do_not_share_opaque_ids() -> None:
    assert ONE.opaque("sample", "a") != ONE.opaque("samples", "a")


def test_a_key_is_kept_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "ids.key"
    made = IdKey.read_or_make(file)
    assert IdKey.read_or_make(file) == IdKey.read(file) == made
    assert made.secret.hex() not in repr(made)
    assert made.name not in made.secret.hex()
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="there is a file already"):
        IdKey.make(file)


@pytest.mark.parametrize("content", ["", "abc", "pronominal id key 1 abc\n", "\xff" * 84])
def test_what_is_no_key_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "ids.key"
    file.write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=r"no key.*pronominal ids key"):
        IdKey.read(file)


def test_a_key_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.key"):
        IdKey.read(tmp_path / "absent.key")
