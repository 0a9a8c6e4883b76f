import json
import shutil
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import ROOT

if find_spec("transformers") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

import torch
import transformers

from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.adapters.checkpoints.transformers_models import (
    longest_input,
    require_vocabulary,
    require_words,
    silent_transformers,
    special_tokens,
    torch_device,
)
from pronominal.errors import InputError

TOKENIZER = ROOT / "tests" / "goldens" / "lingmess" / "checkpoint"


def encoder(kind: str = "Roberta", words: int = 1100) -> Any:
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=words,
        hidden_size=8,
        num_attention_heads=2,
        num_hidden_layers=1,
        intermediate_size=8,
        max_position_embeddings=20,
    )
    return getattr(transformers, f"{kind}Model")(config)


def test_devices() -> None:
    assert torch_device("cpu") == torch.device("cpu")
    first = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    assert torch_device(None) == first


@pytest.mark.parametrize("device", ["abacus", "cuda:99", "cpu:x"])
def test_a_device_that_is_not_there(device: str) -> None:
    with pytest.raises(InputError, match=f"there is no device '{device}' here; write cpu"):
        torch_device(device)


@pytest.mark.parametrize("bars", [True, False])
def test_silence_ends_with_the_block(bars: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    speech = transformers.utils.logging
    monkeypatch.setattr(speech, "_tqdm_active", bars)
    verbosity = speech.get_verbosity()
    speech.set_verbosity_info()
    try:
        with silent_transformers():
            assert (speech.get_verbosity(), speech.is_progress_bar_enabled()) == (40, False)
            speech.set_verbosity_debug()
        assert (speech.get_verbosity(), speech.is_progress_bar_enabled()) == (20, bars)
    finally:
        speech.set_verbosity(verbosity)


@pytest.mark.parametrize(("kind", "longest"), [("Bert", 20), ("Roberta", 18)])
def test_the_longest_input_is_one_that_the_encoder_reads(kind: str, longest: int) -> None:
    model = encoder(kind)
    assert longest_input(model) == longest
    model(torch.full((1, longest), 7))
    with pytest.raises((IndexError, RuntimeError)):
        model(torch.full((1, longest + 1), 7))


def test_a_model_without_table_of_positions_has_no_longest_input() -> None:
    assert longest_input(torch.nn.Linear(1, 1)) is None


def test_vocabularies(tmp_path: Path) -> None:
    whole = transformers.AutoTokenizer.from_pretrained(TOKENIZER)
    require_vocabulary(whole, encoder(), "checkpoint")
    with pytest.raises(InputError, match="checkpoint: the tokenizer knows more tokens than the 9"):
        require_vocabulary(whole, encoder(words=9), "checkpoint")
    (tmp_path / "config.json").write_bytes((TOKENIZER / "config.json").read_bytes())
    made_up = transformers.AutoTokenizer.from_pretrained(tmp_path)
    with pytest.raises(InputError, match="checkpoint: the tokenizer's files are missing; add"):
        require_vocabulary(made_up, encoder(), "checkpoint")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer has no words in tokenizer\.json; give the"):
        require_vocabulary(made_up, encoder(), "checkpoint")


@pytest.mark.parametrize(
    ("framed", "around"),
    [([1, 7, 8, 2], ([1], [2])), ([7, 8], ([], [])), ([0, 1, 7, 8], ([0, 1], []))],
)
def test_special_tokens(framed: list[int], around: tuple[list[int], list[int]]) -> None:
    def tokenizer(text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": framed if add_special_tokens else [7, 8]}

    assert special_tokens(tokenizer) == around
    framed = [1, 8, 7, 2]
    with pytest.raises(InputError, match="changes a text when it adds special tokens"):
        special_tokens(tokenizer)


def test_the_gpu_of_a_mac_is_chosen_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    # there is none here: this shows only what is asked for
    empty = SimpleNamespace(device=torch.device("meta"))
    monkeypatch.setattr(torch, "empty", lambda _, device: asked.append(device) or empty)
    torch_device(None)
    torch_device("cpu")
    assert asked == ["mps", "cpu"]


def damaged_tokenizer(folder: Path, **damage: object) -> Path:
    shutil.copytree(TOKENIZER, folder)
    told = json.loads((folder / "tokenizer.json").read_text()) | damage
    (folder / "tokenizer.json").write_text(json.dumps(told))
    return folder


def test_a_tokenizer_that_panics_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # the package tokenizers is written in Rust, which prints its panics
    no_map = {"type": "Precompiled", "precompiled_charsmap": 1}
    folder = damaged_tokenizer(tmp_path / "damaged", normalizer=no_map)
    with pytest.raises(InputError, match=r"damaged: the tokenizer cannot be loaded \(Precompiled"):
        open_encoder(str(folder))
    assert capfd.readouterr() == ("", "")


def test_a_tokenizer_that_panics_at_a_text_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    unknown = [{"SpecialToken": {"id": "<x>", "type_id": 0}}]
    frame = {"type": "TemplateProcessing", "single": unknown, "pair": [], "special_tokens": {}}
    frame["pair"] = [{"Sequence": {"id": one, "type_id": 0}} for one in "AB"]
    frame["special_tokens"] = {"<y>": {"id": "<y>", "ids": [0], "tokens": ["<y>"]}}
    file = damaged_tokenizer(tmp_path / "damaged", post_processor=frame) / "tokenizer.json"
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(file))
    with pytest.raises(InputError, match=r"^x: the tokenizer takes no text \(no entry found"):
        require_words(tokenizer, "x")
    assert capfd.readouterr() == ("", "")


def test_what_a_tokenizer_prints_itself_is_not_passed_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(TOKENIZER, folder)
    file = folder / "tokenizer_config.json"
    added = {"0": {"content": "<s>", "\x1b[31m": True}}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"added_tokens_decoder": added}))
    print("so far")
    with suppress(InputError):  # some versions of transformers refuse it
        open_encoder(str(folder))
    assert capfd.readouterr() == ("so far\n", "")
