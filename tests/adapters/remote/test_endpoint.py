"""A system behind an HTTP address: ours to give, never followed elsewhere, and allowed to fail."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.contract.check import check_system
from pronominal.adapters.contract.plain_questions import plain_resolutions
from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run
from tests.adapters.remote.own_server import Handler, serving

TEXTS = ["Ann saw Eve.", "Tom fell.", "It 😀 rained, so she stayed."]

Reply = Callable[[list[dict[str, Any]]], Any]


def clusters(inputs: list[dict[str, Any]]) -> Any:
    return {"answers": [{"id": i["id"], "clusters": [[[0, len(i["text"])]]]} for i in inputs[::-1]]}


@dataclass
class Server:
    url: str = ""
    reply: Reply = clusters
    status: Callable[[list[dict[str, Any]]], int] = lambda inputs: 200
    asked: list[list[dict[str, Any]]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()

    class System(Handler):
        def asked(self, content: bytes) -> None:
            inputs = json.loads(content)["inputs"]
            found.asked.append(inputs)
            found.keys.add(self.headers["Authorization"])
            reply = found.reply(inputs)
            body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.answer(found.status(inputs), body, Location=f"{found.url}/elsewhere")

    with serving(System) as address:
        found.url = f"{address}/coref"
        yield found


def test_every_text_has_its_answer_in_order(server: Server) -> None:
    system = load("http", server.url, at_once=2)
    assert system.cluster(TEXTS) == [[[[0, len(text)]]] for text in TEXTS]
    assert [len(inputs) for inputs in server.asked] == [1, 2, 1]
    assert system.cluster([]) == []


def test_labels_and_ids_of_the_dataset_stay_here(server: Server) -> None:
    server.reply = lambda inputs: {"answers": [{"id": i["id"], "scores": [1, 0]} for i in inputs]}
    instances = plain_resolutions()
    assert load("http", server.url, method="choose").choose(instances) == [[1, 0]] * len(instances)
    keys = {key for inputs in server.asked for one in inputs for key in one}
    assert keys == {"id", "text", "pronoun", "candidates"}


def test_the_key_is_taken_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRONOMINAL_SERVER_KEY", "sesame")
    load("http", server.url)
    assert server.keys == {"Bearer sesame"}


def for_tom(other: Any, normal: Any) -> Callable[[list[dict[str, Any]]], Any]:
    def chosen(inputs: list[dict[str, Any]]) -> Any:
        return other if any(one["text"] == TEXTS[1] for one in inputs) else normal

    return chosen


@pytest.mark.parametrize("status", [0, 400, 500, 503])
def test_a_request_that_fails_is_a_failed_call(server: Server, status: int) -> None:
    system = load("http", server.url)
    server.status = for_tom(status, 200)
    with pytest.raises(FailedCallError) as caught:
        system.cluster(TEXTS)
    assert not any(text in str(caught.value) for text in TEXTS)
    assert len(system.cluster(TEXTS[:1])) == 1


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        (b"<html>", FailedCallError, "not JSON"),
        ([], FailedCallError, "no list of answers"),
        ({"answers": ["x"]}, FailedCallError, "no list of answers"),
        ({"answers": [{"id": 0, "clusters": []}]}, RefusedTextError, "1 answers to 3 inputs"),
        ({"answers": [{"id": i} for i in range(3)]}, RefusedTextError, "without clusters"),
        ({"answers": [{"id": i, "error": "e"} for i in range(3)]}, RefusedTextError, "an error"),
    ],
)
def test_a_reply_that_is_none_is_named(
    server: Server, reply: Any, error: type[Exception], message: str
) -> None:
    system = load("http", server.url)
    server.reply = lambda inputs: reply
    with pytest.raises(error, match=message):
        system.cluster(TEXTS)


def test_a_server_that_is_too_slow(server: Server) -> None:
    system = load("http", server.url, timeout=1)
    waiting = threading.Event()
    server.reply = lambda inputs: waiting.wait(5)
    with pytest.raises(FailedCallError, match="no answer came"):
        system.cluster(TEXTS)
    waiting.set()


@pytest.mark.parametrize("status", [302, 401, 404])
def test_another_address_is_not_tried_and_a_wrong_one_is_refused(
    server: Server, status: int
) -> None:
    server.status = lambda inputs: status
    with pytest.raises(InputError, match=f"HTTP {status}"):
        load("http", server.url)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://api.openai.com/coref", "a hosted API"),
        ("https://coref.example.org", "may be a hosted API"),
        ("localhost:8000", "the url is no URL"),
        ("http://me:key@localhost:8000", "holds a user or a query"),
        (None, "http needs a URL; give its address"),
        ("http://localhost:9/nobody", "there is no server"),
    ],
)
def test_evaluation_text_goes_to_servers_of_your_own_only(url: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load("http", url, patience=0)


def test_a_server_that_fails_at_an_odd_text_breaks_a_promise(server: Server) -> None:
    system = load("http", server.url)
    server.status = lambda inputs: 500 if any(not one["text"] for one in inputs) else 200
    found = {check.promise: check.faults for check in check_system(system)}
    assert found["cluster: it answers, or refuses, odd texts"] == (
        "at odd text 1 (''...): the server answers with HTTP 500",
    )


def test_a_row_that_the_server_fails_at_is_recorded(
    server: Server, sample: Path, tmp_path: Path
) -> None:
    split = read_split(str(sample), "double")
    culprit = split.instances()[7]
    server.reply = lambda i: {"answers": [{"id": one["id"], "clusters": []} for one in i]}
    asked = SystemSettings("http", "http", server.url)
    system = asked.load()
    server.status = lambda inputs: 500 if any(i["text"] == culprit.text for i in inputs) else 200
    folder = run(split, system, asked, tmp_path)
    assert list(folder.failures) == [culprit.id]
    assert folder.failures[culprit.id].cause.startswith("the server answers with HTTP 500")


def test_a_server_that_never_was_there_is_said_at_once(pauses: list[float]) -> None:
    for url in ("http://localhost:9/nobody", "http://nobody.localdomain/"):
        with pytest.raises(InputError, match=f"^{url}: there is no server .*; check the address"):
            load("http", url)
    assert pauses == []
