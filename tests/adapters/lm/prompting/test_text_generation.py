"""A text-generation pipeline of transformers writes what the model itself writes."""

from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.contract.check import check_system
from pronominal.adapters.contract.plain_questions import plain_prompts
from pronominal.adapters.contract.refusals import FailedCallError
from pronominal.adapters.lm.prompting.text_generation import TextGeneration
from tests.adapters.lm.language_models import CAUSAL, T5, filled, own_instances, save

PROMPTS = plain_prompts()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [*filled(own_instances()), *PROMPTS]
    return str(save(tmp_path_factory.mktemp("gpt2"), CAUSAL["gpt2"], texts))


@pytest.fixture(scope="module")
def pipeline(checkpoint: str) -> Any:
    from transformers import pipeline

    with silent_transformers():
        return pipeline("text-generation", model=checkpoint, device="cpu")


def test_it_writes_what_the_model_writes(checkpoint: str, pipeline: Any) -> None:
    ours = load("lm-prompts", checkpoint, chat="none", max_new_tokens=6, device="cpu")
    theirs = TextGeneration(pipeline, max_new_tokens=6)
    assert theirs.checkpoint is None
    assert theirs.generate(PROMPTS) == ours.generate(PROMPTS)  # type: ignore[union-attr]
    assert theirs.generate([]) == []


def test_a_checkpoint_is_made_into_a_pipeline(checkpoint: str, pipeline: Any) -> None:
    system = load("text-generation", checkpoint, max_new_tokens=4)
    assert isinstance(system, TextGeneration)
    assert system.checkpoint is not None
    assert system.generate(PROMPTS) == TextGeneration(pipeline, max_new_tokens=4).generate(PROMPTS)
    assert not [check for check in check_system(system) if check.faults]


def test_chat_models_are_asked_as_users_ask() -> None:
    asked = []

    class Chatting:
        task = "text-generation"
        tokenizer = type("Tokenizer", (), {"chat_template": "{{ messages }}"})

        def __call__(self, turns: list[Any], **settings: Any) -> list[Any]:
            asked.append((turns, settings))
            return [[{"generated_text": "she"}] for _ in turns]

    assert TextGeneration(Chatting()).generate(["Who?"], max_new_tokens=3) == ["she"]
    ((turns, settings),) = asked
    assert turns == [[{"role": "user", "content": "Who?"}]]
    assert (settings["max_new_tokens"], settings["do_sample"]) == (3, False)


@pytest.mark.parametrize(
    ("written", "state", "answer"),
    [
        ("I would say <answer>she</answer>, not he.<|done|>", "answered", "she"),
        ("<response>they", "answered", "they"),
        ("<think>he?</think>she<|done|>", "answered", "she"),
        ("<think>he, or<|done|>", "unfinished", ""),
        ("<|done|>", "empty", ""),
    ],
)
def test_what_stands_around_an_answer_is_left_out(written: str, state: str, answer: str) -> None:
    class Ending:
        task = "text-generation"
        tokenizer = type("Tokenizer", (), {"all_special_tokens": ["<|done|>"]})

        def __call__(self, turns: list[Any], **settings: Any) -> list[Any]:
            return [[{"generated_text": written}] for _ in turns]

    (reply,) = TextGeneration(Ending(), thinking_tokens=0).generate(["Who?"])
    assert (reply.state, reply) == (state, answer)


@pytest.mark.parametrize("written", [[None], [[]], [[{"label": "x"}]]])
def test_output_without_text_is_a_failed_call(written: list[Any]) -> None:
    class Odd:
        task = "text-generation"
        tokenizer = None

        def __call__(self, turns: list[Any], **settings: Any) -> list[Any]:
            return written

    with pytest.raises(FailedCallError, match="no generated_text"):
        TextGeneration(Odd()).generate(["Who?"])


@pytest.mark.parametrize(
    ("pipeline", "settings", "message"),
    [
        (object(), {}, "a object does not generate text"),
        ("no-such-folder", {}, "no-such-folder: there is no such folder"),
        (object(), {"max_new_tokens": 0}, "max_new_tokens is 0"),
        (object(), {"chain_of_thought": "kojma"}, "did you mean 'kojima'"),
    ],
)
def test_what_is_no_pipeline_is_one_line(
    pipeline: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        TextGeneration(pipeline, **settings)


def copied(checkpoint: str, where: Path, *, without: str = "nothing") -> Path:
    for file in Path(checkpoint).iterdir():
        if not file.name.startswith(without):
            (where / file.name).write_bytes(file.read_bytes())
    return where


def test_a_folder_without_a_causal_model_is_one_line(checkpoint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the tokenizer's files are missing"):
        TextGeneration(str(copied(checkpoint, tmp_path, without="token")))
    tensors = load_file(tmp_path / "model.safetensors")
    tensors.pop(next(name for name in tensors if "h.0.mlp" in name))
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"the weights hold no .*h\.0\.mlp"):
        TextGeneration(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"12345678")
    with pytest.raises(InputError, match="do not make up a language model"):
        TextGeneration(str(tmp_path))


def test_a_model_that_is_not_causal_is_one_line(tmp_path: Path) -> None:
    save(tmp_path, T5, PROMPTS)
    with pytest.raises(InputError, match="a sequence-to-sequence model makes no text-generation"):
        TextGeneration(str(tmp_path))


def test_a_checkpoint_in_pieces_writes_what_the_whole_one_writes(
    checkpoint: str, pipeline: Any, tmp_path: Path
) -> None:
    copied(checkpoint, tmp_path, without="model")
    with silent_transformers():
        pipeline.model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len([*tmp_path.glob("model-*.safetensors")]) > 1
    pieces = TextGeneration(str(tmp_path), max_new_tokens=4)
    assert pieces.generate(PROMPTS) == TextGeneration(pipeline, max_new_tokens=4).generate(PROMPTS)
