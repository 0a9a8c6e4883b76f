"""lm-evaluation-harness: the samples that ``--log_samples --output_path`` leave.

The whole row is in ``doc``, so rows are matched by ``doc.id``; ``doc_id`` is wrong with
``--samples`` unless the list is sorted (lm_eval 0.4.13). Numbers are written as strings. Written
against lm_eval's ``evaluator.py`` and ``loggers/evaluation_tracker.py`` of that version.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from pronominal.decisions import Decision, likeliest
from pronominal.errors import InputError, os_errors
from pronominal.eval.exchange.logs import Log, LoggedAnswer, not_as_expected
from pronominal.json_files import parse_object, read_object

PROGRAM = "lm-evaluation-harness"
SAMPLES = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT.+)\.jsonl")
CURE = "give a samples_TASK_DATE.jsonl that lm_eval has written"


def read(file: Path) -> Log:
    """Return what the samples of a task say, or of all tasks of a folder."""
    files = _sample_files(file)
    return Log(_answers(files), told=_told(files))


def _sample_files(file: Path) -> list[Path]:
    if not file.is_dir():
        return [file]
    files = sorted(file.rglob("samples_*.jsonl"))
    if not files:
        raise InputError("there are no samples", cure="run lm_eval with --log_samples", file=file)
    tasks: dict[str, Path] = {}
    for one in files:
        named = SAMPLES.fullmatch(one.name)
        task = named[1] if named else one.name
        if (other := tasks.setdefault(task, one)) != one:
            cause = f"{other.name} and {one.name} are of one task"
            raise InputError(cause, cure="give the one that you mean", file=file)
    return files


def _told(files: list[Path]) -> dict[str, Any]:
    """Return what the results beside the samples say."""
    told: dict[str, Any] = {"program": PROGRAM}
    tasks = {}
    for file in files:
        if named := SAMPLES.fullmatch(file.name):
            results = file.with_name(f"results_{named[2]}.json")
            if results.exists():
                content = read_object(results, cure="remove it, or give it as lm_eval wrote it")
                told["version"] = str(content.get("lm_eval_version"))
                told["model"] = str(content.get("model_name"))
                tasks[named[1]] = _of_task(content.get("n-samples"), named[1])
    return told | ({"tasks": tasks} if tasks else {})


def _of_task(counts: object, task: str) -> dict[str, int]:
    found = counts.get(task) if isinstance(counts, dict) else None
    return {
        name: n
        for name, n in (found if isinstance(found, dict) else {}).items()
        if isinstance(n, int)
    }


def _answers(files: list[Path]) -> Iterator[LoggedAnswer]:
    for file in files:
        filters: set[str] = set()
        with os_errors(file, CURE), file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                place = f"line {number}"
                sample = parse_object(line, file=file, row=place, cure=CURE)
                filters.add(str(sample.get("filter")))
                if len(filters) > 1:
                    cause = f"answers were read by several filters: {', '.join(sorted(filters))}"
                    cure = "keep the lines of one filter"
                    raise InputError(cause, cure=cure, file=file, row=place)
                try:
                    yield _answer(sample, place)
                except (KeyError, TypeError, ValueError, IndexError) as error:
                    raise not_as_expected(file, PROGRAM, place, error) from error


def _answer(sample: Mapping[str, Any], place: str) -> LoggedAnswer:
    doc, given = sample["doc"], sample["filtered_resps"]
    name, text, right = doc.get("id"), doc.get("text"), sample.get("acc")
    about = LoggedAnswer(
        place=place,
        id=None if name is None else str(name),
        text=None if text is None else str(text),
        right=None if right is None else float(right) == 1,
    )
    if isinstance(given[0], str):
        return replace(about, written=given[0])
    asked = [one for key, one in sample["arguments"].items() if key.startswith("gen_args_")]
    # with acc_mutual_info the second half asks for the options without the text
    first = [one for one in asked if one["arg_0"] == asked[0]["arg_0"]]
    scores = tuple(float(one[0]) for one in given[: len(first)])
    if len(scores) != len(first) or not all(map(isfinite, scores)):
        raise ValueError("numbers")
    return replace(
        about,
        options=tuple(str(one["arg_1"]) for one in first),
        decision=Decision.among(likeliest(scores)),
        scores=scores,
    )
