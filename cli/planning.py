"""``pronominal plan``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pronominal.cli.arguments import (
    Config,
    DatasetPlace,
    Margin,
    ReadingName,
    SplitName,
    SystemNames,
    SystemsFile,
    TaskPlace,
)
from pronominal.cli.printing import print_tables
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.dataset_scripts.reading.split import Split
    from pronominal.eval.runs.runner import SystemSettings
    from pronominal.eval.task import Task


Measures = Annotated[
    list[str] | None,
    typer.Option(help="What to compare; once a measure. Without it the headline or the first."),
]
Reference = Annotated[
    str | None,
    typer.Option(help="Compare every other system with this one only, and not every two."),
]
File = Annotated[Path, typer.Option("--out", "-o", help="The file to write.")]


def plan(
    dataset: DatasetPlace,
    system: SystemNames = None,
    systems_file: SystemsFile = None,
    measure: Measures = None,
    reference: Reference = None,
    margin: Margin = None,
    config: Config = None,
    split: SplitName = "test",
    reading: ReadingName = "offsets",
    task: TaskPlace = None,
    out: File = Path("plan.json"),
) -> None:
    """Write what will be compared, before there are numbers, and a digest of it.

    Systems, measures, pairs, correction and margin of equivalence are fixed; rows, task, your own
    code and the weights on this machine by their digests. 'pronominal evaluate --plan FILE' reports
    exactly that first, and marks everything else as exploratory. The table that is printed says
    what differences the plan can show.
    """
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval.evaluation import companion_splits
    from pronominal.eval.planning.plan import PlannedTask, make_plan
    from pronominal.eval.scores import task_of
    from pronominal.eval.task import load_task

    rows = load_split(dataset, config, split)
    scoring = task_of(rows.dataset_name, None if task is None else load_task(task))
    units = _units(scoring, rows)
    usual = scoring.headline if scoring.headline in units else next(iter(units))
    made = make_plan(
        rows,
        _asked(system, systems_file),
        units,
        measure or [usual],
        task=PlannedTask.of(scoring, companion_splits(scoring, rows)),
        reference=reference,
        margin=margin,
        reading=reading,
    )
    made.write(out)
    print_tables([made.to_table()])
    print(f"{out}: digest {made.digest}")


def _asked(names: list[str] | None, file: Path | None) -> list["SystemSettings"]:
    from pronominal.eval.runs.asked_systems import parse_systems, read_systems

    return parse_systems(names or []) + ([] if file is None else read_systems(file))


def _units(task: "Task", rows: "Split") -> dict[str, int]:
    """Return by what systems can be compared; `InputError` where there is nothing."""
    from pronominal.eval.evaluation import comparable_units

    if units := comparable_units(task, rows):
        return units
    cause = f"the task {task.name} says nothing of units to compare on these rows"
    raise InputError(cause, cure="give the task paired_units, or take another split")
