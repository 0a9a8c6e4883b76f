"""People as one more system: their answers as a run, scored by the scorer of all systems."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronominal.atomic import new_folder
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError, unknown_name
from pronominal.eval.annotation.answers import Answers
from pronominal.eval.annotation.votes import Verdict, decision, majority, verdicts
from pronominal.eval.evaluation import score_and_keep
from pronominal.eval.runs.asked_systems import LABEL
from pronominal.eval.runs.description import now, run_name, versions
from pronominal.eval.runs.failures import Failure, read_failures, write_failures
from pronominal.eval.runs.folder import IDENTITY, SCHEMA_VERSION, read_description, write_json
from pronominal.eval.runs.predictions import PREDICTIONS, Prediction, read_lines
from pronominal.eval.runs.scored import read_scores
from pronominal.eval.runs.units import SCORE

Scores = dict[str, dict[str, Any]]
"""Label -> scores, as `pronominal.eval.evaluation.evaluate_all` returns them."""


def human_baseline(
    answers: Answers,
    rows: Split,
    out: Path,
    annotator: str | None = None,
    label: str = "human",
) -> Scores:
    """Write the answers of people as a run with its scores.

    The answer to a row is what more than half of the annotators say, as in KnowRef (section 4),
    or what one of them says, as in RUFF (section 3.3). A row without a majority, or with one for
    anything but a candidate or an option, has the decision ``none``.

    Args:
        answers: of an export.
        rows: the rows that were asked about, maybe a sample of a split.
        out: the folder of runs.
        annotator: name of the one whose answers are taken; the majority's when None.
        label: how tables call the run.

    Raises:
        InputError: there is no such annotator, the rows have no labels, the label cannot name a
            folder, or another run is there already.
    """
    if not LABEL.fullmatch(label):
        cause = f"'{label}' cannot name a folder"
        raise InputError(cause, cure="use letters, digits, and . @ + - after the first one")
    if "candidates" in rows.table.column_names and set(rows.table["label"].to_pylist()) == {-1}:
        raise InputError(
            "nobody has labelled the rows, so there is nothing to be right about",
            cure="label them with 'pronominal annotate keep', and ask others about the result",
            file=rows.file,
        )
    said = verdicts(answers, rows)
    lines = [
        Prediction(name, decision(_chosen(answers, given, annotator))).line()
        for name, given in said.items()
    ]
    majority_of = f"the majority of {len(answers.annotators)} annotators"
    described: dict[str, Any] = {
        "system": {"name": label, "kind": "people"},
        "checkpoint": None,
        "checkpoint_name": None,
        "settings": {
            "answers_of": annotator or majority_of,
            "answers_digest": answers.digest()[:12],
        },
        "label": label,
        "versions": versions(),
        "seeds": {},
        "self_check": [],
        "times": {"started": now(), "finished": now(), "seconds": 0.0},
    }
    return {label: _write_run(described, lines, rows, out)}


def runs_beside(answers: Answers, rows: Split, runs: Path, out: Path) -> Scores:
    """Cut the runs of systems to the rows that people were asked about, and score them anew.

    Args:
        answers: of an export.
        rows: the rows that were asked about.
        runs: a folder of runs; those over other rows than the export's split are passed by.
        out: the folder of the cut runs, another one where rows are a sample. Where they are the
            whole split, runs in it stay as they are.

    Raises:
        InputError: no finished run is over the split, or another run is there already.
    """
    found: Scores = {}
    asked = answers.key.rows
    for file in sorted(runs.rglob("run.json")):
        described = read_description(file.parent)
        if described["dataset"]["digest"] != answers.key.dataset["digest"]:
            continue
        label = described["label"]
        if described["complete"] and described["system"].get("kind") != "people":
            there = (out / run_name(rows, label)).resolve() == file.parent.resolve()
            if there and rows.digest == described["dataset"]["digest"]:
                found[label] = _scores_of(file.parent, rows)
                continue
            lines = read_lines(file.parent)
            kept = [_line(one) for _, one in lines if one["id"] in asked]
            failed = [one for one in read_failures(file.parent).values() if one.id in asked]
            found[label] = _write_run(described, kept, rows, out, failed)
    if not found:
        dataset = "/".join(str(answers.key.dataset[part]) for part in ("name", "config", "split"))
        raise InputError(
            f"it has no finished run over {dataset} as it was exported",
            cure="make one with 'pronominal evaluate'",
            file=runs,
        )
    return found


def _chosen(answers: Answers, given: tuple[Verdict, ...], annotator: str | None) -> Verdict | None:
    if annotator is None:
        return majority(given)
    if annotator not in answers.annotators:
        raise unknown_name("annotator", annotator, answers.annotators)
    return given[answers.annotators.index(annotator)]


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _write_run(
    described: Mapping[str, Any],
    lines: Sequence[str],
    rows: Split,
    out: Path,
    failed: Sequence[Failure] = (),
) -> dict[str, Any]:
    """Write one run over the rows, whole or not at all; return its scores."""
    dataset: dict[str, Any] = {"name": rows.dataset_name, "config": rows.config, "split": rows.name}
    dataset |= {"digest": rows.digest, "rows": rows.num_rows}
    given = [json.loads(line)["abstained"] for line in lines]
    counts = {"rows": len(lines), "none": given.count("none"), "both": given.count("both")}
    run = {"schema_version": SCHEMA_VERSION, **described, "dataset": dataset}
    run |= {"counts": counts, "complete": True}
    folder = out / run_name(rows, described["label"])
    _refuse_other_run(folder, run)
    with new_folder(folder) as beside:
        (beside / PREDICTIONS).write_text("".join(lines), encoding="utf-8")
        write_failures(beside, failed)
        write_json(beside / "run.json", run)
        return score_and_keep(rows, beside).scores


def _scores_of(run: Path, rows: Split) -> dict[str, Any]:
    there = (run / SCORE).exists()
    return read_scores(run / SCORE) if there else score_and_keep(rows, run).scores


def _refuse_other_run(folder: Path, run: Mapping[str, Any]) -> None:
    if not folder.exists():
        return
    earlier = read_description(folder)
    if any(earlier[key] != run[key] for key in IDENTITY):
        raise InputError(
            "there is another run already",
            cure="give another --out or --label, or remove it",
            file=folder,
        )
