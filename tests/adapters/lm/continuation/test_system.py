"""A tiny model asked two questions: its scores, and what it draws."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.contract.check import check_system
from pronominal.adapters.contract.systems import ContinuingSystem
from pronominal.adapters.lm.continuation.sampling import Draw, SeededSampling
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run
from tests.adapters.lm.language_models import CAUSAL, MASKED, filled, own_instances, save

CONTEXTS = ["The gardener whistled because ", "The pilot said that ", "Nobody knew whether "]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save(tmp_path_factory.mktemp("gpt2"), CAUSAL["gpt2"], filled(own_instances())))


def loaded(checkpoint: str, **settings: Any) -> Any:
    small = {"samples": 3, "new_tokens": 6, "device": "cpu"}
    return load("lm-two-questions", checkpoint, **(small | settings))


def test_it_keeps_its_promises(checkpoint: str) -> None:
    system = loaded(checkpoint)
    assert isinstance(system, ContinuingSystem)
    assert not [check for check in check_system(system) if check.faults]


def test_a_score_is_the_sum_or_the_mean_of_a_token(checkpoint: str) -> None:
    instances = own_instances()[:8]
    sums = loaded(checkpoint, probability="sum").loglikelihood(instances)
    plain = load("lm", checkpoint, scores="sentences", device="cpu").loglikelihood(instances)
    # models that were loaded apart: where weights lie in memory decides how sums round
    np.testing.assert_allclose(sums, plain, rtol=1e-5)
    means = loaded(checkpoint).loglikelihood(instances)
    tokenizer = loaded(checkpoint)._loaded.tokenizer
    for instance, total, mean in zip(instances, sums, means, strict=True):
        counts = [len(tokenizer(text)["input_ids"]) - 1 for text in instance.filled()]
        expected = [one / count for one, count in zip(total, counts, strict=True)]
        assert mean == pytest.approx(expected, rel=1e-5)


def test_a_draw_depends_on_its_own_context_alone(checkpoint: str) -> None:
    system = loaded(checkpoint)
    together = system.continuations(CONTEXTS)
    assert [len(samples) for samples in together] == [3, 3, 3]
    assert system.continuations(CONTEXTS[::-1]) == together[::-1]
    assert [system.continuations([one])[0] for one in CONTEXTS] == together
    assert loaded(checkpoint, batch_tokens=1).continuations(CONTEXTS) == together
    assert len({text for samples in together for text in samples}) > 3
    assert loaded(checkpoint, seed=7).continuations(CONTEXTS) != together
    assert system.continuations([]) == []


def test_one_likeliest_token_is_greedy_decoding(checkpoint: str) -> None:
    system = loaded(checkpoint, samples=1, top_k=1)
    drawn = system.continuations(CONTEXTS)
    tokenizer, model = system._loaded.tokenizer, system._loaded.model
    for context, (text,) in zip(CONTEXTS, drawn, strict=True):
        ids = tokenizer(context, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            written = model.generate(ids, min_new_tokens=6, max_new_tokens=6, do_sample=False)
        assert text == tokenizer.decode(written[0, ids.shape[1] :], skip_special_tokens=True)


def test_blanks_at_the_end_of_a_context_are_kept_or_not(checkpoint: str) -> None:
    kept = loaded(checkpoint).continuations(["The pilot said that "])
    stripped = loaded(checkpoint, blank="strip").continuations(["The pilot said that "])
    assert stripped == loaded(checkpoint).continuations(["The pilot said that"])
    assert stripped != kept


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (Draw(1, 1, 1.0, 50, 1.0, 0), [0.4, 0.3, 0.2, 0.1]),
        (Draw(1, 1, 1.0, 2, 1.0, 0), [4 / 7, 3 / 7, 0, 0]),
        # the third one is needed to reach 80 %
        (Draw(1, 1, 1.0, 50, 0.8, 0), [4 / 9, 3 / 9, 2 / 9, 0]),
        (Draw(1, 1, 0.5, 50, 1.0, 0), [16 / 30, 9 / 30, 4 / 30, 1 / 30]),
    ],
    ids=["all", "top-k", "top-p", "temperature"],
)
def test_tokens_are_drawn_as_often_as_they_are_likely(draw: Draw, expected: list[float]) -> None:
    number = 4000
    scores = torch.tensor([0.4, 0.3, 0.2, 0.1]).log().expand(number, 4)
    generators = [draw.generator("context", sample) for sample in range(number)]
    left = SeededSampling(draw, generators)(torch.zeros(number, 1), scores)
    assert torch.isfinite(left).sum(dim=1).tolist() == [1] * number
    drawn = Counter(left.argmax(dim=1).tolist())
    for token, share in enumerate(expected):
        # five standard deviations; nothing is drawn anew from run to run
        assert abs(drawn[token] / number - share) <= 5 * (share * (1 - share) / number) ** 0.5


def test_a_run_goes_on_with_the_same_bytes(checkpoint: str, own_ruff: str, tmp_path: Path) -> None:
    split = read_split(own_ruff, "distractors_0", "seed_13").first(75)
    asked = SystemSettings("two", "lm-two-questions", checkpoint, {"samples": 2})
    system = loaded(checkpoint, samples=2, new_tokens=3)
    system.chunk = 30
    whole = run(split, system, asked, tmp_path / "whole").path

    class Dying:
        """Answers the first chunk and no other."""

        def __init__(self) -> None:
            self.asked = 0
            vars(self).update({key: getattr(system, key) for key in ("name", "chunk", "seed")})
            self.checkpoint, self.question = system.checkpoint, system.question
            self.form_tokens = system.form_tokens
            self.loglikelihood = system.loglikelihood

        def continuations(self, contexts: list[str]) -> Any:
            self.asked += 1
            if self.asked > 1:
                raise KeyboardInterrupt
            return system.continuations(contexts)

    with pytest.raises(KeyboardInterrupt):
        run(split, Dying(), asked, tmp_path / "part")
    part = run(split, system, asked, tmp_path / "part").path
    assert (part / "predictions.jsonl").read_bytes() == (whole / "predictions.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"probability": "most"}, "probability"),
        ({"blank": "loose"}, "blanks"),
        ({"samples": 0}, "above 0"),
        ({"top_p": 1.5}, "at most 1"),
        ({"temperature": 0.0}, "temperature"),
    ],
)
def test_wrong_settings_are_refused(
    checkpoint: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        loaded(checkpoint, **settings)


def test_a_masked_model_does_not_go_on(tmp_path: Path) -> None:
    kind = next(iter(MASKED.values()))
    checkpoint = str(save(tmp_path / "masked", kind, filled(own_instances())))
    with pytest.raises(InputError, match="go on writing"):
        loaded(checkpoint)
