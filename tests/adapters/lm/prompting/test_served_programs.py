"""A thinking model behind each of the four programs that serve models."""

import json
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run
from tests.adapters.lm.prompting.served_programs import (
    THOUGHT,
    VERSIONS,
    ServedProgram,
    served_program,
)

PROGRAMS = sorted(VERSIONS)
PROMPTS = ["Who left? the pilot", "Who slept? the cook"]
ANSWERS = ["pilot", "cook"]


def served(server: ServedProgram, **settings: Any) -> Any:
    return load("lm-server", url=server.url, **settings)


def limits(server: ServedProgram) -> list[int]:
    return [content["max_tokens"] for path, content in server.asked if path.endswith("completions")]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_thinking_model_has_room_to_finish(program: str) -> None:
    with served_program(program) as server:
        replies = served(server, at_once=1).generate(PROMPTS)
    assert replies == ANSWERS
    assert {(reply.state, reply.finish_reason) for reply in replies} == {("answered", "stop")}
    assert {reply.thought for reply in replies} == {"he or she, or they?"}
    assert limits(server) == [20, 8212] * 2


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_thought_that_is_cut_off_is_unfinished(program: str) -> None:
    with served_program(program) as server:
        replies = served(server, thinking_tokens=30).generate(PROMPTS)
    assert {(reply, reply.state, reply.finish_reason) for reply in replies} == {
        ("", "unfinished", "length")
    }


@pytest.mark.parametrize("program", [one for one in PROGRAMS if one != "ollama"])
@pytest.mark.parametrize("opens", [False, True])
def test_a_server_that_leaves_thoughts_in_answers(program: str, opens: bool) -> None:
    with served_program(program, parses=False, opens=opens) as server:
        assert served(server, at_once=1).generate(PROMPTS) == ANSWERS
        # a thought that the prompt has opened shows at its end alone: one question of ours tells
        trial = [8192] if opens else []
        assert limits(server) == [20, *trial, 8212, 20, 8212]
        short = served(server, thinking_tokens=THOUGHT // 2).generate(PROMPTS)
    assert {reply.state for reply in short} == {"unfinished"}


@pytest.mark.parametrize("opens", [False, True])
def test_a_cut_thought_is_no_answer_without_room_for_thoughts(opens: bool) -> None:
    with served_program("vllm", parses=False, opens=opens) as server:
        replies = served(server, thinking_tokens=0, at_once=1).generate(PROMPTS)
    assert {(reply, reply.state) for reply in replies} == {("", "unfinished")}
    assert limits(server) == [20, *([8192] if opens else []), 20]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_model_that_does_not_think_is_asked_once(program: str) -> None:
    with served_program(program, thinks=False) as server:
        assert served(server).generate(PROMPTS) == ANSWERS
    assert limits(server) == [20, 20]


@pytest.mark.parametrize("parses", [True, False])
def test_a_thought_ends_where_the_served_model_does(parses: bool) -> None:
    with served_program("vllm", longest=400, parses=parses, opens=not parses) as server:
        system = served(server, at_once=1)
        assert system.generate(PROMPTS) == ANSWERS
    assert limits(server) == [20, *([] if parses else [200]), 370, 20, 370]
    assert system.inference["server"]["max_model_len"] == 400


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_an_answer_that_the_server_gave_up_is_none(reason: str) -> None:
    with served_program("sglang", thinks=False, reason=reason) as server:
        system = served(server)
        with pytest.raises(InputError, match=r"gave up an answer .*what is done is kept"):
            system.generate(PROMPTS)


def test_a_wordy_answer_is_read_as_far_as_it_goes() -> None:
    with served_program("vllm", thinks=False, wordy=50) as server:
        replies = served(server, at_once=1).generate(PROMPTS)
    assert replies == ANSWERS
    assert limits(server) == [20, 8192, 20]  # one question of ours
    assert [reply.finish_reason for reply in replies] == ["length", "length"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_thoughts_are_switched_off(program: str) -> None:
    with served_program(program) as server:
        system = served(server, enable_thinking=False)
        assert system.generate(PROMPTS) == ANSWERS
    assert limits(server) == [20, 20]
    switch = {"chat_template_kwargs": {"enable_thinking": False}}
    expected = {"reasoning_effort": "none"} if program == "ollama" else switch
    assert expected.items() <= system.inference.items()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_run_says_what_served_it(program: str, sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double").first(12)
    with served_program(program) as server:
        settings = {"url": server.url, "prompts": ["2-backward"]}
        asked = SystemSettings("served", "lm-server", None, settings)
        folder = run(split, asked.load(), asked, tmp_path)
    assert folder.record.inference == {
        "max_new_tokens": 20,
        "thinking_tokens": 8192,
        "server": {"program": program, "version": next(iter(VERSIONS[program][1].values()))},
    }
    lines = [json.loads(line) for line in folder.predictions.read_text().splitlines()]
    assert {line["choice"] for line in lines} == {0}
    told = {"state": "answered", "finish_reason": "stop", "thought_characters": 19}
    assert all(line["replies"] == {"2-backward": told} for line in lines)


def test_a_run_counts_what_was_cut_off(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double").first(12)
    with served_program("vllm") as server:
        settings = {"url": server.url, "prompts": ["2-backward"], "thinking_tokens": 0}
        asked = SystemSettings("served", "lm-server", None, settings)
        folder = run(split, asked.load(), asked, tmp_path)
    rows = split.num_rows
    assert folder.record.counts == {"rows": rows, "none": 0, "both": 0, "unfinished": rows}
    line = json.loads(folder.predictions.read_text().splitlines()[0])
    assert (line["choice"], line["abstained"]) == (None, "unfinished")
    assert line["answers"] == {"2-backward": "unfinished"}


def test_a_server_that_dies_in_a_thought_is_waited_for(
    sample: Path, tmp_path: Path, pauses: list[float]
) -> None:
    split = read_split(str(sample), "double").first(64)
    with served_program("sglang") as server:
        settings = {"url": server.url, "prompts": ["2-backward"], "at_once": 2}
        asked = SystemSettings("served", "lm-server", None, settings)
        whole = run(split, asked.load(), asked, tmp_path / "whole").predictions.read_bytes()
        server.gone_after, server.answered = 81, 0  # between the two questions of a prompt
        with pytest.raises(InputError, match="what is done is kept"):
            run(split, asked.load(), asked, tmp_path / "cut")
        server.gone_after = None
        folder = run(split, asked.load(), asked, tmp_path / "cut")
    assert folder.predictions.read_bytes() == whole


@pytest.mark.parametrize(
    ("program", "settings", "cause"),
    [
        ("vllm", {"program": "vlm"}, "did you mean 'vllm'"),
        ("sglang", {"chat_template_kwargs": {"force_nonempty_content": True}}, "looks like an"),
        ("ollama", {"chat_template_kwargs": {"thinking": True}}, "nothing but whether to think"),
        ("ollama", {"enable_thinking": True}, "would not hear of enable_thinking = true"),
        (
            "ollama",
            {"enable_thinking": False, "reasoning_effort": "high"},
            "would not hear of enable_thinking = false",
        ),
        ("vllm", {"chat": False, "enable_thinking": False}, "has no chat template"),
        ("vllm", {"enable_thinking": "off"}, "enable_thinking is 'off'; give true or false"),
        ("vllm", {"chat_template_kwargs": 3}, "are no table"),
        ("vllm", {"thinking_tokens": -1}, "thinking_tokens is -1"),
    ],
)
def test_what_a_server_cannot_do_is_refused(
    program: str, settings: dict[str, Any], cause: str
) -> None:
    with served_program(program) as server, pytest.raises(InputError, match=cause):
        served(server, **settings)
