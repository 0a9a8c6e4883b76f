"""Results are offered to a model's repository as a pull request, once."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from pronominal.dataset_scripts.hub.model_results import read_results
from pronominal.errors import InputError
from tests.hub.repository import Repo
from tests.hub.server import HubServer
from tests.hub.users import ORGS, USERS, Hub

MODEL = "carol/model"


def results(folder: Path, **changes: object) -> Path:
    entry: dict[str, object] = {
        "dataset": {"id": "uds-lsv/sample", "task_id": "sample_double"},
        "value": 0.5,
        "date": "2026-11-23T04:00:00+00:00",
        "notes": "a rehearsal",
    }
    (folder / ".eval_results").mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump([{**entry, **changes}])
    (folder / ".eval_results" / "sample.yaml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hub, HubServer]]:
    homes = tmp_path_factory.mktemp("homes")
    with (
        HubServer(USERS, ORGS) as server,
        closing(Hub(server.url, homes, lambda: server.requests)) as users,
    ):
        yield users, server


def test_a_pull_request_is_opened_once_and_main_is_left(
    hub: tuple[Hub, HubServer], tmp_path: Path
) -> None:
    users, server = hub
    server.repos[MODEL] = repo = Repo(private=False)
    offer = ("publish", results(tmp_path), "--results", MODEL)
    told = users.pronominal(*offer, "--dry-run", token="hf_owner")
    assert told == "uds-lsv/sample sample_double: 0.5\n"
    assert not repo.branches
    told = users.pronominal(*offer, token="hf_owner")
    assert told.splitlines()[-1] == f"{server.url}/{MODEL}/discussions/1"
    assert {*repo.files("refs/pr/1")} == {".eval_results/sample.yaml"}
    assert repo.files("main") == {}
    # the same again is the request that is open; another value is another request
    assert users.pronominal(*offer, token="hf_owner").splitlines()[-1].endswith("/discussions/1")
    assert len(repo.branches) == 1
    results(tmp_path, value=0.75)
    assert users.pronominal(*offer, token="hf_owner").splitlines()[-1].endswith("/discussions/2")


def test_results_that_are_there_are_not_offered(hub: tuple[Hub, HubServer], tmp_path: Path) -> None:
    users, server = hub
    server.repos[MODEL] = repo = Repo(private=False)
    content = (results(tmp_path) / ".eval_results" / "sample.yaml").read_bytes()
    repo.commit({".eval_results/other-name.yaml": content}, parent=repo.resolve("main"))
    offer = ("publish", tmp_path, "--results", MODEL)
    told = users.pronominal(*offer, token="hf_owner", status=2)
    assert told == f"{MODEL}: it has these results already; nothing is to do"


def test_a_token_that_only_reads_is_told(hub: tuple[Hub, HubServer], tmp_path: Path) -> None:
    users, server = hub
    server.repos[MODEL] = Repo(private=False)
    offer = ("publish", results(tmp_path), "--results", MODEL)
    assert MODEL in users.pronominal(*offer, token="hf_reader", status=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": "high"}, "its value is no share in [0, 1]"),
        ({"value": float("nan")}, "its value is no share in [0, 1]"),
        ({"value": 64.1}, "its value is no share in [0, 1]"),
        ({"date": "yesterday"}, "its date is no quoted day or time of ISO 8601"),
        ({"dataset": {"id": "b", "task_id": "x"}}, "its dataset is no ORG/NAME"),
        ({"dataset": {"id": "a/b"}}, "it has no task_id"),
        ({"dataset": None}, "it has no dataset"),
    ],
)
def test_what_the_client_takes_unchecked_is_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError) as error:
        read_results(results(tmp_path, **changes))
    assert message in str(error.value)
    assert "entry 1" in str(error.value)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no \.eval_results/\*\.yaml"):
        read_results(tmp_path)
