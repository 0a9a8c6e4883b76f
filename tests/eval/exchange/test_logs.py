"""Logs of other evaluation programs become runs, with the answers that the programs counted.

The logs in ``tests/cases/logs`` were written by inspect_ai 0.3.285 and lm_eval 0.4.13 about the
sample, as `tests.eval.exchange.record_logs` does it again; and by lighteval 0.13.0, which asked a
model with random weights about eight rows.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pronominal import InputError
from pronominal.cli.main import app
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.decisions import NONE
from pronominal.eval.exchange.logs import LoggedAnswer, log_reader
from pronominal.eval.exchange.logs.importing import ImportedLog, import_log
from pronominal.eval.exchange.logs.matching import LogMatcher, places_of
from pronominal.eval.report.scored import read_comparisons
from pronominal.eval.runs.record import read_record
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention
from tests.conftest import ROOT

LOGS = ROOT / "tests" / "cases" / "logs"


def imported(sample: Path, program: str, file: Path, out: Path, **options: Any) -> ImportedLog:
    split = load_split(str(sample), options.pop("config", "double"))
    return import_log(split, program, file, out, system=file.stem, **options)


def right_rows(run: Path, sample: Path) -> dict[str, bool]:
    """Return whether each row of a run is right."""
    table = pq.read_table(sample / "double" / "test.parquet")
    labels = dict(zip(table["id"].to_pylist(), table["label"].to_pylist(), strict=True))
    lines = map(json.loads, (run / "predictions.jsonl").read_text().splitlines())
    return {line["id"]: line["choice"] == labels[line["id"]] for line in lines}


def logged(file: Path) -> dict[str, bool]:
    """Return whether the program itself counted each row as right."""
    if file.suffix == ".parquet":
        rows = pq.read_table(file).to_pylist()
        return {one["doc"]["specific"]["id"]: one["metric"]["acc"] == 1 for one in rows}
    if file.suffix == ".jsonl":
        samples = [json.loads(line) for line in file.read_text().splitlines()]
        return {one["doc"]["id"]: one["acc"] == 1 for one in samples}
    samples = json.loads(file.read_text())["samples"]
    return {one["metadata"]["id"]: one["scores"]["choice"]["value"] == "C" for one in samples}


@pytest.mark.parametrize(
    ("program", "name", "split"),
    [
        ("inspect", "inspect_shuffled.json", "test.some-6"),
        ("lighteval", "lighteval_limit.parquet", "test.some-8"),
        ("lm-eval", "lm_eval_unsorted.jsonl", "test.some-3"),
        ("lm-eval", "lm_eval_letters.jsonl", "test.first-8"),
        ("lm-eval", "lm_eval_written.jsonl", "test.first-8"),
    ],
)
def test_a_run_is_right_where_the_program_says_so(
    sample: Path, tmp_path: Path, program: str, name: str, split: str
) -> None:
    run = imported(sample, program, LOGS / name, tmp_path)
    theirs = logged(LOGS / name)
    assert right_rows(run.path, sample) == theirs
    assert run.disputed == []
    assert (run.rows, run.of) == (len(theirs), 576)
    scores = json.loads((run.path / "score.json").read_text())
    assert scores["overall"]["accuracy"] == pytest.approx(sum(theirs.values()) / len(theirs))
    record = read_record(run.path)
    assert (record.dataset.split, record.complete) == (split, True)


def test_an_archive_says_what_it_says_unpacked(sample: Path, tmp_path: Path) -> None:
    file = LOGS / "inspect_limit.eval"
    run = imported(sample, "inspect", file, tmp_path)
    assert read_record(run.path).dataset.split == "test.first-8"
    scores = json.loads((run.path / "score.json").read_text())["overall"]
    # what inspect printed of this log: three of eight right
    assert scores["accuracy"] == pytest.approx(0.375)
    record = read_record(run.path)
    assert record.engine == "inspect_ai 0.3.285"
    assert record.inference is not None
    assert record.inference["model"] == "mockllm/model"
    stored = tmp_path / "stored.eval"
    with zipfile.ZipFile(stored, "w") as archive:
        for name, content in members(file).items():
            archive.writestr(name, content)
    again = imported(sample, "inspect", stored, tmp_path)
    assert (again.path / "predictions.jsonl").read_bytes() == (
        run.path / "predictions.jsonl"
    ).read_bytes()


def members(file: Path) -> dict[str, bytes]:
    from pronominal.eval.exchange.logs.inspect import _member

    with zipfile.ZipFile(file) as archive:
        return {name: _member(archive, name) for name in archive.namelist()}


def test_no_sentence_of_a_log_is_in_the_run(sample: Path, tmp_path: Path) -> None:
    file = LOGS / "inspect_shuffled.json"
    run = imported(sample, "inspect", file, tmp_path)
    written = "".join(path.read_text() for path in run.path.iterdir() if path.suffix != ".npz")
    for one in json.loads(file.read_text())["samples"]:
        assert one["input"] not in written
        assert one["output"]["completion"] not in written


def test_runs_of_two_programs_are_compared_by_paired_tests(sample: Path, tmp_path: Path) -> None:
    for program, name in (("inspect", "inspect_limit.eval"), ("lm-eval", "lm_eval_letters.jsonl")):
        imported(sample, program, LOGS / name, tmp_path)
    (comparison,) = read_comparisons([tmp_path])
    assert {*comparison.scores} == {"inspect_limit", "lm_eval_letters"}
    assert comparison.split == "test.first-8"


def edited(tmp_path: Path, **changes: Any) -> Path:
    content = json.loads((LOGS / "inspect_shuffled.json").read_text())
    samples = content["samples"]
    content["status"] = changes.pop("status", "success")
    if changes.pop("twice", False):
        other = "A" if samples[0]["scores"]["choice"]["answer"] != "A" else "B"
        scores = {"choice": {"value": "I", "answer": other}}
        samples.append({**samples[0], "epoch": 2, "scores": scores})
    samples[1].update(changes)
    file = tmp_path / "log.json"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "error"}, "the program did not come to its end; let it finish"),
        ({"error": {"message": "no"}}, "1 rows have no answer"),
        ({"twice": True}, "has several answers; give a log in which each row is asked once"),
        ({"input": "Another text."}, "has another text: configs may share their ids"),
        ({"metadata": {"id": "nobody"}}, "no row can be told from an answer: there is no row"),
        ({"choices": ["baker", "nobody"]}, "are not those that the program offered"),
        ({"output": None}, "it is no log of inspect_ai: it has a field of the wrong form"),
    ],
)
def test_what_is_not_certain_is_refused(
    sample: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as error:
        imported(sample, "inspect", edited(tmp_path, **changes), tmp_path / "runs")
    assert message in str(error.value)
    assert not (tmp_path / "runs").exists()


def test_rows_of_another_config_are_refused(sample: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has another text"):
        imported(sample, "inspect", LOGS / "inspect_limit.eval", tmp_path, config="single")


def test_rows_that_the_program_failed_at_can_be_failures(sample: Path, tmp_path: Path) -> None:
    log = edited(tmp_path, error={"message": "no"})
    run = imported(sample, "inspect", log, tmp_path / "runs", skip_failed=True)
    assert (run.rows, len(run.failures)) == (576, 571)
    causes = {failure.cause for failure in run.failures}
    assert causes == {"missing", "the program failed at it"}


def test_a_row_without_an_id_is_found_by_its_text(sample: Path, tmp_path: Path) -> None:
    log = edited(tmp_path, metadata={})
    assert imported(sample, "inspect", log, tmp_path / "runs").rows == 6


def test_shuffled_choices_are_matched_by_their_words(sample: Path, tmp_path: Path) -> None:
    content = json.loads((LOGS / "inspect_shuffled.json").read_text())
    before = imported(sample, "inspect", LOGS / "inspect_shuffled.json", tmp_path / "before")
    letters = {"A": "B", "B": "A"}
    for one in content["samples"]:
        one["choices"] = one["choices"][::-1]
        choice = one["scores"]["choice"]
        choice["answer"] = letters.get(choice["answer"], choice["answer"])
    file = tmp_path / "inspect_shuffled.json"
    file.write_text(json.dumps(content))
    after = imported(sample, "inspect", file, tmp_path / "after")
    assert right_rows(before.path, sample) == right_rows(after.path, sample)


def test_answers_that_were_cut_off_are_unfinished(sample: Path, tmp_path: Path) -> None:
    content = json.loads((LOGS / "inspect_shuffled.json").read_text())
    for one in content["samples"]:
        one["scores"]["choice"] |= {"answer": "", "value": "I"}
        one["output"]["choices"][0]["stop_reason"] = "max_tokens"
    file = tmp_path / "log.json"
    file.write_text(json.dumps(content))
    run = imported(sample, "inspect", file, tmp_path / "runs")
    assert read_record(run.path).counts["unfinished"] == 6


def test_numbered_answers_are_read_as_labels_are_counted(sample: Path, tmp_path: Path) -> None:
    content = json.loads((LOGS / "inspect_shuffled.json").read_text())
    answers = ["0", "1", "2", "0,1", None, "1"]
    for one, answer in zip(content["samples"], answers, strict=True):
        one["target"] = str("AB".index(one["target"]))
        del one["choices"]  # inspect has no such field where a task has no choices
        one["metadata"]["candidates"] = [{}, {}]
        value = "C" if answer == one["target"] else "I"
        one["scores"] = {"answer": {"value": value, "answer": answer}}
    file = tmp_path / "log.json"
    file.write_text(json.dumps(content))
    run = imported(sample, "inspect", file, tmp_path / "runs")
    lines = map(json.loads, (run.path / "predictions.jsonl").read_text().splitlines())
    choices = {line["id"]: line["choice"] for line in lines}
    asked = [one["metadata"]["id"] for one in content["samples"]]
    assert [choices[name] for name in asked] == [0, 1, None, None, None, 1]
    assert run.disputed == []


def test_neither_is_right_where_no_candidate_is() -> None:
    text = "Ada saw Bea when Kim said that she sang."
    mentions = [Mention(text[start : start + 3], start, start + 3) for start in (0, 8, 31)]
    row = ResolutionInstance("one", text, mentions[2], (mentions[0], mentions[1]), label=2)
    matcher = LogMatcher([row], Path("log"))
    matcher.take(LoggedAnswer("sample 1", "one", text, decision=NONE, right=True))
    assert matcher.matched.disputed == []


def test_a_log_of_lighteval_without_ids_is_refused(sample: Path, tmp_path: Path) -> None:
    rows = pq.read_table(LOGS / "lighteval_limit.parquet").to_pylist()
    for row in rows:
        row["doc"]["specific"] = {"other": ""}
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="it has no id"):
        imported(sample, "lighteval", tmp_path / "other.parquet", tmp_path / "runs")


def test_a_tie_that_the_program_decides_is_both_and_told(sample: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (LOGS / "lm_eval_letters.jsonl").open()]
    for one in lines:
        one["filtered_resps"] = [["-1.0", "False"], ["-1.0", "False"]]
        one["acc"] = float(one["doc"]["label"] == 0)
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    run = imported(sample, "lm-eval", file, tmp_path / "runs")
    assert read_record(run.path).counts["both"] == 8
    assert len(run.disputed) == sum(one["acc"] for one in lines)


def test_a_folder_of_samples_has_one_file_a_task(sample: Path, tmp_path: Path) -> None:
    content = (LOGS / "lm_eval_letters.jsonl").read_text()
    for date in ("2026-01-01T10-00-00.1", "2026-01-02T10-00-00.1"):
        (tmp_path / f"samples_own_{date}.jsonl").write_text(content)
    with pytest.raises(InputError, match="are of one task"):
        imported(sample, "lm-eval", tmp_path, tmp_path / "runs")
    results = {
        "lm_eval_version": "0.4.13",
        "model_name": "dummy",
        "n-samples": {"own": {"effective": 8}},
    }
    (tmp_path / "results_2026-01-01T10-00-00.1.json").write_text(json.dumps(results))
    told = log_reader("lm-eval").read(tmp_path / "samples_own_2026-01-01T10-00-00.1.jsonl").told
    assert told["version"] == "0.4.13"
    assert told["tasks"] == {"own": {"effective": 8}}


def test_several_filters_are_refused(sample: Path, tmp_path: Path) -> None:
    content = (LOGS / "lm_eval_letters.jsonl").read_text()
    file = tmp_path / "samples.jsonl"
    file.write_text(content + content.replace('"filter": "none"', '"filter": "strict"'))
    with pytest.raises(InputError, match="by several filters: none, strict"):
        imported(sample, "lm-eval", file, tmp_path / "runs")


@pytest.mark.parametrize(
    ("offered", "places"),
    [
        (["pilot", "cook"], [0, 1]),
        ([" the Cook", " the Pilot"], [1, 0]),
        ([" cook and then the pilot left", " pilot and then the cook left"], [1, 0]),
        ([" A", " B"], [0, 1]),
        (["pilot", "pilot"], None),
        (["somebody", "pilot"], None),
        (["pilot"], None),
    ],
)
def test_options_are_compared_by_their_words(offered: list[str], places: list[int] | None) -> None:
    assert places_of(offered, ["pilot", "cook"]) == places


def test_the_command_says_what_was_asked(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--dataset", str(sample), "--config", "double", "--out", str(tmp_path)]
    command = ["import", "inspect", str(LOGS / "inspect_limit.eval"), "--system", "mock"]
    assert app([*command, *place], standalone_mode=False) == 0
    said = capsys.readouterr()
    assert "sample.double.test.first-8.mock" in said.out
    assert "8 of 576 rows were asked about" in said.err
