"""What only LingMess does; ``test_fastcoref_package.py`` has what FCoref does, too."""

import functools
from importlib.util import find_spec
from typing import Any

import pytest

if find_spec("fastcoref") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

import torch

from pronominal.adapters.fastcoref.dense_longformer import dense_limit
from pronominal.adapters.fastcoref.package import LingMessModel
from pronominal.errors import InputError
from tests.adapters.fastcoref.checkpoints import SENTENCES, goldens, tiny


def test_the_position_table_is_the_limit() -> None:
    tiny("lingmess").cluster(["a " * 510])  # 512 subtokens with <s> and </s>
    with pytest.raises(InputError, match=r"texts\[1\]: 513 subtokens.* at most 512"):
        tiny("lingmess").cluster(["a", "a " * 511])


def test_a_refused_text_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    package = tiny("lingmess")._package
    monkeypatch.setattr(package, "_batch_inference", lambda _: pytest.fail("computed"))
    with pytest.raises(InputError, match="position table"):
        tiny("lingmess").cluster([*SENTENCES, "a " * 600])


# short texts, encoded densely, and the experts


def test_scores_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    system, longest = tiny("lingmess"), 0
    model = system._package.model
    for text, _ in goldens("lingmess", "clean.jsonl").values():
        batch = system._package.collator(system._encoded([text]))
        longest = max(longest, batch["input_ids"].shape[1])
        with torch.no_grad(), monkeypatch.context() as patch:
            found = model(batch)
            encode = functools.partial(LingMessModel.forward_transformer, model)
            patch.setattr(model, "forward_transformer", encode)
            expected = LingMessModel.forward(model, batch, return_all_outputs=True)
        assert all(map(torch.equal, found[:2], expected[:2]))  # starts and ends of mentions
        for name, mine, other in zip(("spans", "pairs"), found[2:], expected[2:], strict=True):
            assert torch.allclose(mine, other, rtol=1e-5, atol=1e-4), name
    assert longest > dense_limit(model.base_model)  # both encoders were asked


def test_only_long_texts_meet_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    system, lengths = tiny("lingmess"), []
    encoder = system._package.model.base_model
    windowed = encoder.forward

    def watched(ids: torch.Tensor, **rest: Any) -> Any:
        lengths.append(ids.shape[1])
        return windowed(ids, **rest)

    monkeypatch.setattr(encoder, "forward", watched)
    system.cluster(["a " * words for words in range(20)])  # 2 to 21 subtokens; the window is 32
    assert lengths == [18, 19, 20, 21]


def test_an_expert_without_pairs_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    model, read = tiny("lingmess")._package.model, []
    weights = model.antecedent_s2s_all_weights
    batch = tiny("lingmess")._package.collator(
        tiny("lingmess")._encoded(["The old dog barked again."])
    )
    with torch.no_grad():
        for expert in (0, 1, 2):  # those for pronouns, of which there is none
            before = model(batch)[3]
            kept = weights[expert].clone()
            weights[expert] = torch.nan
            read.append(bool(model(batch)[3].isnan().any()))
            weights[expert] = kept
            assert torch.equal(model(batch)[3], before)
    assert read == [False] * 3
