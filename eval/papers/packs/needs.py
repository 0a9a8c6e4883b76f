"""What rows need of this machine, estimated, and what stands in their way on it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Self

from pronominal.adapters.catalogue.published import folder_of, is_fetched, published
from pronominal.adapters.checkpoints.files import cached_weights, weights_in
from pronominal.eval.papers.packs import PackRow, Status, split_sizes
from pronominal.eval.papers.packs.asked import fetched_for
from pronominal.eval.papers.packs.machine import FLOAT16_ON_CPU, Machine, tokens_read
from pronominal.eval.papers.packs.options import RunOptions

DTYPE_BYTES = {"float16": 2, "bfloat16": 2}

Place = tuple[str, str, str]
"""Names of a dataset, a config and a split."""

BRINGS_CODE = "its checkpoint brings Python code, which would run with all of your rights"
TRUST_IT = "read it, and add --trust-remote-code"

FETCHED_WEIGHTS = ("**/*.safetensors", "**/*.bin", "**/*.pt", "**/*.data-*", "**/*")
"""Files of weights that ``pronominal fetch`` unpacks, one format at a time; else all files."""

NOT_CACHED = "its weights are not in the Hub's cache, and HF_HUB_OFFLINE is set"


@dataclass(frozen=True, slots=True)
class Needs:
    """What runs need of a machine, estimated.

    Attributes:
        downloads: name of weights that are not here yet -> their bytes.
        memory: bytes that the weights take; of several systems, which run one after another, the
            most that one of them takes.
        runs: key of a row and the split that it answers -> seconds.
    """

    downloads: Mapping[str, float] = field(default_factory=dict)
    memory: float = 0
    runs: Mapping[tuple[str, Place], float] = field(default_factory=dict)

    @classmethod
    def together(cls, parts: Iterable[Self]) -> Self:
        """Return what several have in all: weights and runs that they share count once."""
        parts = [*parts]
        downloads = {name: size for one in parts for name, size in one.downloads.items()}
        runs = {run: seconds for one in parts for run, seconds in one.runs.items()}
        return cls(downloads, max((one.memory for one in parts), default=0), runs)

    @property
    def download(self) -> float:
        """How many bytes are not here yet."""
        return sum(self.downloads.values())

    @property
    def seconds(self) -> float:
        """How long all runs take."""
        return sum(self.runs.values())


def needs_of(
    key: str, made: PackRow, places: Sequence[Place], machine: Machine, limit: int | None
) -> Needs:
    """Estimate what a row's runs over some splits need, of the first `limit` rows of each."""
    size, dtype = _size(made), made.dtype
    tokens = {place: _tokens(place, made.passes, limit) for place in places}
    runs = {(key, place): machine.seconds(size, count, dtype) for place, count in tokens.items()}
    return Needs(_missing(made), _memory(made), runs)


def _memory(made: PackRow) -> float:
    return 1e6 * _size(made) * DTYPE_BYTES.get(made.dtype or "", 4)


def _tokens(place: Place, passes: str, limit: int | None) -> float:
    size = split_sizes()[place[:2]]
    rows = size.rows if limit is None else min(limit, size.rows)
    return rows * tokens_read(size.words, passes)


def obstacle_to(
    key: str, made: PackRow, machine: Machine, how: RunOptions
) -> tuple[Status, str, str]:
    """Return what stands in a system's way, why, and which option of ``replicate`` helps."""
    if made.status != "ready":
        own = f"then add --weights {key}=FOLDER" if made.train else ""
        return made.status, made.reason, own
    here = made.place is None or bool(_bytes_here(made))
    if made.gated and not here:
        page = f"https://huggingface.co/{made.checkpoint}"
        told = f"accept the licence on {page}, and log in with 'hf auth login'"
        return "needs licence", told, f"then add --only {key}"
    memory = _memory(made)
    if (lacking := machine.too_small_for(_size(made), memory)) is not None:
        told = f"{_size(made):,.0f} million parameters, {memory / 1e9:.0f} GB, and {lacking}"
        return "needs gpu", told, "--only runs it all the same"
    if not has_pipeline(made):
        told = f"the spaCy pipeline {made.spacy_pipeline} is not installed"
        return "ready", told, f"python -m spacy download {made.spacy_pipeline}"
    asks_trust = made.remote_code and not how.trust_remote_code
    return ("ready", BRINGS_CODE, TRUST_IT) if asks_trust else ("ready", "", "")


def has_pipeline(made: PackRow) -> bool:
    """Say whether the spaCy pipeline that a row needs is installed, if it needs one."""
    return made.spacy_pipeline is None or find_spec(made.spacy_pipeline) is not None


def caution_about(key: str, made: PackRow, machine: Machine) -> str:
    """Return what should be known of a run before it begins; nothing in most cases."""
    if made.status != "ready" or not machine.is_slow_in(made.dtype):
        return ""
    return (
        f"{made.dtype}, as the paper ran it, takes a CPU about {FLOAT16_ON_CPU} times as long as "
        f"float32; to compute in float32, add --weights {key}={made.place}"
    )


def _size(made: PackRow) -> float:
    """Return how many millions of parameters: those that are here, else as published."""
    return _bytes_here(made) / made.stored_bytes / 1e6 or made.parameters


def _bytes_here(made: PackRow) -> float:
    files = cached_weights(made.place) if made.place else None
    if made.weights and is_fetched(made.weights):
        files = weights_in(folder_of(made.weights), FETCHED_WEIGHTS)
    return float(sum(file.stat().st_size for file in files or ()))


def _missing(made: PackRow) -> dict[str, float]:
    """Return which weights are not here, by name, and how many bytes they are."""
    if made.status != "ready":
        return {}
    names = (name for name in fetched_for(made) if not is_fetched(name))
    fetched = {name: 1e6 * published()[name].size for name in names}
    on_hub = made.place is not None and made.parameters and not _bytes_here(made)
    return fetched | (
        {str(made.place): 1e6 * made.parameters * made.stored_bytes} if on_hub else {}
    )


def is_offline() -> bool:
    """Say whether the Hub is not to be asked."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")
