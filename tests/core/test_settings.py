"""Options say what may be given, and refuse what may not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pronominal
from pronominal import InputError
from pronominal.settings import Option, read_options

RESAMPLES = Option("resamples", int, "How many.", least=1, most=9)
SHARE = Option("share", float, "Of the rows.")
FLAG = Option("strict", bool, "Stop.")
FOLDER = Option("sources", Path, "Where.")
LENGTH = Option("length", Path, "Of a file.", read=lambda path: len(path.read_text()))


@pytest.mark.parametrize(
    ("option", "given", "value"),
    [
        (RESAMPLES, 3, 3),
        (RESAMPLES, np.int64(3), 3),
        (SHARE, 1, 1.0),
        (SHARE, np.float32(0.5), 0.5),
        (FLAG, True, True),
    ],
)
def test_a_value_has_the_options_type(option: Option, given: Any, value: Any) -> None:
    assert option.value(given) == value
    assert type(option.value(given)) is type(value)


@pytest.mark.parametrize(
    ("option", "given", "cure"),
    [
        (RESAMPLES, "ten", "give a whole number"),
        (RESAMPLES, True, "give a whole number"),
        (RESAMPLES, 0, "give at least 1"),
        (RESAMPLES, 10, "give at most 9"),
        (SHARE, "half", "give a number"),
        (FLAG, "banana", "give true or false"),
        (FOLDER, 3, "give a path"),
        (FOLDER, "nowhere/at/all", "check the path"),
    ],
)
def test_a_wrong_value_is_refused(option: Option, given: Any, cure: str) -> None:
    with pytest.raises(InputError, match=cure):
        option.value(given)


def test_a_path_is_read_and_may_be_a_string(tmp_path: Path) -> None:
    (tmp_path / "three").write_text("abc")
    assert FOLDER.value(str(tmp_path)) == tmp_path
    assert LENGTH.value(str(tmp_path / "three")) == 3


def test_an_option_that_the_owner_lacks_is_named() -> None:
    assert read_options("it", [RESAMPLES], {"resamples": 2}) == {"resamples": 2}
    with pytest.raises(InputError, match="it has no option 'no_such'; leave it out"):
        read_options("it", [RESAMPLES], {"no_such": 2})


@pytest.mark.parametrize(
    ("dataset", "option"), [("gap", {"repair_case": "false"}), ("sample", {"pronouns": 3})]
)
def test_a_build_refuses_values_of_another_type(
    tmp_path: Path, dataset: str, option: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=f"the option {next(iter(option))} is"):
        pronominal.build(dataset, tmp_path, **option)
    assert not [*tmp_path.iterdir()]
