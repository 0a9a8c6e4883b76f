"""A finished run vouches for its predictions, and one that is not finished is never left out."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronominal.adapters import load
from pronominal.credentials import WITHHELD
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from pronominal.eval.report.unscored import unscored_runs
from pronominal.eval.results import score
from pronominal.eval.runs import runner
from pronominal.eval.runs.record import PredictionsRecord, SystemRecord, new_record, read_record
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.runs.shards import merge
from tests.cli.test_main import Result, pronominal
from tests.eval.evaluated import evaluate

NAME = "sample.double.test.random"


@pytest.fixture(scope="module")
def evaluated(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated")
    for label in ("random", "other"):
        evaluate(read_split(sample, "double"), SystemSettings(label, "random"), out)
    return out


@pytest.fixture
def runs(evaluated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evaluated, tmp_path / "runs"))


def halved(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:300]) + lines[300][:20])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def changed(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"choice": 0', b'"choice": 1', 1))


def longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[0])


SHORT = [Path.unlink, emptied, halved]
OTHER = [changed, longer]


def command(sample: Path, runs: Path, name: str = "run") -> tuple[object, ...]:
    rows = ("--dataset", sample, "--config", "double")
    return {
        "run": ("run", *rows, "--system", "random", "--out", runs),
        "evaluate": ("evaluate", *rows, "--system", "random", "--out", runs),
        "score": ("score", "sample", *rows, "--predictions", runs / NAME),
        "reread": ("reread", runs / NAME, runs / "again.jsonl", *rows, "--reading", "upstream"),
        "report": ("report", runs, "--out", runs / "report.html"),
        "reproduce": ("reproduce", "winopron", "--runs", runs / NAME),
    }[name]


def test_a_finished_run_says_what_it_ended_with(evaluated: Path) -> None:
    said = json.loads((evaluated / NAME / "run.json").read_text())["predictions"]
    assert said["rows"] == 576
    assert PredictionsRecord(**said) == PredictionsRecord.of(evaluated / NAME / "predictions.jsonl")


@pytest.mark.parametrize("name", ["run", "evaluate"])
@pytest.mark.parametrize("damage", SHORT)
def test_what_is_missing_is_predicted_again(
    sample: Path, runs: Path, damage: Callable[[Path], None], name: str
) -> None:
    file = runs / NAME / "predictions.jsonl"
    whole = file.read_bytes()
    damage(file)
    assert pronominal(*command(sample, runs, name)).returncode == 0
    assert file.read_bytes() == whole
    assert read_record(runs / NAME).complete


def refused(result: Result, *said: str) -> None:
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
    for words in said:
        assert words in result.stderr


@pytest.mark.parametrize("name", ["run", "evaluate", "score", "reread", "report", "reproduce"])
@pytest.mark.parametrize("damage", OTHER)
def test_predictions_that_were_changed_are_refused(
    sample: Path, runs: Path, damage: Callable[[Path], None], name: str
) -> None:
    damage(runs / NAME / "predictions.jsonl")
    before = (runs / NAME / "predictions.jsonl").read_bytes()
    result = pronominal(*command(sample, runs, name))
    refused(result, f"{NAME}/predictions.jsonl: the predictions are not those that the run ended")
    assert (runs / NAME / "predictions.jsonl").read_bytes() == before
    assert not (runs / "report.html").exists()


@pytest.mark.parametrize("name", ["score", "reread"])
@pytest.mark.parametrize("damage", [emptied, halved])
def test_nothing_is_scored_of_which_rows_are_missing(
    sample: Path, runs: Path, damage: Callable[[Path], None], name: str
) -> None:
    damage(runs / NAME / "predictions.jsonl")
    result = pronominal(*command(sample, runs, name))
    refused(result, "predictions that the run ended with are missing; give the command again")


def test_what_is_left_of_changed_predictions_ends_in_an_error(sample: Path, runs: Path) -> None:
    file = runs / NAME / "predictions.jsonl"
    changed(file)
    halved(file)
    for said in ("what was left is not what the run had written", "not those that the run ended"):
        refused(pronominal(*command(sample, runs)), said)


@pytest.mark.parametrize("change", [dict.pop, lambda content, key: content.update({key: None})])
def test_a_run_that_does_not_say_what_it_ended_with_is_not_finished(
    sample: Path, runs: Path, change: Callable[[dict[str, Any], str], object]
) -> None:
    file = runs / NAME / "run.json"
    content = json.loads(file.read_text())
    said = content["predictions"]
    change(content, "predictions")
    file.write_text(json.dumps(content))
    for name in ("score", "reread"):
        result = pronominal(*command(sample, runs, name))
        refused(result, "the run does not say what predictions it ended with; give the command")
    assert pronominal(*command(sample, runs, "report")).stderr.count("576 of 576 rows") == 1
    assert pronominal(*command(sample, runs)).returncode == 0
    assert json.loads(file.read_text())["predictions"] == said


@pytest.mark.parametrize("damage", SHORT)
def test_a_report_names_runs_that_are_not_finished(
    sample: Path, runs: Path, damage: Callable[[Path], None]
) -> None:
    damage(runs / NAME / "predictions.jsonl")
    rows = "300 of 576" if damage is halved else "0 of 576"
    result = pronominal(*command(sample, runs, "report"), "--markdown", runs / "tables.md")
    assert (result.returncode, len(result.stderr.splitlines())) == (0, 1)
    assert (
        f"{NAME}: the run is not finished ({rows} rows); go on with: pronominal " in result.stderr
    )
    page = (runs / "report.html").read_text()
    assert "Runs without scores" in page
    assert f"{rows}<" in page
    assert "Runs without scores" in (runs / "tables.md").read_text()
    # and has no score that its predictions no longer vouch for
    assert page.count('<th scope="row">random</th>') == 1

    goes_on = shlex.split(result.stderr.partition("go on with: pronominal ")[2])
    assert pronominal(*goes_on).returncode == 0
    result = pronominal(*command(sample, runs, "report"))
    assert result.stderr == ""
    assert "without scores" not in (runs / "report.html").read_text()


def test_a_folder_without_any_finished_run_says_how_far_it_is(sample: Path, runs: Path) -> None:
    for file in runs.glob("*/predictions.jsonl"):
        halved(file)
    result = pronominal(*command(sample, runs, "report"))
    assert (result.returncode, result.stderr.count("300 of 576 rows")) == (0, 2)
    page = (runs / "report.html").read_text()
    assert page.count("300 of 576<") == 2
    assert "At a glance" not in page
    assert "0 systems ·" in page


def test_a_finished_run_that_nobody_scored_is_named_with_the_command_that_does(
    sample: Path, runs: Path, tmp_path: Path
) -> None:
    scored = {file: file.read_bytes() for file in (runs / NAME).glob("[su]*")}
    assert {file.name for file in scored} == {"score.json", "units.npz"}
    for file in scored:
        file.unlink()
    result = pronominal(*command(sample, runs, "report"))
    said, goes_on = result.stderr.split("; go on with: pronominal ")
    assert (result.returncode, len(result.stderr.splitlines())) == (0, 1)
    assert said.endswith(f"{NAME}: the run is finished and has no scores")
    assert "576 of 576<" in (runs / "report.html").read_text()
    assert pronominal(*shlex.split(goes_on)).returncode == 0
    assert {file: file.read_bytes() for file in scored} == scored
    assert pronominal(*command(sample, runs, "report")).stderr == ""


def test_runs_of_one_label_by_two_systems_are_no_companions(own_ruff: str, tmp_path: Path) -> None:
    for config, name in (("no_context", "ContextFree"), ("distractors_0", "Other")):
        system = SystemRecord(f"mine:{name}", "language model")
        record = new_record(
            read_split(own_ruff, config), system, "a-label", {"checkpoint_files": "0" * 64}
        )
        (tmp_path / config).mkdir()
        RunFolder(tmp_path / config, record).describe(complete=config == "no_context")
    found = {one.folder.name: one for one in unscored_runs([tmp_path])}
    assert found.keys() == {"no_context", "distractors_0"}
    assert "checkpoint_files" not in found["distractors_0"].command


def test_answers_to_a_companion_split_have_no_scores_of_their_own(
    own_ruff: str, tmp_path: Path
) -> None:
    system = ("--system", "tests.eval.scores.test_ruff:ContextFree", "--out", tmp_path)
    for config in ("no_context", "distractors_0"):
        rows = ("--dataset", own_ruff, "--config", config)
        assert pronominal("run", *rows, *system).returncode == 0
    (found,) = unscored_runs([tmp_path])
    printed = pronominal("score", "-d", own_ruff, "-p", found.folder, "--json").stdout
    (scores,) = score(own_ruff, found.folder, config="distractors_0").scores.values()
    assert json.loads(printed) == scores.content
    assert "errors" in scores
    beside = str(tmp_path / "ruff.no_context.test.context-free")
    assert found.command.endswith(shlex.join(["--keep", "--context-free", beside]))
    assert pronominal(*shlex.split(found.command)[1:]).returncode == 0
    assert not [*unscored_runs([tmp_path])]
    kept = (found.folder / "score.json").read_bytes()
    assert pronominal("evaluate", *rows, *system).returncode == 0
    assert (found.folder / "score.json").read_bytes() == kept


def test_shards_are_to_be_merged_and_give_way_to_the_whole_run(
    sample: Path, tmp_path: Path
) -> None:
    for shard in ("1/2", "2/2"):
        assert pronominal(*command(sample, tmp_path), "--shard", shard).returncode == 0
    first, second = unscored_runs([tmp_path])
    assert first.command == second.command
    assert pronominal(*shlex.split(first.command)[1:]).returncode == 0
    (whole,) = unscored_runs([tmp_path])
    assert "--keep" in whole.command


@pytest.mark.parametrize("options", [["--reading", "upstream"], ["--upstream-groups"]])
def test_only_scores_of_a_run_as_it_was_made_are_kept(
    sample: Path, runs: Path, options: list[str]
) -> None:
    scored = (*command(sample, runs, "score"), "--keep")
    refused(pronominal(*scored, *options), "only the scores of a run, as it was made, can be kept")
    shutil.copy(runs / NAME / "predictions.jsonl", runs / "mine.jsonl")
    refused(pronominal(*scored[:-2], runs / "mine.jsonl", "--keep"), "of a run, as it was made")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (SystemSettings("random", "random"), "evaluate {rows} --system random {rest}"),
        (SystemSettings("dice", "random"), "evaluate {rows} --system dice=random {rest}"),
        (
            SystemSettings("random", "random", None, {"seed": 7}),
            "run {rows} --system random {rest} --set=seed=7",
        ),
    ],
)
def test_the_command_that_goes_on_is_that_of_the_run(
    sample: Path, tmp_path: Path, asked: SystemSettings, expected: str
) -> None:
    system = load(asked.name, **asked.settings)
    folder = runner.run(read_split(sample, "double"), system, asked, tmp_path)
    halved(folder.predictions)
    (found,) = unscored_runs([tmp_path, folder.path])
    rows = f"--dataset {shlex.quote(str(sample))} --config double --split test"
    rest = f"--out {shlex.quote(str(folder.path))} --reading offsets"
    assert found.command == "pronominal " + expected.format(rows=rows, rest=rest)
    assert pronominal(*shlex.split(found.command)[1:]).returncode == 0
    assert all(run.record.complete for run in unscored_runs([tmp_path]))


def test_a_shard_goes_on_as_a_shard(sample: Path, tmp_path: Path) -> None:
    begun = (*command(sample, tmp_path), "--shard", "2/2")
    assert pronominal(*begun).returncode == 0
    (shard,) = tmp_path.iterdir()
    emptied(shard / "predictions.jsonl")
    (found,) = unscored_runs([tmp_path])
    assert (found.done, found.rows) == (0, 336)
    assert "--shard 2/2" in found.command
    with pytest.raises(InputError, match="the shard is not done"):
        merge([shard])


def test_an_import_is_gone_on_with_by_its_own_command(sample: Path, runs: Path) -> None:
    file = runs / NAME / "run.json"
    content = json.loads(file.read_text())
    content["settings"] |= {"format": "conll2012", "file": "0" * 64}
    file.write_text(json.dumps(content))
    emptied(runs / NAME / "predictions.jsonl")
    assert [found.command for found in unscored_runs([runs])] == ["the command that began it"]


def test_a_record_that_vouches_for_half_of_its_answers_is_refused(runs: Path) -> None:
    file = runs / NAME / "predictions.jsonl"
    halved(file)
    text = file.read_text().rpartition("\n")[0] + "\n"
    file.write_text(text)
    record = json.loads((file.parent / "run.json").read_text())
    record["predictions"] = {"rows": 300, "sha256": PredictionsRecord.of(file).sha256}
    (file.parent / "run.json").write_text(json.dumps(record))
    result = pronominal("report", runs)
    assert result.returncode == 2
    assert "it has 300 predictions, and answers to 576; take the run's folder" in result.stderr


def rewritten(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a run says of itself, and leave it unfinished."""
    file = run / "run.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
    emptied(run / "predictions.jsonl")


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["settings"].update(api_key=WITHHELD),
        lambda record: record.update(checkpoint_name=f"ask --token={WITHHELD}"),
        lambda record: record["system"].update(name="lm-server"),
        lambda record: record["system"].update(name="http"),
    ],
    ids=["a credential", "a credential of a program", "the address of a server", "an address"],
)
def test_what_was_not_recorded_is_not_left_out_of_a_command(
    runs: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    rewritten(runs / NAME, change)
    assert [found.command for found in unscored_runs([runs])] == ["the command that began it"]


def test_a_shard_that_is_none_is_named_with_its_file(sample: Path, runs: Path) -> None:
    rewritten(runs / NAME, lambda record: record["settings"].update(shard="9/2"))
    result = pronominal(*command(sample, runs, "report"))
    refused(result, f"{NAME}/run.json: ", "settings.shard is no shard", "remove the folder")


def test_what_a_run_says_of_itself_steers_no_terminal(sample: Path, runs: Path) -> None:
    rewritten(runs / NAME, lambda record: record.update(dataset_place="\x1b[2Jhere"))
    said = pronominal(*command(sample, runs, "report")).stderr
    assert "\\x1b[2Jhere" in said
    assert "\x1b" not in said
