"""The decisions about a split's rows, from a run's folder or any predictions file.

Or those of another decision rule over its clusters, without asking the system again.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

import pyarrow.compute as pc

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.split import Instance, Split
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.decisions import NONE, Decision
from pronominal.errors import InputError
from pronominal.eval.runs.coreference_systems import clusters_of, prediction_of
from pronominal.eval.runs.decision_rules import ClusteredInstance, decision_rule
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.prediction_blocks import decisions_in_order
from pronominal.eval.runs.predictions import predictions_file, read_predictions
from pronominal.eval.runs.record import is_run, read_record
from pronominal.instances import ResolutionInstance
from pronominal.overwriting import refuse_overwriting


def read_answers(path: Path, split: Split, reading: str | None = None) -> list[Decision]:
    """Read the decision about each row of a split.

    Args:
        path: a predictions file, or the folder of a run, which must be of these rows.
        split: the rows.
        reading: the name of a decision rule, to decide anew on the clusters of each row; None for
            the decisions of the file.

    Returns:
        The decisions, in the order of the split; *none* about a row that the run failed at.

    Raises:
        InputError: a line is not valid, or an id is unknown, missing or given twice; there is no
            such rule, or a line has no clusters to apply it to.
    """
    decisions, failed = read_given_answers(path, split, reading), read_failures(path)
    if all(decision is not None for decision in decisions):
        return cast("list[Decision]", decisions)
    ids = split.table["id"].to_pylist()
    answers = zip(ids, decisions, strict=True)
    missing = [name for name, answer in answers if answer is None and name not in failed]
    if missing:
        cause = f"{len(missing)} of {len(ids)} ids are missing, the first one is {missing[0]}"
        cure = "predict every row; an answer that is none has abstained: none"
        raise InputError(cause, cure=cure, file=predictions_file(path))
    return [NONE if decision is None else decision for decision in decisions]


def read_given_answers(
    path: Path, split: Split, reading: str | None = None
) -> Sequence[Decision | None]:
    """Read decisions as `read_answers` does, with None for rows without a prediction."""
    _refuse_other_rows(path if path.is_dir() else path.parent, split)
    if reading is None and (in_order := decisions_in_order(path, split)) is not None:
        return in_order
    file, ids = predictions_file(path), split.table["id"].to_pylist()
    most = dict(zip(ids, pc.list_value_length(split.choices).to_pylist(), strict=True))
    decisions: dict[str, Decision] = {}
    for number, prediction in read_predictions(path):
        name, decision = prediction.id, prediction.decision
        at = RowLocation(file, f"line {number}")
        _refuse_other_choice(name, decision, most, at)
        # a row of several samples may be in a file once for each
        if name in decisions and not (split.asks_for_form and decisions[name] == decision):
            raise at.refuse(f"the id {name} is given twice", "keep one line for each id")
        decisions[name] = decision
    if not decisions and not read_failures(path):
        raise InputError("the file is empty", cure="run the system again", file=file)
    if reading is not None:
        rule = decision_rule(reading)
        # also for a row without an answer: the decision about the next one may depend on it
        for instance, clusters in clustered_rows(path, split.stream()):
            decision = rule(instance, clusters)
            if instance.id in decisions:
                decisions[instance.id] = decision
    return [decisions.get(name) for name in ids]


def reread(split: Split, run: Path, reading: str, out: Path) -> None:
    """Write the predictions of a finished run as another decision rule has them.

    Args:
        split: the rows of the run.
        run: its folder.
        reading: the name of the rule.
        out: the predictions file to write.

    Raises:
        InputError: there is no such rule, there is a file already, or the run is not finished, is
            of other rows or has no clusters.
    """
    refuse_overwriting(out)
    rule = decision_rule(reading)
    read_answers(run, split)  # refuses other rows and missing ones
    if failed := read_failures(run):
        cause = f"the run failed at {len(failed):,} rows, which no reading can answer"
        raise InputError(cause, cure="run the same command again, which asks for them", file=run)
    rows = list(clustered_rows(run, split.stream()))
    with new_file(out) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(prediction_of(*row, rule).line() for row in rows)


def clustered_rows(path: Path, instances: Iterable[Instance]) -> Iterator[ClusteredInstance]:
    """Yield instances, in their order, with the clusters that a predictions file has of them.

    One that the run failed at is in no cluster. `InputError` as in `clusters_of`.
    """
    clusters = {line.id: clusters_of(line, path, number) for number, line in read_predictions(path)}
    for instance in instances:
        if isinstance(instance, ResolutionInstance):
            yield instance, clusters.get(instance.id, [])


def _refuse_other_choice(
    name: str, decision: Decision, most: dict[str, int], at: RowLocation
) -> None:
    """Raise `InputError` for an id that no row has, or a choice that its row does not offer."""
    if name not in most:
        cause, cure = f"the id {name!r} is not in the dataset", "check the dataset and its config"
    elif decision.choice is not None and not 0 <= decision.choice < most[name]:
        cause = f"the choice of {name} is {decision.choice}, outside its candidates"
        cure = f"write an index from 0 to {most[name] - 1}, or null"
    else:
        return
    raise at.refuse(cause, cure)


def _refuse_other_rows(folder: Path, split: Split) -> None:
    """Refuse the predictions of a run whose rows were others: configs may share their ids."""
    if not is_run(folder):
        return
    dataset = read_record(folder).dataset
    if dataset.digest != split.digest:
        cause = (
            f"the run is of other rows ({dataset}, {dataset.digest[:12]}) than "
            f"{split.dataset_name}/{split.config}/{split.name} ({split.digest[:12]})"
        )
        raise InputError(cause, cure="give the rows of the run", file=folder)
