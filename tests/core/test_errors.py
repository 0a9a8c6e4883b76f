"""The one error that a user meets."""

import pickle

import pytest

from pronominal import InputError
from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError


@pytest.mark.parametrize(
    "error",
    [
        InputError("it is empty", cure="give another", file="a.jsonl", row="line 7"),
        InputError("it is empty", cure="give another"),
        FailedCallError("it died", cure="start it again"),
        RefusedTextError("it is too long", cure="shorten it", index=3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_a_worker_process_comes_home_as_it_was(error: InputError) -> None:
    home = pickle.loads(pickle.dumps(error))
    assert type(home) is type(error)
    assert str(home) == str(error)
    assert vars(home) == vars(error)
