"""Trees, batches and masked copies give the scores and decisions of the plain loop.

Rows of RUFF are compared by number; what fails prints counts and differences, no sentences.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

if find_spec("transformers") is None:
    pytest.skip("needs the extra lm", allow_module_level=True)

import torch
import transformers

from pronominal.adapters.layers.activations import fuse_activations
from pronominal.adapters.lm.scoring.decoder import CausalScorer, TreeBatches, Way
from pronominal.adapters.lm.scoring.encoder import MaskedScorer
from pronominal.adapters.lm.scoring.logits import add_log_probabilities, logits_at
from pronominal.adapters.lm.scoring.tokens import IntArray, Sequences, TextTokenizer
from pronominal.dataset_scripts import ruff
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.ruff.assembly import Setting
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.eval.scores.ruff.samples import Margins
from pronominal.instances import FillingInstance
from pronominal.pronouns import PRONOUN_SETS
from tests.adapters.lm.language_models import (
    CAUSAL,
    MASKED,
    WITHOUT_TREES,
    filled,
    own_instances,
    plain_log_likelihoods,
    plain_pseudo_log_likelihoods,
    quiet,
)

ROWS = 504
"""For each family: half of them neighbours in a file, half drawn from it."""

FED = {"batch_tokens": 4096, "pack_tokens": 512}
"""Eight packs in a batch; `test_packs_of_any_size` has other sizes."""


@dataclass(frozen=True, eq=False)
class Scored:
    """A family's model, the sequences of some instances, and the plain loop's scores of them."""

    model: Any
    tokenizer: Any
    sequences: Sequences
    plain: Any

    def first(self) -> IntArray:
        return np.maximum(self.sequences.common_prefixes(), 1)

    @cache  # noqa: B019 - a module has few of them
    def of_options(self, way: Way | None) -> tuple[Any, int]:
        """Return the scores that tell options apart, and the tokens that were fed for them."""
        scorer = CausalScorer(self.model, **FED, way=way)
        return scorer.score(self.sequences, self.first()), scorer.tokens


def by_option(scores: Any) -> Any:
    return np.asarray(scores).reshape(-1, 4)


def differences(scores: Any) -> Any:
    options = by_option(scores)
    return options - options.mean(axis=1, keepdims=True)


def decisions(scores: Any) -> Any:
    return by_option(scores).argmax(axis=1)


def settled(scores: Any) -> Any:
    """Which decisions no error of 1e-4 in the scores turns; the others hang on the processor."""
    best = np.sort(by_option(scores), axis=1)[:, -2:]
    return best[:, 1] - best[:, 0] > 2e-4


@pytest.fixture(scope="module")
def rows(upstream: Path) -> Callable[[int], list[FillingInstance]]:
    templates, _ = ruff.read_templates(Sources(upstream))

    @cache
    def of(distractors: int) -> list[FillingInstance]:
        setting = Setting(templates, PRONOUN_SETS, distractors)
        if not distractors:
            # a text costs the square of its length, so every third of the shorter ones
            table = Instances(setting).table(np.arange(len(setting)))
            shortest = np.argsort(pc.utf8_length(table["text"]).to_numpy(), kind="stable")
            table = table.take(shortest[: 3 * ROWS : 3])
        else:
            drawn = setting.sample(13)[:: 2160 // (ROWS // 2)]
            table = Instances(setting).table(np.concatenate((np.arange(ROWS // 2), drawn))[:ROWS])
        return [FillingInstance.from_row(row) for row in table.to_pylist()]

    return of


def scored(
    family: tuple[Any, Any], instances: Sequence[FillingInstance], loop: Callable[..., list[float]]
) -> Scored:
    make_tokenizer, make_model = family
    texts = filled(instances)
    with quiet():
        tokenizer = make_tokenizer(texts)
        model = make_model(len(tokenizer))
        sequences = TextTokenizer(tokenizer).read(instances)
        plain = np.array(loop(model, tokenizer, texts))
    return Scored(model, tokenizer, sequences, plain)


@pytest.fixture(scope="module", params=CAUSAL)
def causal(request: Any, rows: Callable[[int], list[FillingInstance]]) -> Scored:
    return scored(CAUSAL[request.param], rows(2), plain_log_likelihoods)


@pytest.mark.parametrize(("way", "asked"), [("tree", None), ("plain", "plain")])
def test_causal_models_on_ruff(causal: Scored, way: Way, asked: Way | None) -> None:
    scorer = CausalScorer(causal.model, **FED, way=way)
    whole = scorer.score(causal.sequences, np.ones(len(causal.plain), np.int32))
    options, _ = causal.of_options(asked)
    assert len(by_option(whole)) >= 500
    assert np.abs(whole - causal.plain).max() < 1e-4
    assert np.abs(differences(options) - differences(causal.plain)).max() < 1e-4
    clear = settled(causal.plain)
    assert clear.mean() > 0.99
    assert (decisions(options) == decisions(causal.plain))[clear].all()
    assert len({*decisions(causal.plain)}) > 1


def test_trees_are_tried_and_taken(causal: Scored) -> None:
    _, fed = causal.of_options(None)
    assert fed < causal.sequences.lengths.sum() / 2.5
    one = causal.sequences.of(0)
    tried, tree = (CausalScorer(causal.model, **FED, way=way) for way in (None, "tree"))
    first = one.common_prefixes()
    assert (tried.score(one, first) == tree.score(one, first)).all()
    assert tried.tokens == tree.tokens


def test_half_precision_turns_close_decisions_alone(
    causal: Scored, record_property: Callable[[str, object], None]
) -> None:
    """A tree in bfloat16 is no further from float32 than plain batches in bfloat16 are."""
    model = copy.deepcopy(causal.model).to(torch.bfloat16)
    exact = differences(causal.plain)
    margins = Margins(np.diff(np.sort(exact, axis=1)[:, -2:])[:, 0])
    noise, turned = {}, {}
    for way in ("tree", "plain"):
        scorer = CausalScorer(model, **FED, way=way)
        half = differences(scorer.score(causal.sequences, causal.first()))
        noise[way] = float(np.abs(half - exact).max())
        turned[way] = half.argmax(axis=1) != exact.argmax(axis=1)
    record_property("margins_in_float32", margins.summary())
    record_property("largest_difference_in_bfloat16", noise)
    record_property("decisions_turned", {way: int(rows.sum()) for way, rows in turned.items()})
    assert 1e-4 < noise["tree"] < 1.5 * noise["plain"]
    assert not turned["tree"][margins.nats > 2 * noise["plain"]].any()


@pytest.mark.parametrize("family", MASKED)
def test_masked_models_on_ruff(family: str, rows: Callable[[int], list[FillingInstance]]) -> None:
    known = scored(MASKED[family], rows(0), plain_pseudo_log_likelihoods)
    scorer = MaskedScorer(
        known.model,
        frame=TextTokenizer(known.tokenizer).frame,
        mask=known.tokenizer.mask_token_id,
        batch_tokens=8192,
    )
    found = scorer.score(known.sequences)
    assert len(by_option(found)) >= 500
    assert np.abs(found - known.plain).max() < 1e-4
    clear = settled(known.plain)
    assert clear.mean() > 0.99
    assert (decisions(found) == decisions(known.plain))[clear].all()
    assert len({*decisions(known.plain)}) > 1


@pytest.mark.parametrize("family", WITHOUT_TREES)
def test_attention_that_takes_no_tree_gets_plain_batches(family: str) -> None:
    known = scored(WITHOUT_TREES[family], own_instances(), plain_log_likelihoods)
    scorer = CausalScorer(known.model, batch_tokens=512, pack_tokens=512)
    found = scorer.score(known.sequences, np.ones(len(known.plain), np.int32))
    assert np.abs(found - known.plain).max() < 1e-4
    assert scorer.tokens >= known.sequences.lengths.sum() - len(known.plain)


@pytest.mark.parametrize("family", WITHOUT_TREES)
def test_a_tree_that_is_wrong_is_told_from_half_precision(family: str) -> None:
    known = scored(WITHOUT_TREES[family], own_instances()[:12], plain_log_likelihoods)
    model = known.model.to(torch.bfloat16)
    tried, plain = (
        CausalScorer(model, batch_tokens=512, pack_tokens=512, way=way) for way in (None, "plain")
    )
    first = known.first()
    assert (tried.score(known.sequences, first) == plain.score(known.sequences, first)).all()
    assert tried.tokens == plain.tokens


@pytest.mark.parametrize(
    ("dtype", "error", "taken"),
    [
        (torch.float32, 0.0, True),
        (torch.float32, 0.05, False),
        (torch.bfloat16, 0.05, True),
        (torch.bfloat16, 5.0, False),
    ],
)
def test_rounding_alone_may_lie_between_a_tree_and_plain_batches(
    dtype: torch.dtype, error: float, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In half precision some tenths of a nat are rounding, and in single precision a fault."""
    known = scored(CAUSAL["gpt2"], own_instances()[:12], plain_log_likelihoods)
    model, first = known.model.to(dtype), known.first()
    forward = TreeBatches.forward

    def wrong(batches: TreeBatches, borders: Sequence[int]) -> None:
        forward(batches, borders)
        batches.scores += error

    monkeypatch.setattr(TreeBatches, "forward", wrong)
    tried, plain = (
        CausalScorer(model, batch_tokens=512, pack_tokens=512, way=way) for way in (None, "plain")
    )
    tried.score(known.sequences, first)
    plain.score(known.sequences, first)
    assert (tried.tokens < plain.tokens) is taken


@pytest.mark.parametrize(
    ("batch_tokens", "pack_tokens"), [(4096, 64), (512, 512), (100, 1), (16, 300)]
)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("family", ["opt", "llama"])
def test_packs_of_any_size(
    family: str, attention: str, batch_tokens: int, pack_tokens: int
) -> None:
    known = known_own(family)
    known.model.set_attn_implementation(attention)
    scorer = CausalScorer(
        known.model, batch_tokens=batch_tokens, pack_tokens=pack_tokens, way="tree"
    )
    found = scorer.score(known.sequences, known.first())
    assert np.abs(differences(found) - differences(known.plain)).max() < 1e-4


@cache
def known_own(family: str) -> Scored:
    return scored(CAUSAL[family], own_instances(), plain_log_likelihoods)


def test_probabilities_are_single_and_sums_double() -> None:
    """In bfloat16 neither the logarithm nor the sum would keep what options differ by."""
    torch.manual_seed(0)
    logits = (10 * torch.randn(400, 50)).to(torch.bfloat16)
    scores = np.array([0.0, -1e6])
    tokens, rows = np.arange(400) % 50, np.arange(400)
    add_log_probabilities(scores, rows % 2, logits, rows, tokens)
    exact = logits.double().log_softmax(dim=-1)[rows, tokens].numpy()
    assert abs(scores[0] - exact[::2].sum()) < 1e-3
    assert abs(scores[1] + 1e6 - exact[1::2].sum()) < 1e-3


def test_the_output_layer_sees_what_is_needed() -> None:
    """Options differ late in a text, and the tokens that they share need no logits."""
    known = known_own("gpt2")
    seen: list[int] = []
    hook = known.model.lm_head.register_forward_hook(
        lambda *given: seen.append(given[1][0].shape[1])
    )
    scorer = CausalScorer(known.model, batch_tokens=512, pack_tokens=512, way="tree")
    try:
        scorer.score(known.sequences, known.first())
    finally:
        hook.remove()
    scored_tokens = (known.sequences.lengths - known.first()).sum()
    assert sum(seen) <= min(scored_tokens, scorer.tokens)
    assert not known.model.lm_head._forward_pre_hooks


@pytest.mark.parametrize("family", [*CAUSAL, *MASKED])
def test_logits_at_a_place_are_those_of_the_whole_output(family: str) -> None:
    """What the scorers and the plain loop of masked models rest on."""
    with quiet():
        model = {**CAUSAL, **MASKED}[family][1](100)
    ids = torch.arange(3, 27).reshape(2, 12)
    with torch.inference_mode():
        whole = model(ids).logits.reshape(24, 100)
    places = np.array([0, 7, 5, 11, 12, 23])
    found = logits_at(model, places, input_ids=ids)
    assert (found - whole[places]).abs().max() < 1e-5


def test_an_output_layer_that_is_never_called() -> None:
    config = transformers.MobileBertConfig(vocab_size=100, num_hidden_layers=1)
    model = transformers.MobileBertForMaskedLM(config).eval()
    ids = torch.arange(3, 15).reshape(2, 6)
    places = np.array([0, 7, 5])
    with torch.inference_mode():
        whole = model(ids).logits.flatten(0, 1)[places]
    found = logits_at(model, places, input_ids=ids)
    assert (found - whole).abs().max() <= 1e-5 * whole.abs().max()


def test_equal_copies_are_fed_once() -> None:
    known = scored(MASKED["bert"], own_instances()[:12], plain_pseudo_log_likelihoods)
    fed: list[Any] = []
    hook = known.model.register_forward_pre_hook(
        lambda _, __, given: fed.extend(map(tuple, given["input_ids"].tolist())), with_kwargs=True
    )
    frame = TextTokenizer(known.tokenizer).frame
    mask = known.tokenizer.mask_token_id
    try:
        scorer = MaskedScorer(known.model, frame=frame, mask=mask, batch_tokens=512)
        found = scorer.score(known.sequences)
    finally:
        hook.remove()
    assert np.abs(found - known.plain).max() < 1e-4
    one_for_each_token = (known.sequences.lengths - sum(frame)).sum()
    # the three places of a masked word of three tokens are read from inputs of their own
    assert len(fed) < one_for_each_token
    assert len(fed) - len(set(fed)) < 0.01 * len(fed)


@pytest.mark.parametrize("activation", ["gelu_new", "gelu_fast"])
def test_fused_activations_are_the_same_function(activation: str) -> None:
    spelled = torch.nn.ModuleDict({"act": transformers.activations.ACT2FN[activation]})
    given = torch.linspace(-12, 12, 4001)
    expected = spelled["act"](given)
    fuse_activations(spelled)
    assert isinstance(spelled["act"], torch.nn.GELU)
    assert (spelled["act"](given) - expected).abs().max() < 1e-5


def test_no_hidden_state_of_the_process_changes() -> None:
    known = known_own("gpt2")
    verbosity, seed = transformers.utils.logging.get_verbosity(), torch.initial_seed()
    scorer = CausalScorer(known.model, batch_tokens=512, pack_tokens=512)
    scorer.score(known.sequences, known.first())
    assert transformers.utils.logging.get_verbosity() == verbosity
    assert torch.initial_seed() == seed
