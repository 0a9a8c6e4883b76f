"""``pronominal reread``."""

from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.running import Config, DatasetPlace, ReadingName, SplitName


def reread(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    out: Annotated[Path, typer.Argument(help="Predictions file to write.")],
    dataset: DatasetPlace,
    reading: ReadingName,
    config: Config = None,
    split: SplitName = "test",
) -> None:
    """Read a run's clusters in another way; 'pronominal score' scores the file."""
    from pronominal.dataset_scripts.reading.loading import read_split
    from pronominal.eval.runs import answers

    answers.reread(read_split(dataset, config, split), run, reading, out)
    print(out)
