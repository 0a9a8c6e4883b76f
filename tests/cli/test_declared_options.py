"""Options that several have in common become one parameter of a command, or are refused."""

import pytest

from pronominal.cli.declared_options import shared_parameters
from pronominal.settings import Option

SEED = Option("seed", int, "Of the draw.")


def test_owners_are_named_where_they_are_few() -> None:
    (one,) = shared_parameters([("a", SEED), ("b", SEED)])
    (many,) = shared_parameters([("a", SEED), ("b", SEED), ("c", SEED)])
    assert one.annotation.__metadata__[0].help == "a, b: Of the draw."
    assert many.annotation.__metadata__[0].help == "Of the draw."


def test_two_options_of_one_name_are_refused() -> None:
    other = Option("seed", int, "Of something else.")
    with pytest.raises(ValueError, match="b and a declare different options --seed"):
        [*shared_parameters([("a", SEED), ("b", other)])]
