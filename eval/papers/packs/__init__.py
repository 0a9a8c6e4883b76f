"""What each row of a paper's tables was made with, one data file a paper.

A row is called as in the paper's figures (`pronominal.eval.papers.figures`).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pronominal.eval.papers.data_figures import DATA_FIGURES
from pronominal.eval.papers.figures import PAPERS, PaperTable

Status = Literal["ready", "needs licence", "needs gpu", "needs server", "not available"]
"""What stands between a row and its run, worst last."""

Passes = Literal["once", "tokens", "options", "10 prompts", "30 prompts"]
"""How often a system reads a row: once; a copy for each token of each of the four filled texts;
each of the four; or each prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackRow:
    """What a row of a paper was made with.

    Attributes:
        source: where that stands: the paper's section, or the file of its program.
        system: one of ours; None where we have none.
        checkpoint: Hub id of its weights.
        released: the year of the paper or page that published this checkpoint.
        weights: what ``pronominal fetch`` calls them, where they are not on the Hub.
        run_elsewhere: what ``pronominal fetch`` calls the files of a program that the user runs.
        revision: commit of the Hub; None where the paper names none.
        dtype: what was computed in; None where that is the checkpoint's own.
        settings: keywords of the system's own; ``fetch:NAME`` is the folder of fetched files.
        checkpoint_settings: those that the published weights need, and others may not.
        reading: the decision rule by which the authors read the answers.
        parameters: in millions.
        stored_bytes: of each weight in the published file.
        passes: how often a text is read.
        gated: whether the weights are behind a licence that has to be accepted on the Hub.
        remote_code: whether the checkpoint brings Python code that has to be run.
        status: what stands in its way on every machine.
        reason: why, and what can be done.
        train: the command that trains such weights, where those of the paper were not published.
        spacy_pipeline: what parses its texts, which has to be installed.
    """

    source: str
    system: str | None = None
    checkpoint: str | None = None
    released: str | None = None
    weights: str | None = None
    run_elsewhere: str | None = None
    revision: str | None = None
    dtype: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    checkpoint_settings: Mapping[str, Any] = field(default_factory=dict)
    reading: str = "offsets"
    parameters: float = 0
    stored_bytes: int = 4
    passes: Passes = "once"
    gated: bool = False
    remote_code: bool = False
    status: Status = "ready"
    reason: str = ""
    train: str | None = None
    spacy_pipeline: str | None = None

    @property
    def place(self) -> str | None:
        """The Hub id, with the revision where there is one."""
        pinned = f"@{self.revision}" if self.revision else ""
        return None if self.checkpoint is None else f"{self.checkpoint}{pinned}"

    @property
    def written(self) -> str:
        """The system as ``--system`` takes it, or ``none``."""
        weights = self.place or (f"fetch:{self.weights}" if self.weights else "")
        return f"{self.system or 'none'}{'=' if weights else ''}{weights}"

    @property
    def all_settings(self) -> dict[str, Any]:
        """The settings, what is computed in among them."""
        dtype = {} if self.dtype is None else {"dtype": self.dtype}
        return {**self.settings, **self.checkpoint_settings, **dtype}


@dataclass(frozen=True, slots=True)
class SplitSize:
    """How much there is to read: rows, and words of a row in the mean."""

    rows: int
    words: float


@cache
def pack(paper: str) -> Mapping[str, PackRow]:
    """Return what a paper's rows were made with, by their keys."""
    content = _content(f"{paper}.pack.toml")
    if "same_as" in content:
        return pack(content["same_as"])
    source = {"source": content["source"]}
    return {key: PackRow(**{**source, **_stated(row)}) for key, row in content["rows"].items()}


@cache
def release_years() -> Mapping[str, str]:
    """Return when the papers' models came out, by their Hub ids."""
    rows = [row for paper in PAPERS for row in pack(paper).values()]
    return {row.checkpoint: row.released for row in rows if row.checkpoint and row.released}


def _stated(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its reason in words, where it is one that several rows have."""
    others = {name: value for name, value in row.items() if name != "because"}
    if "because" not in row:
        return others
    return others | {"reason": _content("reasons.toml")[row["because"]].format(**row)}


@cache
def split_sizes() -> Mapping[tuple[str, str], SplitSize]:
    """Return the size of what the papers' tables are about, by dataset and config."""
    return {
        (dataset, config): SplitSize(**size)
        for dataset, configs in _content("rows.toml").items()
        for config, size in configs.items()
    }


def system_rows(table: PaperTable) -> list[str]:
    """Return the keys of a table's rows about systems, those that others sum up over included.

    Tables about the data alone have none. A row over models is none, but each of these models is.
    """
    if table.name in DATA_FIGURES:
        return []
    groups = [row.over for row in table.rows.values() if row.over is not None]
    summed = [key for key, model in table.models.items() if any(map(model.belongs_to, groups))]
    own = [key for key, row in table.rows.items() if row.over is None]
    return [*dict.fromkeys([*own, *summed])]


def made_with(table: PaperTable, key: str) -> list[str]:
    """Return the keys of what a row needs: itself, its baseline, or the two that it compares."""
    if table.between:
        return list(table.between)
    row = table.rows.get(key)
    return [key, *([row.baseline] if row is not None and row.baseline else [])]


def _content(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__name__) / name).read_text("utf-8"))


__all__ = [
    "PAPERS",
    "PackRow",
    "SplitSize",
    "Status",
    "made_with",
    "pack",
    "release_years",
    "split_sizes",
    "system_rows",
]
