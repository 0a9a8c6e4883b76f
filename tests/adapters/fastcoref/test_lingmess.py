"""What only LingMess does; ``test_fastcoref_package.py`` has what FCoref does, too."""

import functools
from importlib.util import find_spec
from typing import Any

import pytest

if find_spec("fastcoref") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

import torch

from pronominal.adapters.fastcoref.dense_longformer import dense_limit
from pronominal.adapters.fastcoref.lingmess import LingMess
from pronominal.adapters.fastcoref.package import LingMessModel
from pronominal.adapters.layers.packed import PackedLinear, packs_weights
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
    plain = LingMess.parts(system.checkpoint, torch.device("cpu")).model  # as it learns
    for text, _ in goldens("lingmess", "clean.jsonl").values():
        batch = system._package.collator(system._encoded([text]))
        longest = max(longest, batch["input_ids"].shape[1])
        with torch.no_grad(), monkeypatch.context() as patch:
            answers = model(batch), plain(batch)
            encode = functools.partial(LingMessModel.forward_transformer, plain)
            patch.setattr(plain, "forward_transformer", encode)
            expected = LingMessModel.forward(plain, batch, return_all_outputs=True)
        for found in answers:
            assert all(map(torch.equal, found[:2], expected[:2]))  # starts and ends of mentions
            for name, mine, other in zip(("spans", "pairs"), found[2:], expected[2:], strict=True):
                assert torch.allclose(mine, other, rtol=1e-5, atol=1e-4), name
    assert longest > dense_limit(model.base_model)  # both encoders were asked


def test_the_head_is_asked_with_packed_weights() -> None:
    model = tiny("lingmess")._package.model
    layers = [
        layer
        for part in model.children()
        if part is not model.base_model
        for layer in (part, *part.modules())
    ]
    assert len(model.experts) == model.num_cats
    kinds = (PackedLinear, torch.nn.Linear)
    there, absent = kinds if packs_weights() else kinds[::-1]
    assert there in map(type, layers)
    assert absent not in map(type, layers)
    assert not any(name.startswith("antecedent_") for name, _ in model.named_parameters())


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
    model = tiny("lingmess")._package.model
    batch = tiny("lingmess")._package.collator(
        tiny("lingmess")._encoded(["The old dog barked again."])
    )
    for expert in (0, 1, 2):  # those for pronouns, of which there is none
        asked = lambda _: pytest.fail("asked")  # noqa: E731
        monkeypatch.setattr(model.experts[expert], "forward", asked)
    with torch.no_grad():
        assert model(batch)[3].isfinite().all()
