"""What packages raise becomes one line for the user, and nothing that it should not say."""

import pickle

import pytest

from pronominal.adapters.checkpoints.tensors import is_unread
from pronominal.adapters.checkpoints.third_party import first_line, input_error_on
from pronominal.errors import InputError, extra_needed


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("\nno such key.\nTry another one."), "no such key"),
        (KeyError(), "KeyError"),
        (pickle.UnpicklingError("set weights_only to False"), "the pickle is damaged, or holds"),
        (EOFError("Ran out of input"), "the pickle is damaged, or holds"),
    ],
)
def test_what_a_library_says(error: Exception, line: str) -> None:
    assert first_line(error).startswith(line)
    assert "weights_only" not in first_line(error)


def test_what_is_expected_becomes_an_input_error_and_nothing_else() -> None:
    with (
        pytest.raises(
            InputError, match=r"^file: it is damaged \(cut off\); fetch it again$"
        ) as one,
        input_error_on(ValueError, cause="it is damaged", cure="fetch it again", file="file"),
    ):
        raise ValueError("cut off.\nSee the manual.")
    assert isinstance(one.value.__cause__, ValueError)
    with (
        pytest.raises(InputError, match=r"^it is damaged; fetch it again$"),
        input_error_on(ValueError, cause="it is damaged", cure="fetch it again", quoted=False),
    ):
        raise ValueError("cut off")
    for error in (OSError("another"), InputError("known already", cure="mend it")):
        with (
            pytest.raises(type(error)) as same,
            input_error_on(ValueError, cause="it is damaged", cure="fetch it again"),
        ):
            raise error
        assert same.value is error


def test_a_missing_package_names_its_extra() -> None:
    with (
        pytest.raises(
            InputError, match=r"it needs the package no_such_package; pip install .*\[lm"
        ),
        extra_needed("lm", "it"),
    ):
        __import__("no_such_package")


@pytest.mark.parametrize(
    ("name", "unread"),
    [
        ("pooler.dense.weight", True),
        ("bert/pooler/dense/kernel", True),
        ("longformer.pooler.dense.bias", True),
        ("bert.embeddings.position_ids", True),
        ("position_ids", False),
        ("embeddings.position_embeddings.weight", False),
        ("spooler.weight", False),
    ],
)
def test_only_poolers_and_numbers_of_positions_change_no_answer(name: str, unread: bool) -> None:
    assert is_unread(name) is unread
