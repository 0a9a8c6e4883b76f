"""Another decision rule over the clusters of a run, without asking the system again."""

from pathlib import Path

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.answers import clustered_rows, read_answers
from pronominal.eval.runs.clustering_systems import prediction_of
from pronominal.eval.runs.decision_rules import decision_rule
from pronominal.eval.runs.failures import read_failures


def reread(split: Split, run: Path, reading: str, out: Path) -> None:
    """Write the predictions of a finished run as another decision rule has them.

    Args:
        split: the rows of the run.
        run: its folder.
        reading: the name of the rule.
        out: the predictions file to write.

    Raises:
        InputError: there is no such rule, or the run is not finished, is of other rows or has no
            clusters.
    """
    rule = decision_rule(reading)
    read_answers(run, split)  # refuses other rows and missing ones
    if failed := read_failures(run):
        cause = f"the run failed at {len(failed):,} rows, which no reading can answer"
        raise InputError(cause, cure="run the same command again, which asks for them", file=run)
    rows = list(clustered_rows(run, split.stream()))
    with new_file(out) as beside, beside.open("w", encoding="utf-8") as file:
        file.writelines(prediction_of(*row, rule).line() for row in rows)
