"""Drives the package fastcoref (Otmazgin et al., 2022), whose models are LingMess and FCoref.

We call its models below ``predict``, which hashes a spaCy pipeline for every call and pads texts
of different lengths together, so that spans over the padding compete for the mention budget
(fastcoref 2.1.6, ``modeling.py`` and ``coref_models/``). What the package does to the rest of the
process, on import and on load, is undone here.
"""

import logging
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer

from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.tensors import require_same
from pronominal.adapters.checkpoints.third_party import contained_rust, input_error_on
from pronominal.adapters.checkpoints.transformers_models import (
    longest_input,
    require_vocabulary,
    silent_transformers,
    torch_device,
)
from pronominal.adapters.contract.refusals import RefusedTextError, scores_not_finite
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import contract_clusters, refuse_bare_string
from pronominal.adapters.layers.encoders import EncoderDtype, compute_head_in, compute_in
from pronominal.adapters.words.english import english_pipeline
from pronominal.adapters.words.length_batches import require_batch_size
from pronominal.json_files import as_record
from pronominal.spans import Cluster


@contextmanager
def _unchanged_logging() -> Iterator[None]:
    """Silence fastcoref, and undo its configuration of the root logger."""
    root, own = logging.getLogger(), logging.getLogger("fastcoref")
    handlers, level, own_level = root.handlers[:], root.level, own.level
    own.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        own.setLevel(own_level)


with _unchanged_logging():
    from fastcoref.coref_models.modeling_fcoref import FCorefModel
    from fastcoref.coref_models.modeling_lingmess import LingMessModel
    from fastcoref.modeling import CorefModel
    from fastcoref.utilities.collate import LeftOversCollator, PadCollator
    from fastcoref.utilities.consts import (
        CATEGORIES,
        PRONOUNS_GROUPS,
        SPEAKER_END,
        SPEAKER_START,
        STOPWORDS,
    )
    from fastcoref.utilities.util import create_clusters, encode


MOST_SUBTOKENS = 4096
"""What the texts of a batch may have together, unless it is one text.

It is what Longformer's position table lets one text have; memory grows with the square of a text's
length, so no batch of shorter ones needs more than that text.
"""

HIGHEST_SCORE = 10_000
"""Where fastcoref cuts scores off (``mask_tensor``), infinite ones too; none comes near it."""


class Parts(NamedTuple):
    """What a checkpoint of fastcoref is made of.

    Attributes:
        model: of fastcoref.
        tokenizer: of transformers.
        segment_length: subtokens that are encoded together; None for whole texts.
        limit: how many subtokens a text may have, and what says so.
        architecture: fastcoref's name of the model.
        package_class: fastcoref's name of what opens a checkpoint.
    """

    model: Any
    tokenizer: Any
    segment_length: int | None
    limit: tuple[float, str]
    architecture: str
    package_class: str


@dataclass(frozen=True, slots=True)
class Head:
    """What of a config's ``coref_head`` is read here, and not by fastcoref alone.

    Attributes:
        max_span_length: subtokens of a mention.
        top_lambda: spans that are kept for each subtoken.
        max_segment_len: subtokens that are encoded together.
        max_doc_len: subtokens of a text; None for as many as the model has positions.
        pronoun_groups: pronoun -> its group; None for fastcoref's.
    """

    max_span_length: int
    top_lambda: float
    max_segment_len: int
    max_doc_len: int | None = None
    pronoun_groups: Mapping[str, int] | None = None


class FastcorefSystem:
    """What LingMess and FCoref share; each answer is that of a call with this text alone.

    Args:
        checkpoint: a folder or a Hub id.
        device: a torch device such as ``"cpu"``; the first GPU if there is one when None.
        batch_size: how many texts of equal length, in subtokens, go through the model at once;
            fewer where they have more than `MOST_SUBTOKENS` together.
        dtype: see `compute_in`.
    """

    name: str
    engine = "fastcoref"
    model_class: ClassVar[type]
    collator_class: ClassVar[type]
    architecture: ClassVar[str]
    package_class: ClassVar[str]

    def __init__(
        self,
        checkpoint: str,
        *,
        device: str | None = None,
        batch_size: int = 128,
        dtype: EncoderDtype = "float32",
    ) -> None:
        require_batch_size(batch_size)
        self.checkpoint = open_checkpoint(checkpoint)
        self.batch_size = batch_size
        self._package = self._load(self.checkpoint, torch_device(device))
        model = self._package.model
        self.dtype, self.device, self.parameters = compute_in(dtype, model, model.base_model)
        compute_head_in(dtype, model, model.base_model)
        model.register_forward_hook(self._check_scores)
        parts = self._parts_of(model, self._package.tokenizer)
        self._limit = parts.limit
        self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans.

        Nothing is computed if one of them is longer than the model can read.
        """
        refuse_bare_string(texts)
        answers: list[list[Cluster]] = [[] for _ in texts]
        with silent_transformers():
            examples = self._encoded(texts)
            self._check_lengths(examples)
            for batch in _equally_long(examples, self.batch_size):
                for result in self._package._batch_inference(self._package.collator(batch)):
                    raw = result.get_clusters(as_strings=False)
                    answers[result.text_idx] = contract_clusters(raw)
        return answers

    @classmethod
    def _load(cls, checkpoint: Checkpoint, device: torch.device) -> Any:
        cause = f"config, tokenizer and tensors do not make up a {cls.name}"
        cure = f"give a checkpoint of {cls.name}"
        with (
            _unchanged_logging(),
            _unchanged_randomness(),
            silent_transformers(),
            input_error_on(Exception, cause=cause, cure=cure, file=checkpoint.name),
            contained_rust(),
        ):
            given = {"enable_progress_bar": False, "device": device, "nlp": english_pipeline()}
            model_class = loadable(cls.model_class)
            package = CorefModel(str(checkpoint.folder), model_class, cls.collator_class, **given)
        config = checkpoint.folder / "config.json"
        as_record(Head, package.model.config.coref_head, file=config, cure=cure)
        report = package.model.loading_report
        # fastcoref would draw at random what is missing, as all of LingMess's head in an FCoref's
        require_same(report["missing_keys"], report["unexpected_keys"], checkpoint.name, cure=cure)
        require_vocabulary(package.tokenizer, package.model.base_model, checkpoint.name)
        # the package keeps the encoder's attribute name on the class, for the latest model only
        package.model.base_model_prefix = package.model.base_model_prefix
        return package

    @classmethod
    def parts(cls, checkpoint: Checkpoint, device: torch.device) -> "Parts":
        """Return what a checkpoint is made of; `InputError` if it cannot be read."""
        package = cls._load(checkpoint, device)
        return cls._parts_of(package.model, package.tokenizer)

    @classmethod
    def new_parts(cls, encoder: Any, files: Checkpoint, head: Mapping[str, Any]) -> "Parts":
        """Return an encoder under a head of the given sizes, whose weights mean nothing."""
        config = encoder.config
        config.coref_head = dict(head)
        config._attn_implementation = "eager"  # as its checkpoints are opened
        cause = f"no {cls.name} can be made of it"
        cure = "give an encoder such as BERT, RoBERTa or Longformer"
        with (
            _unchanged_logging(),
            silent_transformers(),
            input_error_on(Exception, cause=cause, cure=cure, file=files.name),
            contained_rust(),
        ):
            model: Any = loadable(cls.model_class)(config)
            model.base_model_prefix = model.base_model_prefix
            model.base_model.load_state_dict(encoder.state_dict())
            tokenizer = AutoTokenizer.from_pretrained(
                files.folder, use_fast=True, add_prefix_space=True, trust_remote_code=False
            )
        return cls._parts_of(model, tokenizer)

    @classmethod
    def _parts_of(cls, model: Any, tokenizer: Any) -> "Parts":
        head, segmented = model.config.coref_head, cls.collator_class is LeftOversCollator
        length = head["max_segment_len"] if segmented else None
        limit = _limit(model, head.get("max_doc_len"), length)
        return Parts(model, tokenizer, length, limit, cls.architecture, cls.package_class)

    def _encoded(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        if not texts:
            return []
        columns = encode({"text": list(texts)}, self._package.tokenizer, self._package.nlp)
        return [
            dict(zip(columns, row, strict=True), text=text, idx=index)
            for index, (text, *row) in enumerate(zip(texts, *columns.values(), strict=True))
        ]

    def _check_lengths(self, examples: Iterable[dict[str, Any]]) -> None:
        limit, origin = self._limit
        for example in examples:
            if example["length"] > limit:
                raise RefusedTextError(
                    f"{example['length']} subtokens, and {self.name} reads at most {limit} "
                    f"({origin}, {self.checkpoint.name})",
                    cure="shorten or split the text",
                    index=example["idx"],
                )

    def _check_scores(
        self, _: object, inputs: tuple[Any, ...], outputs: tuple[Tensor, ...]
    ) -> None:
        """Refuse scores that are not numbers or were cut off; the last two outputs are scores."""
        for scores in outputs[2:]:
            usable = (scores < HIGHEST_SCORE).flatten(1).all(dim=1)
            if not usable.all():
                index = inputs[0]["idx"][int(usable.logical_not().nonzero()[0])]
                raise scores_not_finite(index, self.checkpoint.name)


def loadable(model_class: type) -> type:
    """Return a model class of fastcoref with what transformers 5 asks of it.

    Its models keep the loader's account of missing and unexpected tensors as `loading_report`.
    """

    def from_pretrained(cls: Any, *args: Any, **kwargs: Any) -> Any:
        # fastcoref computes in float32; transformers 5 would compute as the file was saved
        kwargs["config"].torch_dtype = torch.float32
        model, cls.loading_report = super(shimmed, cls).from_pretrained(*args, **kwargs)
        return model, cls.loading_report

    shims = {
        "all_tied_weights_keys": {},  # set by post_init, which fastcoref does not call
        "_supports_sdpa": False,  # Longformer has no SDPA, and FCoref's batches need eager
        "from_pretrained": classmethod(from_pretrained),
    }
    shimmed: Any = type(model_class.__name__, (model_class,), shims)
    return cast(type, shimmed)


def _limit(model: Any, longest_text: int | None, segment: int | None) -> tuple[float, str]:
    """Return how many subtokens a text may have, and what says so."""
    table = longest_input(model.base_model)
    unlimited = table is None or (segment is not None and segment <= table)
    positions = math.inf if table is None or unlimited else table
    longest = math.inf if longest_text is None else longest_text
    return min((positions, "its position table"), (longest, "max_doc_len in its config"))


def _equally_long(
    examples: Iterable[dict[str, Any]], batch_size: int
) -> Iterator[list[dict[str, Any]]]:
    by_length = defaultdict(list)
    for example in examples:
        by_length[example["length"]].append(example)
    for length, group in by_length.items():
        size = max(1, min(batch_size, MOST_SUBTOKENS // max(1, length)))
        for first in range(0, len(group), size):
            yield group[first : first + size]


@contextmanager
def _unchanged_randomness() -> Iterator[None]:
    """Undo the seed 42 that fastcoref gives to everybody."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


__all__ = [
    "CATEGORIES",
    "PRONOUNS_GROUPS",
    "SPEAKER_END",
    "SPEAKER_START",
    "STOPWORDS",
    "CorefModel",
    "FCorefModel",
    "FastcorefSystem",
    "LeftOversCollator",
    "LingMessModel",
    "PadCollator",
    "create_clusters",
    "english_pipeline",
    "loadable",
]
