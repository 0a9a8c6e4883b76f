"""A language model from a folder to scores, and each thing that can be wrong with it."""

import json
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

if find_spec("transformers") is None:
    pytest.skip("needs the extra lm", allow_module_level=True)

import torch
import transformers
from safetensors.torch import load_file, save_file

from pronominal.adapters.contract.self_check import SelfCheckWarning
from pronominal.adapters.lm.scoring.infilling import AnswerScorer
from pronominal.adapters.lm.scoring.memory import OutOfMemoryWarning
from pronominal.adapters.lm.scoring.system import LanguageModel
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.record import SystemRecord, new_record
from pronominal.instances import FillingInstance
from pronominal.spans import Mention
from tests.adapters.lm.language_models import (
    CAUSAL,
    MASKED,
    T5,
    filled,
    own_instances,
    plain_log_likelihoods,
    plain_pseudo_log_likelihoods,
    quiet,
    save,
)

FAMILIES = {**CAUSAL, **MASKED, "t5": T5}
ASKED = own_instances()
# a family of each objective
THREE = ["gpt2", "bert", "t5"]
RAN = Path("remote-code-ran")


def alike(ours: list[list[float]], others: list[list[float]]) -> None:
    """Compare models that were loaded apart: where weights lie in memory decides how sums round."""
    np.testing.assert_allclose(ours, others, rtol=1e-5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def of(family: str) -> Path:
        if family not in made:
            made[family] = save(tmp_path_factory.mktemp(family), FAMILIES[family], filled(ASKED))
        return made[family]

    return of


@pytest.fixture
def copied(folder: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """A checkpoint that a test may damage."""

    def of(family: str) -> Path:
        for file in folder(family).iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        return tmp_path

    return of


def loaded(where: Path, **settings: Any) -> LanguageModel:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return LanguageModel(str(where), device="cpu", **settings)


def differences(scores: list[list[float]]) -> Any:
    return np.array(scores) - np.mean(scores, axis=1, keepdims=True)


def changed_config(where: Path, **values: Any) -> None:
    config = json.loads((where / "config.json").read_text())
    (where / "config.json").write_text(json.dumps(config | values))


def test_a_causal_model(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("gpt2"), scores="sentences")
    assert (system.name, system.objective, system.question) == ("lm", "causal", "log-likelihood")
    assert system.chunk > 500
    assert system.self_check == ()
    assert system.form_tokens["they"] == ("Ġthey",)
    assert len(system.form_tokens["xyr"]) > 1
    found = system.loglikelihood(ASKED)
    model, tokenizer = system._loaded.model, system._loaded.tokenizer
    expected = plain_log_likelihoods(model, tokenizer, filled(ASKED))
    assert np.abs(np.ravel(found) - expected).max() < 1e-4
    assert {type(score) for scores in found for score in scores} == {float}


def test_a_masked_model(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("roberta"))
    assert (system.objective, system.question) == ("masked", "pseudo-log-likelihood")
    found = system.loglikelihood(ASKED[:9])
    model, tokenizer = system._loaded.model, system._loaded.tokenizer
    texts = filled(ASKED[:9])
    expected = plain_pseudo_log_likelihoods(model, tokenizer, texts)
    assert np.abs(np.ravel(found) - expected).max() < 1e-4


def test_the_best_option_alone(folder: Callable[[str], Path]) -> None:
    every, best = loaded(folder("bert")), loaded(folder("bert"), scores="best")
    for system in (every, best):
        forms = system._loaded.tokenizer.convert_tokens_to_ids(["she", "they"])
        system._loaded.model.get_output_embeddings().bias.data[forms] -= 200
    whole, found = (np.array(one.loglikelihood(ASKED[:9])) for one in (every, best))
    assert (found.argmax(axis=1) == whole.argmax(axis=1)).all()
    np.testing.assert_allclose(found.max(axis=1), whole.max(axis=1), rtol=1e-5)
    assert (found > whole - 1e-4).all()
    assert (found > whole + 10).any()


@pytest.mark.parametrize("family", ["gpt2", "t5"])
def test_the_best_option_alone_is_for_masked_models(
    family: str, folder: Callable[[str], Path]
) -> None:
    with pytest.raises(InputError, match='"best" is for masked models, and this one is'):
        loaded(folder(family), scores="best")


def plain_answer(system: LanguageModel, prompt: list[int], answer: list[int]) -> float:
    begun = torch.tensor([[0, *answer[:-1]]])
    with torch.no_grad():
        model = system._loaded.model
        logits = model(input_ids=torch.tensor([prompt]), decoder_input_ids=begun).logits[0]
    return logits.log_softmax(dim=-1)[range(len(answer)), answer].sum().item()


def test_a_sequence_to_sequence_model(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("t5"))
    assert system.objective == "sequence-to-sequence"
    assert "infilling" in system.question
    tokenizer = system._loaded.tokenizer
    found = system.loglikelihood(ASKED[:9])
    for asked, scores in zip(ASKED[:9], found, strict=True):
        prompt = tokenizer(asked.text.replace("___", "<extra_id_0>")).input_ids
        for form, score in zip(asked.options, scores, strict=True):
            answer = tokenizer(f"<extra_id_0> {form} <extra_id_1>", add_special_tokens=False)
            assert abs(plain_answer(system, prompt, answer.input_ids) - score) < 1e-4


def test_answers_to_prompts_of_any_length(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("t5"))
    tokenizer = system._loaded.tokenizer
    prompts = ["Who came by train?", "Who?", "Who had slept well, and who had found an old coin?"]
    answers = [["he", "they had"], ["xe"], ["she", "the pilot", "the gardener was tired"]]
    asked = [tokenizer(prompt).input_ids for prompt in prompts]
    told = [[tokenizer(answer).input_ids for answer in every] for every in answers]
    found = AnswerScorer(system._loaded.model, tokenizer, batch_tokens=64).score(asked, told)
    for prompt, given, scores in zip(asked, told, found, strict=True):
        for answer, score in zip(given, scores, strict=True):
            assert abs(plain_answer(system, prompt, answer) - score) < 1e-4


@pytest.mark.parametrize("family", THREE)
def test_scores_depend_on_nothing_but_the_instance(
    family: str, folder: Callable[[str], Path]
) -> None:
    system = loaded(folder(family))
    # a masked model is fed a text once for each of its tokens
    asked = ASKED[:: 4 if family == "bert" else 1]
    together = differences(system.loglikelihood(asked))
    backwards = differences(system.loglikelihood(asked[::-1]))[::-1]
    alone = [differences(system.loglikelihood([one]))[0] for one in asked[:6]]
    assert np.abs(together - backwards).max() < 1e-4
    assert np.abs(together[:6] - alone).max() < 1e-4
    assert system.loglikelihood([]) == []


def test_options_differ_as_sentences_do(folder: Callable[[str], Path]) -> None:
    options = loaded(folder("llama")).loglikelihood(ASKED)
    sentences = loaded(folder("llama"), scores="sentences").loglikelihood(ASKED)
    assert np.abs(differences(options) - differences(sentences)).max() < 1e-4
    assert (np.array(options) - np.array(sentences)).min() > 0


def test_instances_with_different_numbers_of_options(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("gpt2"))
    asked = [replace(i, options=i.options[: 1 + n % 4]) for n, i in enumerate(ASKED[:8])]
    found = system.loglikelihood(asked)
    assert [len(scores) for scores in found] == [1, 2, 3, 4, 1, 2, 3, 4]
    assert found[0] == [0.0]  # nothing to compare it with
    whole = system.loglikelihood([ASKED[3]])
    assert np.abs(np.subtract(found[3], whole[0])).max() < 1e-4


@pytest.mark.parametrize("family", ["gpt2", "bert"])
def test_a_text_that_is_too_long(family: str, folder: Callable[[str], Path]) -> None:
    system = loaded(folder(family))
    text = "Many stones lay there. " * 90 + "Then ___ left."
    start = text.index("___")
    asked = FillingInstance("far", text, Mention("___", start, start + 3), ("he", "she"), 0)
    with pytest.raises(InputError, match=r"id far: \d+ tokens, and .* reads 256; shorten") as error:
        system.loglikelihood([ASKED[0], asked])
    assert "stones" not in str(error.value)


def test_the_roberta_family_counts_positions_behind_the_padding(
    folder: Callable[[str], Path],
) -> None:
    assert loaded(folder("roberta"))._loaded.longest == 254
    assert loaded(folder("opt"))._loaded.longest == 256
    assert loaded(folder("t5"))._loaded.longest is None


@pytest.mark.parametrize("family", THREE)
def test_scores_that_are_no_numbers(family: str, copied: Callable[[str], Path]) -> None:
    where = copied(family)
    tensors = load_file(where / "model.safetensors")
    next(t for t in tensors.values() if t.ndim == 2).fill_(float("nan"))
    save_file(tensors, where / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"id own-0: .* no finite numbers") as error:
        loaded(where).loglikelihood(ASKED[:2])
    assert not any(text in str(error.value) for text in filled(ASKED))


def test_a_form_that_the_tokenizer_does_not_know(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("bert"))
    asked = [replace(ASKED[0], options=("he", "ʒe"))]
    with pytest.warns(SelfCheckWarning, match=r"does not know 'ʒe' \(it reads \[UNK\]\)"):
        system.loglikelihood(asked)
    assert system.form_tokens["ʒe"] == ("[UNK]",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.loglikelihood(asked)


def test_a_run_keeps_how_each_form_is_split(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("gpt2"))
    split = Split("ruff", "no_context", "test", pa.table({"id": []}), "", Path())
    record = new_record(split, SystemRecord("lm", "language model"), "lm", {}, system)
    run = json.loads(json.dumps(record.to_json()))
    assert run["form_tokens"]["they"] == ["Ġthey"]
    assert len(run["form_tokens"]["xyr"]) > 1
    assert len(run["form_tokens"]) == 11  # three cases of four sets, of which two are "her"
    computed = (run["dtype"], run["device"], run["engine"], run["revision"])
    assert computed == ("float32", "cpu", "transformers", None)
    weights = transformers.AutoModelForCausalLM.from_pretrained(folder("gpt2")).parameters()
    assert run["parameters"] == sum(one.numel() for one in weights)


def test_known_forms_are_checked_on_load(copied: Callable[[str], Path]) -> None:
    where = copied("bert")
    content = json.loads((where / "tokenizer.json").read_text())
    vocabulary = content["model"]["vocab"]
    content["model"]["vocab"] = {p: n for p, n in vocabulary.items() if p.strip("#") != "x"}
    (where / "tokenizer.json").write_text(json.dumps(content))
    with pytest.warns(SelfCheckWarning, match="'xyr'"):
        system = LanguageModel(str(where), device="cpu")
    assert any("'xyr'" in line for line in system.self_check)


class SmallMemory:
    """A model that runs out of memory above some number of tokens."""

    def __init__(self, model: Any, most: int, error: Exception) -> None:
        self.forward, self.most, self.error = model.forward, most, error
        self.refused = 0

    def __call__(self, *args: Any, **inputs: Any) -> Any:
        given = inputs.get("input_ids", inputs.get("attention_mask"))
        if given.numel() > self.most:
            self.refused += 1
            raise self.error
        return self.forward(*args, **inputs)


ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
    MemoryError(),
]


@pytest.mark.parametrize("error", ERRORS, ids=["cuda", "cpu", "python"])
@pytest.mark.parametrize("family", THREE)
def test_out_of_memory(family: str, error: Exception, folder: Callable[[str], Path]) -> None:
    # a masked model is fed a text once for each of its tokens
    asked = ASKED[:: 12 if family == "bert" else 4]
    system = loaded(folder(family), batch_tokens=1024)
    expected = differences(system.loglikelihood(asked))
    model = system._loaded.model
    model.forward = small = SmallMemory(model, 300, error)
    with pytest.warns(
        OutOfMemoryWarning, match="out of memory with 1024 tokens.* with 512"
    ) as said:
        found = differences(system.loglikelihood(asked))
    assert np.abs(found - expected).max() < 1e-4
    assert len(said) == small.refused >= 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it stays with what fits
        system.loglikelihood(asked)
    del model.forward


@pytest.mark.parametrize("family", THREE)
def test_not_even_one_text_fits(family: str, folder: Callable[[str], Path]) -> None:
    system = loaded(folder(family))
    model = system._loaded.model
    model.forward = SmallMemory(model, 3, ERRORS[0])
    with (
        pytest.warns(OutOfMemoryWarning),
        pytest.raises(InputError, match="out of memory with a single text; choose a smaller"),
    ):
        system.loglikelihood(ASKED[:1])
    del model.forward


def test_other_errors_are_not_taken_for_it(folder: Callable[[str], Path]) -> None:
    system = loaded(folder("bert"))
    system._loaded.model.forward = SmallMemory(system._loaded.model, 0, RuntimeError("a bug"))
    with pytest.raises(RuntimeError, match="a bug"):
        system.loglikelihood(ASKED[:1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scores": "sentence"}, "no kind of scores 'sentence'; did you mean 'sentences'"),
        ({"dtype": "bf16"}, "no dtype 'bf16'"),
        ({"device": "tpu9"}, "no device 'tpu9'"),
        ({"device": "cpu", "device_map": "auto"}, "both device and device_map"),
        ({"batch_tokens": 0}, "a batch of 0 tokens"),
        ({"trust_remote_code": "no"}, "trust_remote_code is true or false"),
    ],
)
def test_settings_that_cannot_be_used(
    settings: dict[str, Any], message: str, folder: Callable[[str], Path]
) -> None:
    with pytest.raises(InputError, match=message):
        LanguageModel(str(folder("gpt2")), **settings)


def test_precision(folder: Callable[[str], Path]) -> None:
    exact = loaded(folder("llama"), dtype="float32")
    half = loaded(folder("llama"), dtype="bfloat16")
    assert half._loaded.model.dtype == torch.bfloat16
    noise = np.abs(differences(half.loglikelihood(ASKED)) - differences(exact.loglikelihood(ASKED)))
    assert 1e-4 < noise.max() < 1


def test_accelerate_places_a_model(folder: Callable[[str], Path]) -> None:
    expected = loaded(folder("gpt2")).loglikelihood(ASKED)
    found = LanguageModel(str(folder("gpt2")), device_map="auto").loglikelihood(ASKED)
    assert np.abs(np.subtract(found, expected)).max() < 1e-4


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_a_checkpoint_without_its_head(family: str, copied: Callable[[str], Path]) -> None:
    where = copied(family)
    tensors = load_file(where / "model.safetensors")
    head = next(n for n in tensors if n.startswith(("cls.", "lm_head", "model.norm")))
    del tensors[head]
    save_file(tensors, where / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"the weights hold no .*; give a checkpoint with"):
        loaded(where)


@pytest.mark.parametrize("family", THREE)
def test_a_checkpoint_without_tokenizer(family: str, copied: Callable[[str], Path]) -> None:
    """transformers makes one up that knows no word."""
    where = copied(family)
    for file in where.glob("token*.json"):
        file.unlink()
    with pytest.raises(InputError, match="the tokenizer's files are missing"):
        loaded(where)


def test_a_checkpoint_in_pieces(folder: Callable[[str], Path], tmp_path: Path) -> None:
    system = loaded(folder("gpt2"))
    with quiet():
        model = transformers.AutoModelForCausalLM.from_pretrained(folder("gpt2"))
        model.save_pretrained(tmp_path, max_shard_size="20KB")
        system._loaded.tokenizer.save_pretrained(tmp_path)
    assert len([*tmp_path.glob("model-*.safetensors")]) > 1
    pieces = loaded(tmp_path)
    alike(pieces.loglikelihood(ASKED), system.loglikelihood(ASKED))
    assert pieces.checkpoint.digest != system.checkpoint.digest


class Trap:
    def __reduce__(self) -> Any:
        return (RAN.write_text, ("it ran",))


def test_pickles_are_read_as_tensors_alone(
    copied: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = copied("gpt2")
    monkeypatch.chdir(tmp_path)
    expected = loaded(where).loglikelihood(ASKED)
    tensors = load_file(where / "model.safetensors")
    (where / "model.safetensors").unlink()
    torch.save(tensors, where / "pytorch_model.bin")
    alike(loaded(where).loglikelihood(ASKED), expected)
    (where / "pytorch_model.bin").write_bytes(pickle.dumps({"wte.weight": Trap()}))
    with pytest.raises(InputError, match="do not make up a language model"):
        loaded(where)
    assert not RAN.exists()


REMOTE = """
import torch, transformers

class Config(transformers.GPT2Config):
    model_type = "of its own"

class Own(transformers.GPT2LMHeadModel):
    config_class = Config
"""


def own_code(where: Path, **config: Any) -> None:
    """Make a checkpoint one of an architecture that it brings itself, as MosaicBERT's do."""
    (where / "own.py").write_text(f"open({str(RAN)!r}, 'w').close()\n{REMOTE}")
    named = {"AutoModelForCausalLM": "own.Own", "AutoConfig": "own.Config"}
    changed_config(where, auto_map=named, **config)


@pytest.mark.parametrize(
    "config",
    [{"model_type": "of its own", "architectures": ["Own"]}, {"n_layer": 3}],
    ids=["an architecture of its own", "a known one changed"],
)
def test_code_of_a_checkpoint_is_run_for_those_who_say_so(
    config: dict[str, Any],
    copied: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = copied("gpt2")
    monkeypatch.chdir(tmp_path)
    known = loaded(where)
    own_code(where, **config)
    message = r"Python code that its checkpoint brings \(own\.py\).* trust_remote_code=true"
    for word in (False, None):
        given = {} if word is None else {"trust_remote_code": word}
        with pytest.raises(InputError, match=message):
            loaded(where, **given)
    assert not RAN.exists()
    if "n_layer" in config:
        return
    cache = "transformers.dynamic_module_utils.HF_MODULES_CACHE"
    monkeypatch.setattr(cache, str(tmp_path / "modules"))
    system = loaded(where, trust_remote_code=True)
    assert RAN.exists()
    assert system.objective == "causal"
    alike(system.loglikelihood(ASKED[:3]), known.loglikelihood(ASKED[:3]))
    digest = system.checkpoint.digest
    (where / "own.py").write_text(f"{REMOTE}\n# changed\n")
    assert loaded(where, trust_remote_code=True).checkpoint.digest != digest


ENCODER = """
import transformers

class Own(transformers.BertForMaskedLM):
    pass
"""


def test_an_encoder_of_its_own_with_the_config_and_tokenizer_of_another(
    folder: Callable[[str], Path],
    copied: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As RUFF's program loads MosaicBERT: BertConfig, and the tokenizer of bert-base-uncased."""
    where, known = copied("bert"), loaded(folder("bert"))
    for file in where.glob("*token*"):
        file.unlink()
    (where / "own.py").write_text(ENCODER)
    named = {"AutoModelForMaskedLM": "own.Own", "AutoConfig": "own.Missing"}
    changed_config(where, auto_map=named, architectures=["Own"])
    asked: dict[str, Any] = {"trust_remote_code": True, "config_class": "BertConfig"}
    cache = "transformers.dynamic_module_utils.HF_MODULES_CACHE"
    monkeypatch.setattr(cache, str(tmp_path / "modules"))
    with pytest.raises(InputError):
        loaded(where, **asked)
    system = loaded(where, **asked, tokenizer=str(folder("bert")))
    assert type(system._loaded.model).__name__ == "Own"
    alike(system.loglikelihood(ASKED[:3]), known.loglikelihood(ASKED[:3]))
    assert system.checkpoint.digest != known.checkpoint.digest


@pytest.mark.parametrize("name", ["BertCofnig", "BertModel", "utils"])
def test_a_class_of_configs_that_is_none(name: str, folder: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match=f"transformers has no class of configs '{name}'"):
        loaded(folder("bert"), config_class=name)


def test_code_that_fails_is_no_traceback(
    copied: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = copied("gpt2")
    own_code(where, model_type="of its own", architectures=["Own"])
    (where / "own.py").write_text("raise RuntimeError('no such kernel')")
    cache = "transformers.dynamic_module_utils.HF_MODULES_CACHE"
    monkeypatch.setattr(cache, str(tmp_path / "modules"))
    with pytest.raises(InputError, match="do not make up a language model"):
        loaded(where, trust_remote_code=True)


@pytest.mark.parametrize("kind", ["of its own", "gpt2"])
def test_no_code_from_a_repository(
    kind: str, copied: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = copied("gpt2")
    monkeypatch.chdir(tmp_path)
    (where / "own.py").write_text(f"open({str(RAN)!r}, 'w')\nclass Own: pass\nclass Config: pass")
    changed_config(
        where,
        model_type=kind,
        auto_map={"AutoModelForCausalLM": "own.Own", "AutoConfig": "own.Config"},
    )
    if kind == "gpt2":
        loaded(where)  # transformers has this architecture itself
    else:
        with pytest.raises(InputError, match="Python code that its checkpoint brings"):
            loaded(where)
    assert not RAN.exists()


def test_no_language_model(copied: Callable[[str], Path]) -> None:
    where = copied("gpt2")
    changed_config(where, model_type="vit", architectures=["ViTModel"])
    with pytest.raises(InputError, match="no language model of the type 'vit'"):
        loaded(where)


def test_encoders_are_not_taken_for_decoders(copied: Callable[[str], Path]) -> None:
    """BERT has a causal class as well, and old configs name none."""
    where = copied("bert")
    changed_config(where, architectures=None)
    assert loaded(where).objective == "masked"


def test_a_tokenizer_of_another_model(
    copied: Callable[[str], Path], folder: Callable[[str], Path]
) -> None:
    where = copied("gpt2")
    tensors = load_file(where / "model.safetensors")
    embeddings = next(name for name in tensors if name.endswith("wte.weight"))
    tensors[embeddings] = tensors[embeddings][:50].contiguous()
    save_file(tensors, where / "model.safetensors", metadata={"format": "pt"})
    changed_config(where, vocab_size=50)
    with pytest.raises(InputError, match=r"the tokenizer has a token .* model 50 of them"):
        loaded(where).loglikelihood(ASKED)


def test_t5_without_sentinels(copied: Callable[[str], Path]) -> None:
    where = copied("t5")
    content = (where / "tokenizer.json").read_text().replace("<extra_id_0>", "<first>")
    (where / "tokenizer.json").write_text(content)
    with pytest.raises(InputError, match="no <extra_id_0>, so that the model fills no slots"):
        loaded(where).loglikelihood(ASKED)
