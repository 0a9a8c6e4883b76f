"""Publishing, asking for access and loading, from an empty Hub to a user who loads the data."""

import importlib.util
import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import SHARED
from tests.hub.folders import changed
from tests.hub.server import HubServer
from tests.hub.users import ORGS, REPO, USERS, Hub

WRITES = ("POST", "PUT")
TABLES = ["double/test.parquet", "single/test.parquet"]


@contextmanager
def own_hub(homes: Path) -> Iterator[Hub]:
    with HubServer(USERS, ORGS) as server:
        with closing(Hub(server.url, homes, lambda: server.requests)) as hub:
            yield hub
        assert server.exposed == []


@contextmanager
def shared_hub(homes: Path) -> Iterator[Hub]:
    path = SHARED / "tools" / "loopback_hub.py"
    if not path.exists():
        pytest.skip("the loopback Hub (../shared/tools) is not here")
    specification = importlib.util.spec_from_file_location("loopback_hub", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    log = homes / "hub" / "requests.jsonl"

    def requests() -> list[dict[str, Any]]:
        # this server answers first and logs then
        lines, before = log.read_text().splitlines() if log.exists() else [], None
        while lines != before:
            time.sleep(0.05)
            lines, before = log.read_text().splitlines() if log.exists() else [], lines
        return [*map(json.loads, lines)]

    with (
        module.LoopbackHub(homes / "hub", USERS, ORGS) as server,
        closing(Hub(server.url, homes, requests)) as hub,
    ):
        yield hub


@pytest.fixture(params=[own_hub, shared_hub])
def story_hub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hub]:
    """An empty Hub: the tests' own server, and the one that was checked on its own."""
    with request.param(tmp_path) as hub:
        yield hub


def test_from_an_empty_hub_to_a_user_who_loads_the_data(story_hub: Hub, sample: Path) -> None:
    publishing_gates_before_it_shows(story_hub, sample)
    publishing_again_changes_nothing(story_hub, sample)
    strangers_are_told_where_to_ask(story_hub)
    a_request_waits_and_is_answered(story_hub)
    the_unmodified_clients_load_it(story_hub, sample)
    the_export_holds_no_more_than_it_must(story_hub)
    who_is_rejected_or_loses_access_is_told_so(story_hub)


def publishing_gates_before_it_shows(hub: Hub, sample: Path) -> None:
    plan = hub.publish(sample, "--dry-run")
    assert len(plan.splitlines()) == 9
    assert hub.requests() == []
    said = hub.publish(sample).splitlines()
    assert said == [
        "sample 1.0.0: 6 files, as their card says",
        "created, private",
        "uploaded gate-probe, which holds nothing",
        "gated: manual",
        "public: a stranger is refused gate-probe",
        "uploaded 6 files",
        "a stranger is refused every table",
        "tagged 1.0.0",
        f"{hub.url}/datasets/{REPO}",
    ]
    asked = [one for one in hub.requests() if f"{REPO}/resolve" in one["path"]]
    # the shared server may log them in another order
    paths = sorted(one["path"].partition("/main/")[2] for one in asked)
    assert paths == [*TABLES[:1], *["gate-probe"] * 3, *TABLES[1:]]
    assert {one["user"] for one in asked} == {None}
    assert {one["status"] for one in asked} <= {401, 404}


def publishing_again_changes_nothing(hub: Hub, sample: Path) -> None:
    before = len(hub.requests())
    assert "the files are there already" in hub.publish(sample)
    assert hub.since(before, *WRITES) == []
    before = len(hub.requests())
    other = changed(sample, hub.homes / "other", lambda card: card + "\nOne more line.\n")
    assert hub.publish(other, status=2) == (
        f"{REPO}: version 1.0.0 is published already, and README.md is another (nothing was "
        "changed); raise the version in the header of the page in cards/ and build again"
    )
    assert hub.since(before, *WRITES) == []


def strangers_are_told_where_to_ask(hub: Hub) -> None:
    page = f"{hub.url}/datasets/{REPO}"
    assert hub.use(status=2) == (
        f"{REPO}: the dataset is gated, and you are not logged in; ask for access at {page}, "
        "then run 'hf auth login'"
    )
    assert hub.use("hf_alice", status=2) == (
        f"{REPO}: the dataset is gated, and you have not asked for access; ask for it at {page}"
    )
    assert "the Hub does not accept the token in HF_TOKEN" in hub.use("hf_wrong", status=2)


def a_request_waits_and_is_answered(hub: Hub) -> None:
    hub.ask("hf_alice")
    hub.ask("hf_bob")
    assert hub.use("hf_alice", status=2) == (
        f"{REPO}: your request for access awaits an answer; wait for it, or write to the "
        f"maintainers at {hub.url}/datasets/{REPO}/discussions"
    )
    listed = hub.pronominal("access", REPO, "list", "--answers", token="hf_owner")
    assert [line.split()[:2] for line in listed.splitlines()] == [
        ["alice", "pending"],
        ["bob", "pending"],
    ]
    assert listed.count("A university") == 2
    hub.pronominal("access", REPO, "accept", "alice", token="hf_owner")
    hub.use("hf_alice", home="alice")
    before = len(hub.requests())
    hub.use("hf_alice", home="alice")
    assert [path for path in hub.since(before, "GET") if "/resolve/" in path] == []


LOADING = """
import json, sys
from datasets import load_dataset
from datasets.exceptions import DatasetNotFoundError

repo, rows = sys.argv[1], {}
try:
    load_dataset(repo, token=False)
except DatasetNotFoundError as error:
    rows["a stranger"] = str(error)
for config in ("double", "single"):
    rows[config] = load_dataset(repo, config, split="test").to_list()
rows["first"] = load_dataset(repo, split="test")[0]
rows["streamed"] = list(load_dataset(repo, "single", split="test", streaming=True).take(3))
print(json.dumps(rows))
"""


def the_unmodified_clients_load_it(hub: Hub, sample: Path) -> None:
    before = len(hub.requests())
    settings = {"HF_TOKEN": "hf_alice", "USE_TORCH": "0"}  # to import it takes longer than to load
    alice = hub.start("-c", LOADING, REPO, home="datasets", **settings)
    stdout, stderr = alice.communicate()
    assert alice.returncode == 0, stderr
    rows = json.loads(stdout)
    assert "is a gated dataset on the Hub" in rows["a stranger"]
    double, single = (pq.read_table(sample / path).to_pylist() for path in TABLES)
    same = {
        "double": rows["double"] == double,
        "single": rows["single"] == single,
        "the default config": rows["first"] == double[0],
        "streamed": rows["streamed"] == single[:3],
    }
    assert all(same.values()), same
    assert 206 in {one["status"] for one in hub.requests()[before:]}


def the_export_holds_no_more_than_it_must(hub: Hub) -> None:
    file = hub.homes / "requests.csv"
    hub.pronominal("access", REPO, "reject", "bob", token="hf_owner")
    hub.pronominal("access", REPO, "grant", "carol", token="hf_owner")
    hub.pronominal("access", REPO, "export", file, token="hf_owner")
    rows = [line.split(",") for line in file.read_text().splitlines()]
    assert rows[0] == ["user", "status", "date"]
    assert sorted(row[:2] for row in rows[1:]) == [
        ["alice", "accepted"],
        ["bob", "rejected"],
        ["carol", "accepted"],
    ]
    assert {len(row[2]) for row in rows[1:]} == {len("2026-01-02")}


def who_is_rejected_or_loses_access_is_told_so(hub: Hub) -> None:
    refused = (
        f"{REPO}: your request for access was rejected, or your access withdrawn; write to the "
        f"maintainers at {hub.url}/datasets/{REPO}/discussions"
    )
    assert hub.use("hf_bob", status=2) == refused
    hub.pronominal("access", REPO, "reject", "alice", token="hf_owner")
    assert hub.use("hf_alice", status=2) == refused
    # what was fetched before stays with its reader
    hub.use("hf_alice", home="alice")
    hub.use("hf_carol")
