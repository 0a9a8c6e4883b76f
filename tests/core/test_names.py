"""Names that become folders: the same rule everywhere, and what Windows asks besides."""

import pytest

from pronominal import InputError
from pronominal.names import require_name

DEVICES = ("CON", "nul", "aux.txt", "Lpt1", "com9.v2.x", "prn.")


@pytest.mark.parametrize("name", [*DEVICES, "label.", "a.."])
def test_names_that_windows_keeps_are_refused_there_alone(name: str) -> None:
    with pytest.raises(InputError, match="Windows has no folder of the name"):
        require_name("label", name, windows=True)
    require_name("label", name, windows=False)


@pytest.mark.parametrize("name", ["console", "nulls", "auxiliary", "com", "com10", "a.con", "x"])
def test_others_are_taken_everywhere(name: str) -> None:
    require_name("label", name, windows=True)


@pytest.mark.parametrize("name", ["label ", " label", "", ".", "a/b", "a\\b", "C:", "a\n", 3, None])
def test_names_that_lead_elsewhere_are_refused_everywhere(name: object) -> None:
    for windows in (True, False):
        with pytest.raises(InputError, match="cannot be the name of a folder"):
            require_name("label", name, windows=windows)
