"""Log-likelihoods from servers: where they are given, and where they are refused with a reason."""

from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run
from tests.adapters.lm.language_models import own_instances
from tests.adapters.lm.prompting.served_programs import scores_of, served_program, tokens_of

INSTANCES = own_instances()[:5]


def expected(text: str) -> float:
    return sum(score for score in scores_of(tokens_of(text)) if score is not None)


@pytest.mark.parametrize("program", ["vllm", "sglang"])
def test_a_text_has_the_sum_of_its_tokens(program: str) -> None:
    with served_program(program) as server:
        system: Any = load("lm-server-scores", url=server.url)
        found = system.loglikelihood(INSTANCES)
    assert system.inference["server"]["program"] == program
    for instance, scores in zip(INSTANCES, found, strict=True):
        assert scores == pytest.approx([expected(text) for text in instance.filled()])


@pytest.mark.parametrize(
    ("program", "reason"),
    [("llama.cpp", "refuses to echo a prompt"), ("ollama", "ignores the request to echo")],
)
def test_a_server_without_log_likelihoods_is_refused(program: str, reason: str) -> None:
    with (
        served_program(program) as server,
        pytest.raises(InputError, match=rf"no log-likelihood of a given text: .*{reason}"),
    ):
        load("lm-server-scores", url=server.url)


@pytest.mark.parametrize(
    ("program", "taken_for", "reason"),
    [
        ("llama.cpp", "vllm", "it refuses to echo a text"),
        ("ollama", "vllm", "it does not echo what it is handed"),
    ],
)
def test_a_server_that_is_not_what_it_is_said_to_be(
    program: str, taken_for: str, reason: str
) -> None:
    """A program that did not notice would score at chance."""
    with served_program(program) as server, pytest.raises(InputError, match=reason):
        load("lm-server-scores", url=server.url, program=taken_for)


def test_a_run_goes_on_after_the_server_died(
    own_ruff: str, tmp_path: Path, pauses: list[float]
) -> None:
    split = read_split(own_ruff, "no_context")
    with served_program("vllm") as server:
        settings = {"url": server.url, "at_once": 2}
        asked = SystemSettings("served", "lm-server-scores", None, settings)
        whole = run(split, asked.load(), asked, tmp_path / "whole").predictions.read_bytes()
        server.gone_after, server.answered = 10, 0
        with pytest.raises(InputError, match="what is done is kept"):
            run(split, asked.load(), asked, tmp_path / "cut")
        server.gone_after = None
        folder = run(split, asked.load(), asked, tmp_path / "cut")
    assert folder.predictions.read_bytes() == whole
    assert folder.record.system.question == "log-likelihood under tiny"
