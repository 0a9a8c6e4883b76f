"""vLLM's adapter, against a stand-in with vLLM's signatures: the same answers as without it."""

import sys
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.contract.plain_questions import plain_prompts
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.instances import FillingInstance
from pronominal.spans import Mention
from tests.adapters.lm.engines.vllm_stub import stub
from tests.adapters.lm.language_models import CAUSAL, filled, own_instances, save
from tests.adapters.lm.prompting.chat_templates import QWEN3_THINKING

INSTANCES = own_instances()
PROMPTS = plain_prompts()


@pytest.fixture(autouse=True)
def vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", stub())


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [*filled(INSTANCES), *PROMPTS]
    return str(save(tmp_path_factory.mktemp("vllm"), CAUSAL[request.param], texts))


def test_log_likelihoods_are_those_of_lm(checkpoint: str) -> None:
    ours: Any = load("lm", checkpoint, scores="sentences", device="cpu")
    theirs: Any = load("lm-vllm", checkpoint)
    some = INSTANCES[::3]
    for one, other in zip(theirs.loglikelihood(some), ours.loglikelihood(some), strict=True):
        assert one == pytest.approx(other, abs=1e-3)
    engine = theirs._engine._engine
    assert engine.enable_prefix_caching is False
    assert {(asked.prompt_logprobs, asked.max_tokens) for _, asked in engine.asked} == {(0, 1)}
    assert len(engine.asked) == 4 * len(some)
    assert theirs.inference["engine"] == "vllm"


def test_answers_are_those_of_lm_prompts(checkpoint: str) -> None:
    ours: Any = load("lm-prompts", checkpoint, max_new_tokens=8, device="cpu")
    theirs: Any = load("lm-prompts-vllm", checkpoint, max_new_tokens=8)
    replies = theirs.generate(PROMPTS)
    assert replies == ours.generate(PROMPTS)
    assert [one.finish_reason for one in replies] == [
        one.finish_reason for one in ours.generate(PROMPTS)
    ]
    assert all(not asked.skip_special_tokens for _, asked in theirs._engine._engine.asked)


def test_a_thought_has_room_as_far_as_the_model_reads(checkpoint: str, tmp_path: Path) -> None:
    for file in Path(checkpoint).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "chat_template.jinja").write_text(QWEN3_THINKING)
    ours: Any = load("lm-prompts", str(tmp_path), max_new_tokens=4, device="cpu")
    theirs: Any = load("lm-prompts-vllm", str(tmp_path), max_new_tokens=4)
    prompts = [f"{PROMPTS[3]} " * 6 + prompt for prompt in PROMPTS[:2]]  # with little room left
    replies, expected = theirs.generate(prompts), ours.generate(prompts)
    assert [(one, one.state) for one in replies] == [(one, one.state) for one in expected]
    limits = [
        (asked.max_tokens, 256 - len(prompt)) for prompt, asked in theirs._engine._engine.asked
    ]
    assert [limit for limit, _ in limits[:2]] == [4, 4]
    assert all(limit == room for limit, room in limits[2:])
    assert len(limits) > 2


def test_what_is_too_long_is_named(checkpoint: str) -> None:
    text = f"{'The pilot left. ' * 100}Then ___ slept."
    start = text.index("___")
    long = FillingInstance("long", text, Mention("___", start, start + 3), ("he", "she"), 0)
    with pytest.raises(RefusedTextError, match=r"instances\[1\].* room for 256"):
        load("lm-vllm", checkpoint).loglikelihood([INSTANCES[0], long])  # type: ignore[union-attr]
    with pytest.raises(RefusedTextError, match=r"prompts\[0\].* room for 64"):
        load("lm-prompts-vllm", checkpoint, max_model_len=64).generate([text])  # type: ignore[union-attr]


def test_without_vllm_its_extra_is_named(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(InputError, match=r"pip install .*pronominal\[vllm\]"):
        load("lm-vllm", checkpoint)
