"""The one error that a user meets."""

import os
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pronominal import InputError
from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.errors import os_errors


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


def test_a_pipe_is_refused_in_memory_as_on_disk(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        pipe = Path(folder) / "run.json"
        os.mkfifo(pipe)
        with pytest.raises(InputError, match="it is a pipe"), os_errors(pipe, "give a file"):
            pass


def test_a_device_may_be_read() -> None:
    with os_errors(Path("/dev/null"), "give a file"):
        assert not Path("/dev/null").read_bytes()
