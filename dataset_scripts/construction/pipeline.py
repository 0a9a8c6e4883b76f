"""The stages in their order, and the report of what each of them kept and why the rest went."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from pronominal.dataset_scripts.construction import noun_phrases as phrases
from pronominal.dataset_scripts.construction.clean import clean
from pronominal.dataset_scripts.construction.connectives import connectives
from pronominal.dataset_scripts.construction.filters import filters
from pronominal.dataset_scripts.construction.genders import NameGenders, genders
from pronominal.dataset_scripts.construction.labels import labels
from pronominal.dataset_scripts.construction.proper_names import ProperNames
from pronominal.dataset_scripts.construction.rejections import Fates
from pronominal.dataset_scripts.construction.replacement import replacement
from pronominal.dataset_scripts.construction.rules import Rules
from pronominal.dataset_scripts.construction.sentences import sentences
from pronominal.dataset_scripts.construction.stage import Kept, Stage
from pronominal.dataset_scripts.construction.tagged_phrases import BASE, RELEASED, TaggedPhrases

STAGES = (
    *("clean", "sentences", "filters", "connectives", "noun_phrases"),
    *("genders", "labels", "replacement", "duplicates"),
)

SHOWN = 20
"""Lines of a report's text that say what could not be read: a corpus may have many files."""


@dataclass(slots=True)
class StageCounts:
    """What a stage has seen so far; counts of several parts add up.

    Attributes:
        read: rows that came.
        kept: rows that went on; of `sentences`, rows that were made.
        dropped: why the others did not -> how many.
        noted: what was mended -> how many.
    """

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    def add(self, read: int, kept: Kept) -> None:
        """Take what a stage made of one batch."""
        self.read += read
        self.kept += kept.rows.num_rows
        self.dropped.update(kept.dropped)
        self.noted.update(kept.noted)


@dataclass(slots=True)
class Report:
    """What became of a corpus.

    Attributes:
        stages: name of a stage -> its counts.
        damage: what could not be read, by the file's name -> how often.
    """

    stages: dict[str, StageCounts] = field(
        default_factory=lambda: {name: StageCounts() for name in STAGES}
    )
    damage: Counter[str] = field(default_factory=Counter)

    def add(self, told: dict[str, Any]) -> None:
        """Add the report of another part, as `describe` gives it."""
        self.damage.update(told["damage"])
        for name, counts in told["stages"].items():
            stage = self.stages[name]
            stage.read += counts["read"]
            stage.kept += counts["kept"]
            stage.dropped.update(counts["dropped"])
            stage.noted.update(counts["noted"])

    def describe(self) -> dict[str, Any]:
        """Return the report as JSON holds it, reasons by their number."""
        stages = {
            name: {
                "read": counts.read,
                "kept": counts.kept,
                "dropped": _ordered(counts.dropped),
                "noted": _ordered(counts.noted),
            }
            for name, counts in self.stages.items()
        }
        return {"stages": stages, "damage": _ordered(self.damage)}

    def lines(self) -> Iterable[str]:
        """Yield the report as text."""
        for name, counts in self.stages.items():
            yield f"{name:13} {counts.read:>13,} read {counts.kept:>13,} kept"
            for reason, number in _ordered(counts.dropped).items():
                yield f"{'':13} {number:>13,} dropped: {reason}"
            for reason, number in _ordered(counts.noted).items():
                yield f"{'':13} {number:>13,} {reason}"
        damage = [*_ordered(self.damage).items()]
        for reason, number in damage[:SHOWN]:
            yield f"{'not read':13} {number:>13,} {reason}"
        if rest := damage[SHOWN:]:
            yield f"{'not read':13} {sum(n for _, n in rest):>13,} more, named in the JSON report"


def _ordered(counts: Counter[str]) -> dict[str, int]:
    there = +counts
    return dict(sorted(there.items(), key=lambda item: (-item[1], item[0])))


def stages(rules: Rules, names: NameGenders) -> dict[str, Stage]:
    """Return the stages up to the duplicates, which look at one batch and nothing else."""
    find: phrases.PhraseFinder = ProperNames(names)
    if rules.pipeline is not None:
        find = TaggedPhrases(rules.pipeline, BASE if rules.grammar == "paper" else RELEASED)
    made: tuple[Stage, ...] = (
        partial(clean, rules=rules.clean),
        sentences,
        partial(filters, rules=rules.filters),
        partial(connectives, rules=rules.connectives),
        phrases.noun_phrases(find, rules.noun_phrases),
        genders(names),
        labels(rules.labels),
        replacement(names, rules.replacement),
    )
    return dict(zip(STAGES, made, strict=False))


def construct(
    documents: pa.RecordBatch, made: dict[str, Stage], report: Report, fates: Fates | None = None
) -> pa.RecordBatch:
    """Send a batch of documents through the stages; return what is left of its sentences."""
    rows = documents
    for name, stage in made.items():
        kept = stage(rows)
        report.stages[name].add(rows.num_rows, kept)
        if fates is not None:
            fates.follow(name, kept)
        rows = kept.rows
    return rows
