"""Tiny models with the chat formats of families that think, made to write what those write."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError, score
from pronominal.adapters import load
from pronominal.adapters.lm.prompting.chat import Turns
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run
from tests.adapters.lm.language_models import CAUSAL, save
from tests.adapters.lm.prompting.chat_templates import FAMILIES, SPECIAL
from tests.eval.evaluated import score_predictions

TRANSCRIPTS = [(family, *told) for family, (_, every) in FAMILIES.items() for told in every]
TEXTS = ["he she they xe or? Who left? The pilot waved at the cook before she left."]


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """A checkpoint of a tiny model with a family's chat template."""
    made: dict[str, str] = {}

    def tokenizer(texts: Sequence[str]) -> Any:
        found = CAUSAL["gpt2"][0](texts)
        found.add_special_tokens({"additional_special_tokens": SPECIAL})
        return found

    plain = save(tmp_path_factory.mktemp("plain"), (tokenizer, CAUSAL["gpt2"][1]), TEXTS)

    def checkpoint(family: str) -> str:
        if family not in made:
            folder = tmp_path_factory.mktemp("chatting")
            shutil.copytree(plain, folder, dirs_exist_ok=True)
            (folder / "chat_template.jinja").write_text(FAMILIES[family][0], encoding="utf-8")
            made[family] = str(folder)
        return made[family]

    return checkpoint


@pytest.fixture(scope="module")
def thinking(chatting: Callable[[str], str]) -> Callable[[str], Any]:
    """A family's model with little room to think; what it writes is scripted by each test."""
    return cache(
        lambda family: load("lm-prompts", chatting(family), device="cpu", thinking_tokens=100)
    )


def scripted(
    system: Any, write: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> list[int]:
    """Let a model write what it is told to after each prompt, and end; returns the limits."""
    import torch

    limits: list[int] = []
    tokenizer, model = system._loaded.tokenizer, system._loaded.model
    end = tokenizer.eos_token_id
    monkeypatch.setattr(model.generation_config, "eos_token_id", end)

    def generate(input_ids: Any, max_new_tokens: int, **settings: Any) -> Any:
        limits.append(max_new_tokens)
        answers = [
            [*tokenizer(write(prompt), add_special_tokens=False)["input_ids"], end][:max_new_tokens]
            for prompt in tokenizer.batch_decode(input_ids)
        ]
        longest = max(map(len, answers))
        rows = [answer + [end] * (longest - len(answer)) for answer in answers]
        return torch.cat([input_ids, torch.tensor(rows)], dim=1)

    monkeypatch.setattr(model, "generate", generate)
    return limits


@pytest.mark.parametrize(("family", "written", "state", "answer"), TRANSCRIPTS)
def test_an_answer_is_told_from_its_thought(
    thinking: Callable[[str], Any],
    family: str,
    written: str,
    state: str,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = thinking(family)
    scripted(system, lambda prompt: written, monkeypatch)
    (reply,) = system.generate(["Who left?"])
    assert (reply.state, reply) == (state, answer)


def test_only_what_thinks_is_given_room(
    chatting: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    system: Any = load("lm-prompts", chatting("Qwen3"), device="cpu", thinking_tokens=150)
    thought = f"<think>{'he or she? ' * 8}</think>"
    limits = scripted(system, lambda prompt: f"{thought}they", monkeypatch)
    (reply,) = system.generate(["Who left?"])
    assert (reply, reply.finish_reason) == ("they", "stop")
    assert limits == [20, 170]
    long = "she, said the cook, and who would know better " * 4
    limits = scripted(system, lambda prompt: long, monkeypatch)
    (reply,) = system.generate(["Who left?"])
    assert (reply.state, reply.finish_reason, limits) == ("answered", "length", [20])


def test_thoughts_of_prompts_of_any_length_fit_the_model(chatting: Callable[[str], str]) -> None:
    """A real tiny model that never ends: its positions are its limit, for each prompt alone."""
    system: Any = load("lm-prompts", chatting("Qwen3 Thinking"), device="cpu")
    long = "The pilot waved at the cook. " * 28  # with little room left
    prompts = [f"{long}{rest}" for rest in ("Who left?", "The pilot waved. Who left?", "left?")]
    together = system.generate(prompts)
    assert together == [system.generate([prompt])[0] for prompt in prompts]
    assert {reply.state for reply in together} <= {"unfinished", "answered", "empty"}


def test_a_run_counts_and_scores_what_was_cut_off(
    chatting: Callable[[str], str], sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = read_split(str(sample), "double").first(12)
    settings = {"prompts": ["2-none", "3-none"], "device": "cpu", "thinking_tokens": 0}
    asked = SystemSettings("qwen", "lm-prompts", chatting("Qwen3"), settings)
    system: Any = asked.load()
    scripted(system, lambda p: "<think>he" if "Tell me" in p else "I do not know", monkeypatch)
    folder = run(few, system, asked, tmp_path)
    assert folder.record.counts == {"rows": 12, "none": 0, "both": 0, "unfinished": 12}
    assert folder.record.inference == {
        "max_new_tokens": 20,
        "thinking_tokens": 0,
        "frame": "<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n",
    }
    found = score_predictions(few, folder.path)["prompts"]
    assert found["unfinished"] == 0.5
    assert found["interval"]["unfinished"] is not None
    shares = {name: block["unfinished"] for name, block in found["by_prompt"].items()}
    assert {*shares.values()} == {0, 1}
    line = json.loads(folder.predictions.read_text().splitlines()[0])
    assert {*line["answers"].values()} == {"none", "unfinished"}
    (told,) = line["replies"].values()
    assert (told["state"], told["finish_reason"]) == ("unfinished", "stop")
    assert told["thought_characters"] > 0
    results = score(few, folder.path)
    for shown in (
        results.summary,
        results.to_markdown(),
        results.to_latex(),
        results._repr_html_(),
    ):
        told_first = re.search(
            r"\w: 50\.0\S* \[[\d., ]+\] percent of answers unfinished", " ".join(shown.split())
        )
        assert told_first, shown


def test_another_frame_is_another_run(
    chatting: Callable[[str], str], sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = read_split(str(sample), "double").first(12)
    settings = {"prompts": ["2-none"], "device": "cpu"}
    asked = SystemSettings("oss", "lm-prompts", chatting("gpt-oss"), settings)
    system: Any = asked.load()
    scripted(system, lambda prompt: "<|channel|>final<|message|>she", monkeypatch)
    folder = run(split, system, asked, tmp_path)
    assert folder.record.inference is not None
    assert folder.record.inference["date"] == "2025-01-01"
    assert "Today: 2025-01-01" in folder.record.inference["frame"]
    later: Any = load("lm-prompts", chatting("gpt-oss"), date="2026-02-03", **settings)
    with pytest.raises(InputError, match="another inference: date, frame"):
        run(split, later, asked, tmp_path)


@pytest.mark.parametrize("family", ["gpt-oss", "SmolLM3", "Llama 3"])
def test_a_day_in_a_template_is_fixed(chatting: Callable[[str], str], family: str) -> None:
    system: Any = load("lm-prompts", chatting(family), device="cpu")
    assert system.inference["date"] == "2025-01-01"
    assert "2025" in system.inference["frame"]
    other: Any = load("lm-prompts", chatting(family), device="cpu", date="2031-07-09")
    assert "2031" in other.inference["frame"]
    plain: Any = load("lm-prompts", chatting("Qwen3"), device="cpu")
    assert "date" not in plain.inference


@pytest.mark.parametrize(
    "call",
    [
        "{% set f = '%d %B %Y' %}{{ strftime_now(f) }}",
        "{{ strftime_now(format='%d %B %Y') }}",
        "{{ strftime_now ('%d %B %Y') }}",
        "{% if strftime_now is defined %}{{ strftime_now('%d ' ~ '%B %Y') }}{% endif %}",
        "{% macro today() %}{{ strftime_now('%d %B %Y') }}{% endmacro %}{{ today() }}",
    ],
)
def test_no_way_of_asking_for_today_gets_it(call: str) -> None:
    tokenizer = CAUSAL["gpt2"][0](TEXTS)
    tokenizer.chat_template = call + "{% for m in messages %}{{ m.content }}{% endfor %}"
    turns = Turns(tokenizer, None, "", today="2024-02-29")
    assert turns.frame == "29 February 2024{prompt}"
    assert turns.described["date"] == "2024-02-29"


def test_a_day_is_written_as_python_writes_it() -> None:
    tokenizer = CAUSAL["gpt2"][0](TEXTS)
    tokenizer.chat_template = (
        "\n  {% if true %}{{ strftime_now('100%%d %-d/%m/%y %A') }}{% endif %}"
    )
    assert Turns(tokenizer, None, "").text("") == "\n100%d 1/01/25 Wednesday"


def test_a_day_of_the_users_own_is_the_one_that_is_printed() -> None:
    tokenizer = CAUSAL["gpt2"][0](TEXTS)
    tokenizer.chat_template = (
        "{{ date_string if date_string is defined else strftime_now('%Y') }}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    turns = Turns(tokenizer, None, "", {"date_string": "May"})
    assert turns.frame == "May{prompt}"
    assert "date" not in turns.described
    assert Turns(tokenizer, None, "").described["date"] == "2025-01-01"


def test_an_argument_that_is_only_named_in_the_template_is_refused() -> None:
    tokenizer = CAUSAL["gpt2"][0](TEXTS)
    tokenizer.chat_template = "{# effort #}{% for m in messages %}{{ m.content }}{% endfor %}"
    with pytest.raises(InputError, match="the same whatever effort is"):
        Turns(tokenizer, None, "", {"effort": "high"})


SWITCHES = [
    ("Qwen3", {"enable_thinking": False}, "<think>\n\n</think>\n\n"),
    ("DeepSeek-V3.1", {"chat_template_kwargs": {"thinking": True}}, "<think>"),
    ("GLM-4.5", {"enable_thinking": False}, "<think></think>"),
    ("Gemma 4", {"enable_thinking": True}, "<|turn>model\n"),
    ("Command A Reasoning", {"chat_template_kwargs": {"reasoning": False}}, "<|END_THINKING|>"),
    ("Solar Open", {"chat_template_kwargs": {"reasoning_effort": "low"}}, "<|begin|>assistant"),
]


@pytest.mark.parametrize(("family", "settings", "end"), SWITCHES)
def test_thoughts_are_switched(
    chatting: Callable[[str], str], family: str, settings: dict[str, Any], end: str
) -> None:
    system: Any = load("lm-prompts", chatting(family), device="cpu", **settings)
    assert system.inference["frame"].endswith(end)


def test_other_arguments_reach_the_template(chatting: Callable[[str], str]) -> None:
    arguments = {"reasoning_effort": "high"}
    system: Any = load(
        "lm-prompts", chatting("gpt-oss"), device="cpu", chat_template_kwargs=arguments
    )
    assert "Reasoning: high" in system.inference["frame"]
    assert system.inference["chat_template_kwargs"] == arguments


@pytest.mark.parametrize(
    ("family", "settings", "cause"),
    [
        ("DeepSeek-V3.1", {"enable_thinking": True}, "the same whatever enable_thinking is"),
        ("Qwen3", {"chat_template_kwargs": {"thinking": False}}, "the same whatever thinking is"),
        ("Qwen3", {"chat_template_kwargs": {"effort": "low"}}, "the same whatever effort is"),
        ("Qwen3", {"chat": "none", "enable_thinking": False}, "the same whatever enable_thinking"),
        ("Qwen3", {"date": "tomorrow"}, "'tomorrow' is no date"),
        ("Qwen3", {"thoughts": "thinkin"}, "did you mean 'think"),
    ],
)
def test_a_switch_that_changes_nothing_is_refused(
    chatting: Callable[[str], str], family: str, settings: dict[str, Any], cause: str
) -> None:
    with pytest.raises(InputError, match=cause):
        load("lm-prompts", chatting(family), device="cpu", **settings)


@pytest.mark.parametrize("family", ["Qwen3", "Qwen3 Thinking", "gpt-oss", "SmolLM3"])
def test_options_are_not_scored_as_a_thoughts_first_words(
    chatting: Callable[[str], str], family: str
) -> None:
    with pytest.raises(InputError, match="the beginning of a thought"):
        load("lm-multiple-choice", chatting(family), device="cpu")
    assert load("lm-multiple-choice", chatting(family), device="cpu", thoughts="none")


@pytest.mark.parametrize("family", ["DeepSeek-V3.1", "Gemma 4", "Llama 3"])
def test_options_follow_a_prompt_without_a_thought(
    chatting: Callable[[str], str], family: str
) -> None:
    assert load("lm-multiple-choice", chatting(family), device="cpu")
    assert load("lm-multiple-choice", chatting("Qwen3"), device="cpu", enable_thinking=False)


def test_a_template_that_fails_is_one_line() -> None:
    class Tokenizer:
        chat_template = "{{ raise_exception('no') }}"

        def apply_chat_template(self, *given: Any, **more: Any) -> str:
            raise ValueError("no user here")

    with pytest.raises(InputError, match="the chat template makes no prompt"):
        Turns(Tokenizer(), None, "here")
