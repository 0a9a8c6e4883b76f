"""The figures of the papers, one data file each, as ``pronominal reproduce`` compares them."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from pronominal.errors import InputError
from pronominal.names import unknown_name

if TYPE_CHECKING:
    from pronominal.eval.tables.measure import Measure

PAPERS = ("knowref", "ruff", "winogender", "winonb", "winopron")
"""Papers by name; each has its file ``NAME.figures.toml`` in this folder."""

Names = tuple[str, ...]
"""Occupations; ``+`` or ``-`` before one says whether a bias is towards or against it."""

Value = float | Names


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """What a column of a paper's table says.

    Attributes:
        heading: as the paper has it.
        path: where the number stands in a run's scores, with dots; in a table on the data alone
            it may be empty, since figures come from the rows' names.
        unit: of the paper's number; scores are fractions, or counts. Where it is occupations,
            `path` leads to a form's biases.
        decimals: of the paper's number.
        trend: whether it is the rank correlation of the scores with the models' parameters.
        gain: whether it is the difference from the row's baseline.
        minus: name of the table's figure that is subtracted from it, where it is a difference.
        dataset: whose rows it is about, where that is another one than the table's.
        config: of that dataset, where it is another one than the table's.
        question: which answers of a prompted model it is about: those to the prompts, or those
            within chains of thought; a prompt without a chain has the former only.
    """

    heading: str
    unit: Literal["fraction", "percent", "count", "occupations"]
    decimals: int
    path: str = ""
    trend: bool = False
    gain: bool = False
    minus: str | None = None
    dataset: str | None = None
    config: str | None = None
    question: Literal["prompts", "chains"] = "prompts"

    @property
    def scale(self) -> int:
        """What a score is multiplied with to have the paper's unit."""
        return 100 if self.unit == "percent" else 1

    @property
    def is_derived(self) -> bool:
        """Whether it says how scores differ or go with size, and not what one is."""
        return self.trend or self.gain or self.minus is not None


@dataclass(frozen=True, slots=True)
class PaperModel:
    """One of the models that a paper sums up over.

    Attributes:
        name: as the paper has it.
        family: such as ``Pythia``.
        architecture: such as ``decoder-only``.
        parameters: in millions, as the paper has them.
    """

    name: str
    family: str
    architecture: str
    parameters: float

    def belongs_to(self, group: str) -> bool:
        """Say whether a row over a group of models, by name, is over this one."""
        return group in ("all", self.family, self.architecture)


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of a paper's table.

    Attributes:
        name: as the paper has it.
        paper: name of a figure -> the paper's number, in its unit.
        impossible: name of a figure -> why the paper's number cannot be that, whatever is run.
        occupations: the same for figures that are occupations.
        baseline: key of the row, in any table of the paper, that gains are measured against.
        over: where the row sums up over models, ``all`` or their family or architecture.
        why: the known reason for a difference.
    """

    name: str
    paper: Mapping[str, float]
    baseline: str | None = None
    over: str | None = None
    why: str | None = None
    impossible: Mapping[str, str] = field(default_factory=dict)
    occupations: Mapping[str, Names] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table of a paper.

    Attributes:
        name: as asked for, such as ``knowref:3``.
        paper: authors and year.
        title: what it shows.
        dataset: the dataset whose rows it is about.
        figures: its columns by name.
        rows: its rows by key, which is also how ``--run`` calls them.
        config: of the dataset.
        split: of the dataset.
        notes: sentences below it.
        between: keys of the two systems that its only row compares.
        switched: config of the switched rows, where it lists what becomes of each row.
        models: the paper's models by the keys of their rows, where rows sum up over them.
        later_version: name of the paper that took the place of this one; None where none did.
    """

    name: str
    paper: str
    title: str
    dataset: str
    figures: Mapping[str, PaperFigure]
    rows: Mapping[str, PaperRow]
    config: str = "original"
    split: str = "test"
    notes: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    switched: str | None = None
    models: Mapping[str, PaperModel] = field(default_factory=dict)
    later_version: str | None = None

    @property
    def place(self) -> str:
        """Where it stands in the paper: ``Table 3`` or ``Figure 5``."""
        kind, _, number = self.name.partition(":")[2].rpartition("-")
        return f"{kind.capitalize() or 'Table'} {number}"

    def dataset_of(self, figure: PaperFigure) -> str:
        """Return the dataset that a figure is about."""
        return figure.dataset or self.dataset

    def config_of(self, figure: PaperFigure) -> str:
        """Return the config that a figure is about."""
        return figure.config or self.config

    def place_of(self, figure: PaperFigure) -> tuple[str, str, str]:
        """Return the dataset, config and split that a figure is about."""
        return self.dataset_of(figure), self.config_of(figure), self.split

    def system_figures(self) -> Iterator["SystemFigure"]:
        """Yield what it says of one system each, as a run's scores would.

        Sums over models, differences and correlations are none of that, nor are answers within
        chains of thought, and what cannot be what the paper calls it. Of a paper with a later
        version only that counts.
        """
        if self.between or self.later_version is not None:
            return
        for key, row in self.rows.items():
            for name, number in row.paper.items():
                figure = self.figures[name]
                otherwise = figure.question != "prompts" or name in row.impossible
                if not (row.over or figure.is_derived or otherwise):
                    yield SystemFigure(self, key, row, figure, number)


@dataclass(frozen=True, slots=True)
class SystemFigure:
    """A number of a paper that is a figure of one system.

    Attributes:
        table: where it stands.
        key: of its row.
        row: its row.
        figure: its column.
        number: in the paper's unit.
    """

    table: PaperTable
    key: str
    row: PaperRow
    figure: PaperFigure
    number: float

    @property
    def score(self) -> float:
        """The number as scores have it: a fraction, or a count."""
        return self.number / self.figure.scale

    def measure_among(self, measures: Iterable["Measure"]) -> "Measure | None":
        """Return which of a task's measures it is."""
        return next((one for one in measures if ".".join(one.path) == self.figure.path), None)


def paper_tables(name: str) -> list[PaperTable]:
    """Return a table of a paper, given as ``knowref:3``, or all of them, given as ``knowref``.

    Raises:
        InputError: there is no such paper or table.
    """
    paper, colon, wanted = name.partition(":")
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    file = files("pronominal.eval.papers.figures") / f"{paper}.figures.toml"
    content = tomllib.loads(file.read_text("utf-8"))
    tables = {
        number: _table(f"{paper}:{number}", content, table)
        for number, table in content["tables"].items()
    }
    if colon and wanted not in tables:
        numbers = ", ".join(f"{paper}:{number}" for number in tables)
        cause = f"there is no table '{wanted}' of {paper}"
        raise InputError(cause, cure=f"choose one of {numbers}")
    return [tables[wanted]] if colon else [*tables.values()]


def _table(name: str, content: Mapping[str, Any], given: Mapping[str, Any]) -> PaperTable:
    parts: dict[str, Any] = {
        "figures": {key: PaperFigure(**figure) for key, figure in given["figures"].items()},
        "rows": {key: _row(row) for key, row in given["rows"].items()},
        "models": {key: PaperModel(**one) for key, one in content.get("models", {}).items()},
        **{key: tuple(given.get(key, ())) for key in ("notes", "between")},
    }
    of_all = {key: content.get(key) for key in ("paper", "later_version")}
    return PaperTable(name=name, **{**of_all, **given, **parts})


def _row(given: Mapping[str, Any]) -> PaperRow:
    occupations = {name: tuple(found) for name, found in given.get("occupations", {}).items()}
    return PaperRow(**{"paper": {}, **given, "occupations": occupations})
