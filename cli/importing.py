"""``pronominal import`` and ``pronominal score-conll``."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table as RichTable

from pronominal.cli.arguments import (
    Config,
    DatasetPlace,
    Json,
    Out,
    ReadingName,
    SplitName,
    TaskPlace,
)
from pronominal.errors import extra_needed, printable
from pronominal.eval.exchange import FORMATS
from pronominal.eval.exchange.logs import LOGS

if TYPE_CHECKING:
    from pronominal.eval.runs.failures import Failure

SHOWN = 5
"""How many rows without an answer are named on stderr; ``failures.jsonl`` has all."""

DISPUTED = "its rule for ties or for reading what was written is another"

REPEATED = (
    "repeated {mentions}; as in the reference scorer, one counts unless it stands in the response"
    " and the key has the mention, too"
)
EMPTY = (
    "{mentions} of empty nodes, which are left out; the others match by the same words, and not by"
    " heads as in CorefUD's own scorer"
)


def import_predictions(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT", help=f"Whose output it is: {', '.join((*LOGS, *FORMATS))}."
        ),
    ],
    file: Annotated[Path, typer.Argument(help="The output: a file or a folder.")],
    dataset: DatasetPlace,
    system: Annotated[str, typer.Option("--system", "-s", help="What the system is to be called.")],
    config: Config = None,
    split: SplitName = "test",
    out: Out = Path("runs"),
    reading: ReadingName = "offsets",
    skip_failed: Annotated[
        bool,
        typer.Option(
            "--skip-failed", help="Record rows whose answer is missing or misaligned as failures."
        ),
    ] = False,
    task: TaskPlace = None,
) -> int:
    """Make a run of another system's output, and score it; exit with 1 if rows have no answer.

    The logs of inspect, lighteval and lm-eval are read row by row, by id.
    """
    if form in LOGS:
        rows = {"dataset": dataset, "config": config, "split": split}
        return _import_log(form, file, out, rows, system, skip_failed=skip_failed, task=task)
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval.exchange import importing
    from pronominal.eval.scores import as_task

    run = importing.import_predictions(
        load_split(dataset, config, split),
        form,
        file,
        out,
        system=system,
        reading=reading,
        skip_failed=skip_failed,
        task=as_task(task),
    )
    print(run.path)
    _say_failures(run.failures)
    if run.failures or run.left_out:
        said = f"{len(run.failures)} rows have no answer, {run.left_out} documents are of no row"
        print(f"pronominal: {said}", file=sys.stderr)
    return 1 if run.failures else 0


def _import_log(
    form: str,
    file: Path,
    out: Path,
    rows: dict[str, str | None],
    system: str,
    *,
    skip_failed: bool,
    task: str | None,
) -> int:
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval.exchange.logs.importing import import_log
    from pronominal.eval.scores import as_task

    split = load_split(str(rows["dataset"]), rows["config"], rows["split"] or "test")
    own = as_task(task)
    run = import_log(split, form, file, out, system=system, skip_failed=skip_failed, task=own)
    print(run.path)
    _say_failures(run.failures)
    said = [f"{run.rows:,} of {run.of:,} rows were asked about"] if run.rows < run.of else []
    said += [f"{len(run.failures):,} rows have no answer"] if run.failures else []
    if run.disputed:
        said.append(f"{len(run.disputed):,} rows are right for one of {form} and us: {DISPUTED}")
    for line in said:
        print(f"pronominal: {line}", file=sys.stderr)
    return 1 if run.failures else 0


def _say_failures(failures: "Sequence[Failure]") -> None:
    for failure in failures[:SHOWN]:
        told = printable(f"id {failure.id}: its answer is {failure.cause}")
        print(f"pronominal: {told}", file=sys.stderr)


def score_conll(
    key: Annotated[Path, typer.Argument(help="The right clusters.")],
    response: Annotated[Path, typer.Argument(help="A system's, of the same documents.")],
    form: Annotated[
        str, typer.Option("--format", help=f"Of both: {', '.join(FORMATS)}.")
    ] = "conll2012",
    singletons: Annotated[
        bool, typer.Option(help="Count clusters of one mention, as the reference scorer does.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Print MUC, B-cubed, CEAF, LEA, BLANC and CoNLL's score of a response file."""
    with extra_needed("stats", "this"):
        from pronominal.eval.exchange.conll_files import score_files

    scores = score_files(key, response, form, singletons=singletons)
    for side in ("key", "response"):
        for many, told in ((scores["repeats"][side], REPEATED), (scores["zeros"][side], EMPTY)):
            if many:
                told = told.format(mentions="mention" if many == 1 else "mentions")
                print(f"pronominal: the {side} has {many} {told}", file=sys.stderr)
    if as_json:
        print(json.dumps(scores, indent=2))
        return
    table = RichTable("score", "recall", "precision", "F1", box=None)
    for name, intervals in scores["interval"].items():
        cells = zip(scores[name].values(), intervals.values(), strict=True)
        table.add_row(name, *(_with_ends(value, ends) for value, ends in cells))
    Console().print(table)
    reasons = dict.fromkeys(scores.get("interval_missing", {}).values())
    why = [f"No interval: {reason}." for reason in reasons]
    print(*(why or [f"[ ]: 95% interval over {scores['n']:,} documents."]), sep="\n")


def _with_ends(value: float, ends: list[float] | None) -> str:
    written = "" if ends is None else f" [{', '.join(f'{100 * end:.1f}' for end in ends)}]"
    return f"{100 * value:.2f}{written}"
