"""Thoughts told apart from answers: transcripts of our own in the form of every family."""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.adapters.lm.prompting.answers import named_by_words
from pronominal.adapters.lm.thoughts.delimiters import (
    described_delimiters,
    known_delimiters,
    parse_thoughts,
)
from pronominal.adapters.lm.thoughts.reading import (
    Reply,
    StrippedDelimitersWarning,
    closes_thought,
    opens_thought,
    read_reply,
    read_tokens,
)

CASES = json.loads((Path(__file__).parents[3] / "cases" / "thoughts.json").read_text("utf-8"))

TAGS = {
    "think": ("<think>", "</think>"),
    "mistral": ("[THINK]", "[/THINK]"),
    "gemma": ("<|channel>thought\n", "<channel|>"),
    "cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "kimi": ("◁think▷", "◁/think▷"),
    "seed": ("<seed:think>", "</seed:think>"),
    "granite": ("Here is my thought process:", "Here is my response:"),
    "thinking": ("<thinking>", "</thinking>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
}

PIECES = st.sampled_from(
    ["he", "she ", "they", "her\n", "xe.", "<answer>he</answer>", "<|im_end|>", "</s>", "(", "<"]
    + [tag for pair in TAGS.values() for tag in pair]
)
THOUGHTS = st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)
"""Whatever a model may think, delimiters of its own and of others included."""


def read(case: dict[str, Any]) -> Reply:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StrippedDelimitersWarning)
        return read_reply(
            case["text"],
            prompt_end=case.get("prompt_end", ""),
            finish_reason=case.get("finish_reason"),
        )


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_transcript(number: int) -> None:
    case = CASES[number]
    reply = read(case)
    assert (reply.state, named_by_words(reply, case["options"])) == (case["state"], case["named"])
    assert reply.finish_reason == case.get("finish_reason")


def test_every_family_has_transcripts() -> None:
    assert len(CASES) > 150
    for pair in known_delimiters().values():
        texts = [case["text"] for case in CASES]
        assert any(pair.opening.search(text) for text in texts)
        assert any(pair.closing.search(text) for text in texts)


@given(THOUGHTS, st.sampled_from(sorted(TAGS)), st.sampled_from(["she", "They.", "he, or she"]))
def test_no_thought_changes_an_answer(thought: str, family: str, answer: str) -> None:
    opening, closing = TAGS[family]
    pair = known_delimiters()[family]
    assume(not pair.closing.search(f"{opening}{thought}{closing}"[: -len(closing)]))
    written = f"{opening}{thought}{closing}{answer}"
    assert read_reply(written) == read_reply(written, prompt_end="x") == answer
    assert read_reply(written[len(opening) :], prompt_end=opening) == answer


@given(THOUGHTS, st.sampled_from(sorted(TAGS)))
def test_a_thought_that_does_not_end_is_never_read(thought: str, family: str) -> None:
    opening, _ = TAGS[family]
    assume(not known_delimiters()[family].closing.search(f"{opening}{thought}"))
    for reply in (read_reply(opening + thought), read_reply(thought, prompt_end=opening)):
        assert (reply, reply.state) == ("", "unfinished")


@given(THOUGHTS)
def test_channels_are_read_by_their_last_final_message(thought: str) -> None:
    begun = f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant"
    assert read_reply(f"{begun}<|channel|>final<|message|>she<|return|>") == "she"
    assert read_reply(begun).unfinished


@given(st.text())
def test_any_text_has_a_reply(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StrippedDelimitersWarning)
        reply = read_reply(text)
    assert (reply.state == "answered") == bool(reply.strip())


@given(st.text(st.characters(exclude_characters="<>[]|◁▷｜"), max_size=40))
def test_a_text_without_delimiters_is_its_own_answer(text: str) -> None:
    assume(not text.lstrip().startswith(("analysis", "thought\n")))
    assume("assistantfinal" not in text and "my response" not in text)
    assert read_reply(text) == text


def test_delimiters_that_a_decoder_left_out_are_named() -> None:
    with pytest.warns(StrippedDelimitersWarning, match="skip_special_tokens=False"):
        assert read_reply("analysishe or sheassistantfinalshe").unfinished


def test_a_model_without_thoughts_is_read_as_it_is() -> None:
    assert read_reply("<think>he", delimiters=parse_thoughts("none")) == "<think>he"


def test_a_model_of_no_known_family_has_a_setting() -> None:
    own = parse_thoughts(["((", "))"])
    assert read_reply("((he))she", delimiters=own) == "she"
    assert read_reply("<think>he</think>she", delimiters=own) == "<think>he</think>she"
    assert read_reply("[THINK]he[/THINK]she", delimiters=parse_thoughts("mistral")) == "she"


@pytest.mark.parametrize("setting", [3, ["<a>"], ["<a>", ""], [1, 2], {"a": "b"}])
def test_what_are_no_delimiters_is_refused(setting: Any) -> None:
    with pytest.raises(InputError, match="neither a name nor two delimiters"):
        parse_thoughts(setting)
    with pytest.raises(InputError, match="did you mean 'mistral'"):
        parse_thoughts("mistrl")


def test_a_tokenizer_describes_its_own() -> None:
    fields = {"reasoning_content": {"open": "<ponder>\n", "close": ["</ponder>", "<enough>"]}}
    described = described_delimiters(SimpleNamespace(response_template={"fields": fields}))
    assert read_reply("<ponder>he<enough>she", delimiters=described) == "she"
    for nothing in (
        None,
        {},
        {"fields": 1},
        {"fields": {"reasoning_content": {"open_pattern": ""}}},
    ):
        assert described_delimiters(SimpleNamespace(response_template=nothing)) == ()
    assert described_delimiters(object()) == ()


def test_what_a_prompt_ends_with() -> None:
    every = parse_thoughts(None)
    assert opens_thought("assistant\n<think>\n", every)
    assert not opens_thought("<think>\n\n</think>\n\n", every)
    assert closes_thought("<think>\n\n</think>\n\n", every)
    assert closes_thought("<｜Assistant｜></think>", every)
    assert not closes_thought("assistant\n", every)
    assert opens_thought("<|start|>assistant<|channel|>analysis<|message|>", every)


class Tokens:
    """A tokenizer whose tokens are the parts of a text between bars."""

    def __init__(self, written: str, special: Sequence[str]) -> None:
        self.parts = written.split("¦")
        self.all_special_tokens = special
        self.all_special_ids = [at for at, part in enumerate(self.parts) if part in special]

    def decode(self, tokens: Sequence[int], skip_special_tokens: bool) -> str:
        left_out = self.all_special_ids if skip_special_tokens else ()
        return "".join(self.parts[token] for token in tokens if token not in left_out)


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("she¦<|im_end|>¦\n¦<|im_start|>¦user\nhe or her?", "she"),
        ("<pad>¦ she¦</s>¦he", " she"),
        ("she\n<|im_start|>user\nhe", "she\n"),
        ("<answer>she</answer>¦<|im_end|>", "she"),
        (" she¦<unk>¦ said", " she said"),
        ("<think>he</think>¦she¦<|own end|>", "she"),
    ],
)
def test_tokens_are_read_within_the_turn(written: str, answer: str) -> None:
    special = ["<|im_end|>", "<|im_start|>", "<pad>", "</s>", "<unk>", "<|own end|>"]
    tokenizer = Tokens(written, special)
    tokens = range(len(tokenizer.parts))
    reply = read_tokens(tokenizer, tokens, "", "stop", [*known_delimiters().values()])
    assert (reply, reply.state) == (answer, "answered")
