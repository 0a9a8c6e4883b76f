"""A checkpoint to a language model and its tokenizer, for any architecture."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

import torch
import transformers
from transformers.models.auto import modeling_auto as auto

from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.files import (
    ALL_WEIGHTS,
    TOKENIZER_FILES,
    Checkpoint,
    open_checkpoint,
)
from pronominal.adapters.checkpoints.tensors import require_same
from pronominal.adapters.checkpoints.third_party import contained_rust, input_error_on
from pronominal.adapters.checkpoints.transformers_models import (
    longest_input,
    require_words,
    silent_transformers,
    torch_device,
)
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.layers.activations import fuse_activations
from pronominal.adapters.layers.integers import (
    INTEGER_LAYERS,
    multiply_integers,
    refuse_inexact,
)
from pronominal.adapters.layers.packed import pack_weights
from pronominal.errors import InputError
from pronominal.names import unknown_name

Objective = Literal["causal", "masked", "sequence-to-sequence"]
"""What a language model was trained to predict."""

DTYPES = {
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float32": torch.float32,
    **dict.fromkeys(INTEGER_LAYERS, torch.float32),
}
"""What a model may compute in, and what its weights are loaded in."""

TOKENIZERS = ("tokenizer.json", "vocab.txt", "spiece.model", "tokenizer.model", "vocab.json")
"""Files that a tokenizer alone can be made of, the whole one first."""

_OTHERS = (*TOKENIZER_FILES, "*.index.json", "chat_template.jinja", "generation_config.json")
_CAUSE = "config, tokenizer and tensors do not make up a language model"
_CURE = "give a checkpoint with its language modelling head, of transformers' own architectures"
_AUTO_CLASSES: dict[Objective, tuple[Any, Any]] = {
    "masked": (auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, auto.AutoModelForMaskedLM),
    "sequence-to-sequence": (
        auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        auto.AutoModelForSeq2SeqLM,
    ),
    "causal": (auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, auto.AutoModelForCausalLM),
}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A language model, ready to be asked.

    Attributes:
        checkpoint: where it came from.
        objective: what it was trained to predict.
        model: the model of transformers, in evaluation mode.
        tokenizer: its tokenizer.
        longest: for how many tokens it has positions; None if it has no table of them.
        computation: what it computes with.
        quantised: how its weights are quantised, such as ``"gptq"``; None where they are not.
    """

    checkpoint: Checkpoint
    objective: Objective
    model: Any
    tokenizer: Any
    longest: int | None
    computation: Computation
    quantised: str | None = None

    @classmethod
    def in_memory(cls, model: Any, tokenizer: Any) -> Self:
        """Return a model that is in memory, as it is: it may be learning, and has no files."""
        named = Checkpoint(model.config.name_or_path or type(model).__name__, Path(), "")
        objective, computation = objective_of(model.config), Computation.of(model)
        return cls(named, objective, model, tokenizer, _longest(model), computation)

    @property
    def described(self) -> dict[str, Any]:
        """What a run records of the model besides its checkpoint."""
        return {} if self.quantised is None else {"quantised": self.quantised}

    def refuse_longer(self, lengths: Sequence[int], what: str) -> None:
        """Raise `RefusedTextError` for the first prompt that has more tokens than it reads."""
        for index, length in enumerate(lengths):
            if self.longest is not None and length > self.longest:
                raise RefusedTextError(
                    f"{what} has {length} tokens, and the model reads {self.longest}",
                    cure="choose a model that reads more",
                    index=index,
                    among="prompts",
                    checkpoint=self.checkpoint.name,
                )


def load_language_model(  # noqa: PLR0913 - each one is a setting of systems
    checkpoint: str,
    dtype: str | None = None,
    device: str | None = None,
    device_map: str | None = None,
    trust_remote_code: bool = False,
    *,
    tokenizer: str | None = None,
    config_class: str | None = None,
) -> LoadedModel:
    """Load any causal, masked or sequence-to-sequence model.

    Args:
        checkpoint: a folder or a Hub id.
        dtype: a key of `DTYPES`; when None the checkpoint's own on a GPU, float32 on a CPU. Whole
            numbers are for CPUs, and for the linear layers of weights that are not quantised.
        device: a torch device such as ``"cpu"``; the first GPU if there is one when None.
        device_map: how accelerate spreads a model over several GPUs, such as ``"auto"``; then
            `device` is not given.
        trust_remote_code: run the Python files that the checkpoint brings, if it brings any. They
            are part of its digest then. Otherwise no such file is read.
        tokenizer: a folder or a Hub id whose tokenizer is used instead of the checkpoint's, and is
            part of the digest then.
        config_class: the class of transformers that reads the config, such as ``"BertConfig"``,
            instead of the one that the config names.

    Raises:
        InputError: the checkpoint, the device or the dtype cannot be used, the model needs code
            that the checkpoint brings and it is not to be run, or weights or the tokenizer's
            files are missing.
    """
    target = None if device_map else torch_device(device)
    _check_settings(dtype, device, device_map, trust_remote_code)
    if dtype in INTEGER_LAYERS:
        refuse_inexact(dtype, str(target))
    reads_config = _config_class(config_class)
    others = (*_OTHERS, "*.py") if trust_remote_code else _OTHERS
    opened = open_checkpoint(checkpoint, weights=ALL_WEIGHTS, others=others)
    words = opened if tokenizer is None else _open_tokenizer(tokenizer)
    if tokenizer is not None:
        opened = opened.beside(words)
    how: dict[str, Any] = {"dtype": _wanted(dtype, target), "device_map": device_map}
    try:
        objective, model = _from_pretrained(opened, reads_config, trust_remote_code, how, target)
        tokens = _tokenizer(words, trust_remote_code)
    except InputError as error:
        if not trust_remote_code:
            _refuse_remote_code(opened, error)
        raise
    require_words(tokens, words.name)
    model, computation = _ready(model, target, dtype, opened.name)
    longest, quantised = _longest(model), _quantised(model.config)
    return LoadedModel(opened, objective, model, tokens, longest, computation, quantised)


def _wanted(dtype: str | None, target: torch.device | None) -> Any:
    """Return what weights are loaded in, as transformers takes it."""
    if dtype is None and target is not None and target.type == "cpu":
        return torch.float32
    return DTYPES[dtype] if dtype else "auto"


def _ready(
    model: Any, target: torch.device | None, dtype: str | None, name: str
) -> tuple[Any, Computation]:
    """Return a model where it computes, made fast, and what it computes with."""
    model.eval().requires_grad_(False)
    fuse_activations(model)
    if target is not None and _quantised(model.config) is None:
        model = model.to(target)
    computation = Computation.of(model)
    with silent_transformers():
        if dtype in INTEGER_LAYERS:
            if _quantised(model.config) is not None:
                cause = f"its weights are quantised, so that they cannot be {dtype}"
                raise InputError(cause, cure="leave dtype out", file=name)
            multiply_integers(model, dtype, name)
            computation = computation._replace(dtype=dtype)
        elif target is not None:
            pack_weights(model)
    return model, computation


def _open_tokenizer(tokenizer: str) -> Checkpoint:
    return open_checkpoint(tokenizer, weights=TOKENIZERS, others=TOKENIZER_FILES)


def _config_class(name: str | None) -> Any:
    found = getattr(transformers, name or "AutoConfig", None)
    if not hasattr(found, "from_pretrained") or not str(name or "Config").endswith("Config"):
        cause = f"transformers has no class of configs '{name}'"
        raise InputError(cause, cure="name one, such as BertConfig")
    return found


def _tokenizer(words: Checkpoint, trust_remote_code: bool) -> Any:
    with (
        silent_transformers(),
        input_error_on(Exception, cause=_CAUSE, cure=_CURE, file=words.name),
        contained_rust(),
    ):
        return transformers.AutoTokenizer.from_pretrained(
            words.folder, trust_remote_code=trust_remote_code
        )


def _from_pretrained(
    opened: Checkpoint,
    config_class: Any,
    trust_remote_code: bool,
    how: dict[str, Any],
    target: torch.device | None,
) -> tuple[Objective, Any]:
    """Return what a model was trained to predict, and the model."""
    folder, trust = opened.folder, {"trust_remote_code": trust_remote_code}
    with (
        silent_transformers(),
        input_error_on(Exception, cause=_CAUSE, cure=_CURE, file=opened.name),
    ):
        automatic = trust if config_class is transformers.AutoConfig else {}
        config = config_class.from_pretrained(folder, **automatic)
        objective = objective_of(config)
        if _quantised(config) is not None and target is not None:
            how = how | {"device_map": {"": target}}  # such weights are loaded where they stay
        model, report = _AUTO_CLASSES[objective][1].from_pretrained(
            folder, config=config, output_loading_info=True, weights_only=True, **trust, **how
        )
    require_same(report["missing_keys"], (), opened.name, cure=_CURE)
    return objective, model


def _quantised(config: Any) -> str | None:
    """Return the method by which a checkpoint's weights are quantised; None if they are not."""
    settings = getattr(config, "quantization_config", None)
    if settings is None:
        return None
    named = settings if isinstance(settings, dict) else settings.to_dict()
    method = named.get("quant_method")
    return str(getattr(method, "value", method) or "yes")


def refuse_masked(loaded: LoadedModel) -> None:
    """Raise `InputError` if a model that is to answer prompts can only fill slots."""
    if loaded.objective == "masked":
        raise InputError(
            "a masked model answers no prompts",
            cure="give a causal or sequence-to-sequence model, or score it as the system lm",
            file=loaded.checkpoint.name,
        )


def objective_of(config: Any) -> Objective:
    """Return what a model was trained to predict, by the class it was saved as.

    A class of the checkpoint's own counts as what the config calls it (``auto_map``). Where the
    config names no class, or one for another purpose, the first objective that
    transformers has a class for counts, and an encoder is never taken for a decoder.

    Raises:
        InputError: transformers has no language model of this architecture.
    """
    saved_as = set(config.architectures or ())
    for objective, (classes, _) in _AUTO_CLASSES.items():
        if saved_as & {*classes.values()}:
            return objective
    own = getattr(config, "auto_map", None) or {}
    for objective, (classes, auto_class) in _AUTO_CLASSES.items():
        if auto_class.__name__ in own or config.model_type in classes:
            return objective
    raise InputError(
        f"transformers has no language model of the type '{config.model_type}'",
        cure="give a causal, masked or sequence-to-sequence language model",
    )


def _check_settings(
    dtype: str | None, device: str | None, device_map: str | None, trust_remote_code: bool
) -> None:
    if not isinstance(trust_remote_code, bool):
        raise InputError("trust_remote_code is true or false", cure="write one of the two")
    if dtype is not None and dtype not in DTYPES:
        raise unknown_name("dtype", dtype, DTYPES)
    if device_map and device:
        raise InputError("both device and device_map are given", cure="give one of the two")
    if device_map and dtype in INTEGER_LAYERS:
        cause = f"{dtype} is for CPUs, and device_map spreads a model over other devices"
        raise InputError(cause, cure="leave device_map out, and write device = cpu")
    if device_map and find_spec("accelerate") is None:
        raise InputError(
            "device_map needs the package accelerate", cure='pip install "pronominal[lm]"'
        )


def _refuse_remote_code(checkpoint: Checkpoint, reason: InputError) -> None:
    """Say so where a checkpoint that transformers cannot load alone names code of its own.

    An architecture of transformers' own is loaded even if the config names other code.
    """
    try:
        config = json.loads((checkpoint.folder / "config.json").read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return  # a damaged config names nothing
    named = config.get("auto_map") if isinstance(config, dict) else None
    if isinstance(named, dict) and named:
        modules = {str(name).rpartition("--")[2].partition(".")[0] for name in named.values()}
        files = " and ".join(f"{module}.py" for module in sorted(modules))
        raise InputError(
            f"the model is made of Python code that its checkpoint brings ({files}), and nothing "
            "of it was run",
            cure="read the code, and if you trust it write --set trust_remote_code=true, which "
            "runs it with all of your rights",
            file=checkpoint.name,
        ) from reason


def _longest(model: Any) -> int | None:
    """Return for how many tokens a model has positions."""
    table = longest_input(model.base_model)
    if table is not None:
        return table
    config = model.config.get_text_config()
    # T5's config names the length of its training texts, and it reads any
    if config.is_encoder_decoder:
        return None
    longest = getattr(config, "max_position_embeddings", None)
    return longest if isinstance(longest, int) and longest > 0 else None
