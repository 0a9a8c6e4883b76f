"""Checkpoints with quantised weights: loaded as transformers loads them, and noted in the run."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.lm.models import loading
from tests.adapters.lm.language_models import CAUSAL, filled, own_instances, save

INSTANCES = own_instances()[:3]


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(save(tmp_path, CAUSAL["gpt2"], filled(INSTANCES)))


@pytest.mark.parametrize("method", ["gptq", "awq", "bitsandbytes"])
def test_a_quantiser_that_is_missing_is_one_line(checkpoint: str, method: str) -> None:
    config = Path(checkpoint) / "config.json"
    told = {"quant_method": method, "bits": 4, "load_in_4bit": method == "bitsandbytes"}
    content = json.loads(config.read_text()) | {"quantization_config": told}
    config.write_text(json.dumps(content))
    with pytest.raises(InputError, match="do not make up a language model"):
        load("lm", checkpoint, device="cpu")


def test_quantised_weights_stay_where_they_were_loaded(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_quantised", lambda config: "gptq")
    system: Any = load("lm", checkpoint, device="cpu")
    assert system.inference == {"quantised": "gptq"}
    prompted: Any = load("lm-prompts", checkpoint, device="cpu")
    assert prompted.inference["quantised"] == "gptq"
    monkeypatch.setattr(loading, "refuse_inexact", lambda *given: None)
    with pytest.raises(InputError, match="quantised, so that they cannot be int8"):
        load("lm", checkpoint, device="cpu", dtype="int8")
    monkeypatch.undo()
    plain: Any = load("lm", checkpoint, device="cpu")
    assert plain.inference is None
    for one, other in zip(
        system.loglikelihood(INSTANCES), plain.loglikelihood(INSTANCES), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-3)


@pytest.mark.parametrize(
    ("settings", "method"),
    [
        (None, None),
        ({"quant_method": "awq"}, "awq"),
        (SimpleNamespace(to_dict=lambda: {"quant_method": "gptq"}), "gptq"),
        ({}, "yes"),
    ],
)
def test_a_config_says_how_weights_are_quantised(settings: Any, method: str | None) -> None:
    config = SimpleNamespace(quantization_config=settings)
    assert loading._quantised(config) == method
