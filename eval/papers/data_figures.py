"""What the papers' tables about the data alone say, computed from built datasets."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pyarrow.parquet as pq

from pronominal.dataset_scripts.reading.folders import MissingSplitError, split_files
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.tables.parquet_files import dataset_of
from pronominal.errors import InputError
from pronominal.eval.papers.figures import PaperFigure, PaperTable
from pronominal.eval.scores.knowref import score as knowref

DataFigure = Callable[[str, PaperTable, PaperFigure], Mapping[str, float]]
"""Takes the folder of a figure's dataset; returns the figure of each row by its key."""


def characteristics(folder: str, table: PaperTable, figure: PaperFigure) -> dict[str, float]:
    """Return the shares of KnowRef's Table 2, as fractions."""
    return knowref.characteristics(read_split(folder, table.config_of(figure), table.split).table)


def templates(folder: str, table: PaperTable, figure: PaperFigure) -> Mapping[str, float]:
    """Count the templates of each grammatical case."""
    rows = read_split(folder, table.config_of(figure), table.split).table
    columns = (rows[name].to_pylist() for name in ("template_id", "case"))
    return Counter(case for _, case in {*zip(*columns, strict=True)})


def instances(folder: str, table: PaperTable, figure: PaperFigure) -> dict[str, float]:
    """Count RUFF's rows in each config; its splits are the figure's path, if they are built."""
    found: dict[str, float] = {}
    for config, row in table.rows.items():
        if next(name for name, one in table.figures.items() if one == figure) in row.paper:
            with suppress(MissingSplitError):  # 'test' has few distractors where not all is built
                files = [split_files(folder, config, name)[1] for name in figure.path.split("+")]
                found[config] = sum(pq.read_metadata(f).num_rows for part in files for f in part)
    return found


ONE = "give one folder of each dataset"

DATA_FIGURES: dict[str, DataFigure] = {
    "knowref:2": characteristics,
    "ruff:1": instances,
    "winogender:1": templates,
    "winopron:1": templates,
}
"""Tables about the data alone -> what computes their figures."""


def folders_of(tables: Sequence[PaperTable], datasets: Sequence[str]) -> dict[str, str]:
    """Return the folder of each dataset that tables about the data alone, or its rows, are on.

    Raises:
        InputError: a folder holds no such dataset.
    """
    asked = {
        table.dataset_of(figure)
        for table in tables
        if table.name in DATA_FIGURES or table.switched
        for figure in table.figures.values()
    }
    if datasets and not asked:
        cause = "no table asked for is about the data, or lists its rows"
        raise InputError(cause, cure="leave --dataset out, and give runs with --runs")
    folders: dict[str, str] = {}
    for folder in datasets:
        file = split_files(folder, None, "test")[1][0]
        name = dataset_of(pq.read_schema(file), file) or "no dataset of ours"
        if name not in asked:
            about = " and ".join(sorted(asked))
            cause = f"it holds {name}, and the tables asked for are about the data of {about}"
            cure = f"leave it out, or give the folder of {about}"
            raise InputError(cause, cure=cure, file=folder)
        if name in folders:
            raise InputError(f"it holds {name}, as {folders[name]} does", cure=ONE, file=folder)
        folders[name] = folder
    return folders
