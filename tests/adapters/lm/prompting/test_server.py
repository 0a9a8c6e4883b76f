"""A model server of the user's own: asked, asked again when it is away, and nobody else's."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.lm.prompting.model_server import checked_address
from pronominal.adapters.remote.servers import KEY
from pronominal.cli.main import app
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run
from tests.adapters.remote.own_server import Handler, serving


@dataclass
class Server:
    """Answers with the last word of what it is asked; fails as it is told to.

    Attributes:
        failures: status codes of the next answers; 0 closes the connection without any.
        dies_after: number of prompts after which it only closes connections.
        fails_at: a text, and the status code of every answer to it.
    """

    failures: list[int] = field(default_factory=list)
    dies_after: int | None = None
    fails_at: tuple[str, int] = ("", 200)
    models: tuple[str, ...] = ("tiny",)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    answer: Any = None
    url: str = ""

    def reply(self, path: str, content: Any) -> Any:
        if path == "/v1/models":
            return {"data": [{"id": name} for name in self.models]}
        if self.answer is not None:
            return self.answer
        if path == "/v1/chat/completions":
            text = content["messages"][0]["content"].split()[-1]
            return {"choices": [{"message": {"content": text}}]}
        return {"choices": [{"text": content["prompt"].split()[-1]}]}


@pytest.fixture
def server(pauses: list[float]) -> Iterator[Server]:
    found = Server()

    class Model(Handler):
        def asked(self, content: bytes) -> None:
            prompts = sum(path != "/v1/models" for path, _ in found.asked)
            dead = found.dies_after is not None and prompts >= found.dies_after
            status = 0 if dead else (found.failures.pop(0) if found.failures else 200)
            if status == 0:
                self.close_connection = True
                return
            asked = json.loads(content) if content else None
            text, code = found.fails_at
            if text and text in json.dumps(asked, ensure_ascii=False):
                self.answer(code, text.encode())
                return
            found.asked.append((self.path, asked))
            found.keys.add(self.headers["Authorization"])
            body = json.dumps(found.reply(self.path, asked)).encode()
            self.answer(status, body, Location=f"{found.url}/elsewhere")

    with serving(Model) as found.url:
        yield found


def served(server: Server, **settings: Any) -> Any:
    return load("lm-server", url=server.url, **settings)


def test_every_prompt_is_answered_in_order(server: Server) -> None:
    prompts = [f"word {number}" for number in range(50)]
    assert served(server).generate(prompts) == [str(number) for number in range(50)]
    contents = [content for path, content in server.asked if path == "/v1/chat/completions"]
    assert len(contents) == 50
    assert {(c["model"], c["max_tokens"], c["temperature"]) for c in contents} == {("tiny", 20, 0)}


def test_plain_completions(server: Server) -> None:
    assert served(server, chat=False).generate(["the pilot"], max_new_tokens=3) == ["pilot"]
    path, content = server.asked[-1]
    assert path == "/v1/completions"
    assert (content["prompt"], content["max_tokens"]) == ("the pilot", 3)


def test_a_model_that_says_nothing_said_nothing(server: Server) -> None:
    for message in ({"content": None}, {"role": "assistant"}):
        server.answer = {"choices": [{"message": message}]}
        assert served(server).generate(["the pilot"]) == [""]


def test_white_space_behind_a_thought_is_no_answer_yet(server: Server) -> None:
    message = {"content": "\n\n", "reasoning": "he or she"}
    for reason, state in (("length", "unfinished"), ("stop", "empty")):
        server.answer = {"choices": [{"message": message, "finish_reason": reason}]}
        (reply,) = served(server).generate(["the pilot"])
        assert (reply, reply.state, reply.thought) == ("", state, "he or she")


def test_the_key_is_taken_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "sesame")
    served(server).generate(["the pilot"])
    assert server.keys == {"Bearer sesame"}


def test_no_proxy_gets_a_sentence(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert served(server).generate(["the pilot"]) == ["pilot"]


@pytest.mark.parametrize("status", [0, 408, 429, 500, 503])
def test_a_server_that_is_away_for_a_moment_is_asked_again(
    server: Server, pauses: list[float], status: int
) -> None:
    model = served(server, at_once=1)
    server.failures = [status] * 3
    assert model.generate(["the pilot"]) == ["pilot"]
    assert pauses == [0.25, 0.5, 1]


@pytest.mark.parametrize("status", [302, 307, 400, 401, 404])
def test_a_refusal_is_no_reason_to_ask_again(
    server: Server, pauses: list[float], status: int
) -> None:
    model = served(server, at_once=1)
    server.failures = [status] * 2  # it refuses a prompt of ours, too
    with pytest.raises(InputError, match=f"refuses what it is asked .HTTP {status}") as refused:
        model.generate(["the pilot"])
    assert ("check the address" in refused.value.cure) == (status == 404)
    assert pauses == []
    assert not any(path == "/elsewhere" for path, _ in server.asked)


@pytest.mark.parametrize(("status", "pauses_before"), [(400, 0), (413, 0), (422, 0), (500, 3)])
def test_a_prompt_that_the_server_fails_at_is_named(
    server: Server, pauses: list[float], status: int, pauses_before: int
) -> None:
    server.fails_at = ("pilot", status)
    with pytest.raises(RefusedTextError, match=rf"prompts\[1\]: .* not this one .HTTP {status}"):
        served(server, at_once=1).generate(["the baker", "the pilot"])
    assert len(pauses) == pauses_before


def test_a_prompt_that_the_server_refuses_costs_one_row(
    server: Server, sample: Path, tmp_path: Path
) -> None:
    split = read_split(str(sample), "double").first(48)
    text = split.instances()[1].text
    server.fails_at = (text, 400)
    asked = SystemSettings("served", "lm-server", None, {"url": server.url, "prompts": ["2-none"]})
    folder = run(split, asked.load(), asked, tmp_path)
    assert folder.record.counts["failed"] == sum(one.text == text for one in split.instances())


def test_a_server_that_fails_at_everything_stops_the_run(
    server: Server, pauses: list[float]
) -> None:
    model = served(server)
    server.failures = [500] * 1000
    with pytest.raises(InputError, match=r"not answered for 60 seconds .HTTP 500"):
        model.generate(["the pilot"])


def test_a_run_goes_on_after_the_server_died(
    server: Server, sample: Path, tmp_path: Path, pauses: list[float]
) -> None:
    split = read_split(str(sample), "double").first(64)
    settings = {"url": server.url, "prompts": ["2-none"], "at_once": 4}
    asked = SystemSettings("served", "lm-server", None, settings)
    whole = run(split, asked.load(), asked, tmp_path / "whole").predictions.read_bytes()
    server.asked.clear()
    server.dies_after = 40
    with pytest.raises(InputError, match=r"not answered for 60 seconds .* what is done is kept"):
        run(split, asked.load(), asked, tmp_path / "cut")
    (part,) = tmp_path.glob("cut/*/predictions.jsonl")
    assert len(part.read_bytes().splitlines()) == 32  # two whole chunks of 16
    assert sum(pauses) >= 60
    server.dies_after = None
    folder = run(split, asked.load(), asked, tmp_path / "cut")
    assert folder.predictions.read_bytes() == whole
    assert folder.record.system.question == "generation of tiny"
    assert "url" not in folder.record.settings


@pytest.mark.parametrize(
    ("models", "settings", "cause"),
    [
        (("one", "two"), {}, "the server has 2 models; write model = one or two"),
        ((), {}, "the server has 0 models"),
        (("tiny",), {"at_once": 0}, "nothing is asked"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    server: Server, models: tuple[str, ...], settings: dict[str, Any], cause: str
) -> None:
    server.models = models
    with pytest.raises(InputError, match=cause):
        served(server, **settings)


@pytest.mark.parametrize("answer", [{}, [], {"choices": []}, "text", {"choices": [{"text": "a"}]}])
def test_another_protocol_is_named(server: Server, answer: Any) -> None:
    server.answer = answer
    with pytest.raises(InputError, match="does not answer in OpenAI's protocol"):
        served(server).generate(["the pilot"])


OWN = {
    "http://localhost:8000": "http://localhost:8000/v1",
    "http://127.0.0.1:8000/v1": "http://127.0.0.1:8000/v1",
    "http://127.3.2.1/": "http://127.3.2.1/v1",
    "http://[::1]:8000/v1/": "http://[::1]:8000/v1",
    "http://gpu-7:8000": "http://gpu-7:8000/v1",
    "https://192.168.0.4/llm": "https://192.168.0.4/llm/v1",
    "http://node3.cluster.internal": "http://node3.cluster.internal/v1",
}


@pytest.mark.parametrize("url", OWN)
def test_machines_of_ones_own(url: str) -> None:
    assert checked_address(url, None, False) == OWN[url]


HOSTED = (
    "https://api.openai.com/v1",
    "https://openai.com",
    "https://API.OpenAI.com/v1",
    "https://api.openai.com./v1",
    "https://example.openai.azure.com",
    "https://router.huggingface.co/v1",
    "https://llm.example.org",
    "http://8.8.8.8:8000",
    "http://localhost.example.org",
    "http://[2001:4860:4860::8888]/v1",
)


@pytest.mark.parametrize("url", HOSTED)
def test_a_hosted_api_is_refused_unless_the_user_accepts_it(url: str) -> None:
    with pytest.raises(InputError, match="hosted API, whose owner may train on the sentences"):
        checked_address(url, None, False)
    assert checked_address(url, None, True).endswith("/v1")


def test_a_host_can_be_named_but_no_known_api(server: Server) -> None:
    assert checked_address("https://llm.example.org", "llm.example.org", False)
    with pytest.raises(InputError, match="is a hosted API"):
        checked_address("https://api.openai.com", "api.openai.com", False)
    with pytest.raises(InputError, match="may be a hosted API"):
        checked_address("https://llm.example.org", "other.example.org", False)


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("localhost:8000", "is no URL"),
        ("file:///etc/passwd", "is no URL"),
        ("http://", "is no URL"),
        ("http://me:secret@localhost", "holds a user or a query"),
        ("http://:secret@localhost", "holds a user or a query"),
        ("http://localhost/?key=1", "holds a user or a query"),
        ("http://[::1", "is no URL"),
        ("http://localhost:99999", "is no URL"),
    ],
)
def test_what_is_no_address_is_refused(url: str, cause: str) -> None:
    with pytest.raises(InputError, match=cause) as error:
        checked_address(url, None, True)
    assert "secret" not in str(error.value)


def test_a_server_without_an_address_is_asked_for_one() -> None:
    with pytest.raises(InputError, match="needs the setting 'url'; write lm-server=URL, or add"):
        load("lm-server")


@pytest.mark.parametrize("name", ["lm-server", "corenlp-rule"])
def test_the_address_stands_after_the_name(name: str) -> None:
    with pytest.raises(InputError, match=re.escape("api.openai.com")):
        load(name, "https://api.openai.com/v1")


def test_the_command_refuses_a_hosted_api(sample: Path, tmp_path: Path) -> None:
    command = ["run", "--dataset", str(sample), "--config", "double", "--system", "lm-server"]
    command += ["--url", "https://api.openai.com/v1", "--out", str(tmp_path)]
    with pytest.raises(InputError, match="--i-accept-contamination"):
        app(command, standalone_mode=False)


def test_the_command_asks_a_server(
    server: Server, sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "--dataset", str(sample), "--config", "double", "--system", "lm-server"]
    command += ["--url", server.url, "--out", str(tmp_path), "--set", 'prompts=["2-backward"]']
    app(command, standalone_mode=False)
    folder = Path(capsys.readouterr().out.strip())
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    # the last word of this prompt is candidate 0
    assert {line["choice"] for line in lines} == {0}
