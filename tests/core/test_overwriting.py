"""Files that are there already."""

from pathlib import Path

import pytest

from pronominal.errors import InputError
from pronominal.overwriting import refuse_overwriting


def test_only_a_file_with_the_mark_may_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "out"
    refuse_overwriting(file)
    file.write_text("<!-- ours -->\nold\n")
    refuse_overwriting(file, "<!-- ours -->")
    for mark in (None, "another", "ours", "old", "<!-- ours"):
        with pytest.raises(InputError, match="remove it, or choose another file") as error:
            refuse_overwriting(file, mark)
        assert str(error.value).startswith(f"{file}: there is a file")
