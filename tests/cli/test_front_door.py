"""The first two minutes: the menu, the options of ``evaluate``, and what is printed first."""

import json
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from queue import Queue
from threading import Semaphore
from types import SimpleNamespace

import pandas as pd
import pytest

import pronominal
from pronominal.cli import progress
from pronominal.cli.menu import MENU
from tests.cli.test_main import pronominal as command

HEAVY = ("torch", "pandas", "transformers", "spacy", "scipy", "pronominal.adapters.baselines")
"""What no finished run needs."""

ABOUT = "sample/double/test: 576 rows, digest "


@pytest.fixture(scope="module")
def runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    result = command("evaluate", "-d", sample, "-c", "double", "-o", out, "-s", "random")
    assert result.returncode == 0, result.stderr
    return out


def loaded_by(code: str, *modules: str) -> str:
    """Run code in a fresh interpreter; return which of some modules it has imported."""
    check = f"{code}\nimport sys; print(sorted({set(modules)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def called(*words: object) -> str:
    """Return code that calls the command as a user does."""
    return (
        f"import sys; sys.argv = {['pronominal', *map(str, words)]!r}\n"
        "from pronominal.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    )


def test_the_menu_has_every_command_once_and_imports_none() -> None:
    printed = command("--help").stdout
    names = [name for group in MENU.values() for name in group]
    assert len(names) == len({*names})
    for title, entries in MENU.items():
        assert f"\n{title}:\n" in printed
        for name, entry in entries.items():
            assert f"\n  {name} " in printed
            assert entry.summary in printed
    assert max(map(len, printed.splitlines())) <= 80
    heavy = ("numpy", "pyarrow", "rich", "pronominal.eval", "pronominal.adapters")
    assert loaded_by(called("--help"), *heavy) == "[]"


@pytest.mark.parametrize("name", [name for group in MENU.values() for name in group])
def test_every_command_of_the_menu_has_help(name: str) -> None:
    assert name in command(name, "--help").stdout


def test_finished_runs_are_compared_without_a_model_library(sample: Path, runs: Path) -> None:
    words = ("evaluate", "-d", sample, "-c", "double", "-o", runs, "-s", "random")
    assert loaded_by(called(*words), *HEAVY) == "[]"


def test_so_are_those_of_language_models(own_ruff: str, tmp_path: Path) -> None:
    which = ("-d", own_ruff, "-c", "distractors_1", "--split", "seed_13")
    words = ("evaluate", *which, "-o", tmp_path, "-s", "always-he", "-s", "last-pronoun")
    assert command(*words).returncode == 0
    assert loaded_by(called(*words), *HEAVY) == "[]"


def test_what_is_printed_first_is_the_summary(sample: Path, runs: Path) -> None:
    words = ("-d", sample, "-c", "double")
    printed = command("evaluate", *words, "-o", runs, "-s", "random").stdout
    assert printed.startswith(ABOUT)
    assert printed == pronominal.evaluate(sample, "random", config="double", out=runs).summary
    full = command("evaluate", *words, "-o", runs, "-s", "random", "--full").stdout
    table, _, where = printed.partition("\nNo interval for")
    assert ("--full" in where, full.startswith(table)) == (True, True)
    assert "All tables: below" in full
    guessing = "What is said of guessing, and ↓, rests on each interval alone"
    assert (guessing in printed, guessing in full) == (False, True)
    assert "--full" not in full
    assert "Consistency (WinoPron, section 4.3)" in full


def test_score_takes_the_name_from_the_folder(sample: Path, runs: Path) -> None:
    (run,) = runs.iterdir()
    words = ("-d", sample, "-c", "double", "-p", run)
    assert command("score", *words).stdout == command("score", "sample", *words).stdout
    assert command("score", *words).stdout.startswith(ABOUT)
    assert "decided by offsets, 1 system" in command("score", *words).stdout.replace("\n ", "")
    wrong = command("score", "winopron", *words)
    assert (wrong.returncode, "holds sample" in wrong.stderr) == (2, True)


def test_a_run_says_what_it_answers(sample: Path, runs: Path, tmp_path: Path) -> None:
    (run,) = runs.iterdir()
    asked = command("score", "-d", sample, "-c", "double", "-p", run)
    assert command("score", run).stdout == asked.stdout
    assert command("score", run, "-d", sample, "--json").returncode == 0
    assert f"name one, such as {run}, or type" in command("score", runs).stderr
    assert "this is no run's folder; type 'pronominal score RUN'" in command("score", sample).stderr
    assert "no run's folder and no predictions are given" in command("score").stderr
    assert f"did you mean '{run}'?" in command("score", f"{run}m").stderr
    file = run / "predictions.jsonl"
    assert f"this is a file; type --predictions {file}" in command("score", file).stderr
    moved = tmp_path / "run"
    shutil.copytree(run, moved)
    record = json.loads((moved / "run.json").read_text())
    (moved / "run.json").write_text(json.dumps(record | {"dataset_place": "gone/sample"}))
    refused = command("score", moved)
    assert refused.returncode == 2
    assert "sample/double/test, are not at gone/sample; type 'pronominal score " in refused.stderr
    # other rows nearer to the run are passed by
    shutil.copytree(sample, tmp_path / "gone" / "sample")
    nearest = moved / "gone" / "sample"
    shutil.copytree(sample / "single", nearest / "double")
    assert command("score", moved).stdout.startswith(ABOUT)
    shutil.rmtree(nearest)
    (moved / "run.json").write_text(json.dumps(record | {"dataset_place": None}))
    untold = command("score", moved).stderr
    assert "does not say where its rows, sample/double/test, are; type" in untold
    assert f"score {moved} --dataset FOLDER', with the folder of sample" in untold
    twice = command("score", run, "-p", run)
    assert (twice.returncode, f"type 'pronominal score {run}'" in twice.stderr) == (2, True)


def test_a_limit_and_tidy_scores(sample: Path, tmp_path: Path) -> None:
    words = ("-d", sample, "-c", "double", "-o", tmp_path / "runs", "-s", "random", "-m", 16)
    result = command("evaluate", *words, "--save", tmp_path / "scores", "--json")
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "scores"
    assert f"pronominal: {folder}: scores.parquet and scores.csv written\n" in result.stderr
    saved = pd.read_csv(tmp_path / "scores" / "scores.csv")
    accuracy = saved[(saved.measure == "accuracy") & (saved.subset == "overall")]
    assert accuracy.n.tolist() == [16]
    assert accuracy.value.tolist() == [json.loads(result.stdout)["random"]["overall"]["accuracy"]]


def test_the_reports_scores_are_those_of_the_results(
    sample: Path, runs: Path, tmp_path: Path
) -> None:
    words = (runs, "-o", tmp_path / "page.html", "--scores", tmp_path / "scores")
    assert command("report", *words).returncode == 0
    results = pronominal.evaluate(sample, "random", config="double", out=runs)
    saved = pd.read_parquet(tmp_path / "scores" / "scores.parquet")
    pd.testing.assert_frame_equal(saved, results.to_pandas())


def test_settings_go_to_the_systems_that_have_them(sample: Path, tmp_path: Path) -> None:
    words = ("evaluate", "-d", sample, "-c", "double", "-o", tmp_path / "runs", "-m", 16)
    both = ("-s", "first-mention", "-s", "dice=random")
    assert command(*words, *both, "--set", "seed=7").returncode == 0
    settings = {
        record["label"]: record["settings"].get("seed")
        for file in tmp_path.rglob("run.json")
        for record in [json.loads(file.read_text())]
    }
    assert settings == {"first-mention": None, "dice": 7}
    wrong = command(*words, *both, "--set", "sede=7")
    assert "no system here has the setting 'sede'; did you mean 'seed'?" in wrong.stderr
    how = ("--device", "cpu", "--batch-size", 4, "--dtype", "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = command(*words, *both, *how, "--set", "seed=7")
    assert done.returncode == 0, done.stderr
    for setting in ("device", "batch_size", "dtype"):
        assert f"{setting} changes nothing: no system here takes it" in done.stderr


def test_an_experiment_is_a_file(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(
        f'dataset = "{sample}"\nconfig = "double"\nout = "{tmp_path / "runs"}"\nlimit = 16\n'
        '[settings]\nseed = 7\n[systems.first-mention]\n[systems.dice]\nsystem = "random"\n'
    )
    result = command("evaluate", file, "--json")
    assert result.returncode == 0, result.stderr
    scores = json.loads(result.stdout)
    assert [*scores] == ["first-mention", "dice"]
    assert scores["dice"]["overall"]["n"] == 16
    in_python = pronominal.evaluate_experiment(str(file))
    assert json.loads(json.dumps({k: v.content for k, v in in_python.scores.items()})) == scores
    assert {run.parent for run in in_python.runs.values()} == {tmp_path / "runs"}
    more = command("evaluate", file, "--json", "-m", 24, "-s", "random", "-o", tmp_path / "other")
    scores = json.loads(more.stdout)
    assert [*scores] == ["first-mention", "dice", "random"]
    assert scores["random"]["overall"]["n"] == 24
    refused = command("evaluate", "-d", file, "-s", "random")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_an_experiment_lies_beside_its_dataset(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "sample").symlink_to(sample)
    file = tmp_path / "experiment.toml"
    options = f'config = "double"\nout = "{tmp_path / "runs"}"\nlimit = 16\nswitch_at_test = true\n'
    file.write_text(f'dataset = "sample"\nstrict = true\nsystems = ["random"]\n{options}')
    result = command("evaluate", file, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["random"]["overall"]["n"] == 16
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["settings"]["switch_at_test"] is True


def test_a_word_without_an_option_is_no_experiment(sample: Path) -> None:
    for words in (("-d", sample, "-s", "random", "first-mention"), (sample, "-s", "random")):
        result = command("evaluate", *words)
        assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
        assert "each system needs its own -s, and a dataset -d" in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('datset = "x"', "an experiment has no 'datset'; did you mean 'dataset'?"),
        ("[dice]", "an experiment has no 'dice'; a system's table is [systems.dice]"),
        ("dataset = 7", "dataset is 7; write a string"),
        ('dataset = "x"\nstrict = "yes"', "strict is 'yes'; write true or false"),
        ('dataset = "x"\nbatch_size = true', "batch_size is True; write a number"),
        ('dataset = "x"\nlimit = "x"', "limit is 'x'; write a number"),
        ('dataset = "x"\nsystems = 3', "systems are neither names nor tables"),
        ('dataset = "x"\nsettings = 3', "settings is no table"),
        ("dataset = ", "no experiment could be read"),
        ('systems = ["random"]', "no dataset is given; add --dataset FOLDER"),
        ('dataset = "x"', "no system is given"),
    ],
)
def test_a_wrong_experiment_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(content)
    result = command("evaluate", file)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert message in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("-c double -c single", "--config is given 2 times; give it once"),
        ("--json --latex", "--json and --latex are two forms of output; give one"),
        ("--batch-size 0", "the batch size is 0; give a whole number, at least 1"),
        ("--set seed=x", "random's seed is 'x'; give a whole number"),
        ("--set seed=1 --set seed=2", "the setting seed is given twice; give it once"),
    ],
)
def test_what_would_be_passed_over_is_refused(
    sample: Path, tmp_path: Path, words: str, told: str
) -> None:
    result = command("evaluate", "-d", sample, "-s", "random", "-o", tmp_path, *words.split())
    assert (result.returncode, result.stderr) == (2, f"pronominal: {told}\n")
    assert [*tmp_path.iterdir()] == []


def test_a_report_has_several_forms_in_files(runs: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("report.html", "tables.md", "tables.tex")]
    options = zip(("-o", "--markdown", "--latex"), files, strict=True)
    assert command("report", runs, *(word for pair in options for word in pair)).returncode == 0
    assert all(file.is_file() for file in files)


def test_commands_of_a_group_refuse_an_option_that_is_given_twice() -> None:
    result = command("train", "compare", "a", "b", "--dataset", "x", "--dataset", "y")
    assert (result.returncode, "--dataset is given 2 times" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("given", "label", "name", "checkpoint"),
    [
        ("lingmess", "lingmess", "lingmess", None),
        ("lingmess=a/b", "lingmess", "lingmess", "a/b"),
        ("mine=lingmess=a/b", "mine", "lingmess", "a/b"),
        ("mine=lingmess", "mine", "lingmess", None),
        ("mine=own.module:System", "mine", "own.module:System", None),
        ("mine=own.module:System=a/b", "mine", "own.module:System", "a/b"),
        ("own.module:System", "System", "own.module:System", None),
    ],
)
def test_systems_have_labels(given: str, label: str, name: str, checkpoint: str | None) -> None:
    from pronominal.eval.runs.asked_systems import parse_systems

    (asked,) = parse_systems([given])
    assert (asked.label, asked.name, asked.checkpoint) == (label, name, checkpoint)


class Minutes:
    """A clock that a test moves; what waits for a minute waits for the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits, self.passed = Semaphore(0), Queue[bool]()

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.waits.release()
        return self.passed.get(timeout=60)

    def set(self) -> None:
        self.passed.put(True)

    def move(self) -> None:
        """Let a minute pass, and what waits for it do its work."""
        self.waits.acquire()
        self.now += progress.MINUTE
        self.passed.put(False)
        self.waits.acquire()
        self.waits.release()


def test_a_job_without_a_terminal_prints_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Minutes()
    monkeypatch.setattr(progress, "time", clock)
    waiting = SimpleNamespace(Event=lambda: clock, Thread=progress.threading.Thread)
    monkeypatch.setattr(progress, "threading", waiting)
    with progress.progress_bar("lingmess", 1440) as tell:
        clock.move()
        tell(240)
        for done in (480, 720):
            clock.move()
            tell(done)
        clock.move()
    assert capsys.readouterr().err.splitlines() == [
        "pronominal: lingmess: 0 of 1,440 done",
        "pronominal: lingmess: 240 of 1,440 done",
        "pronominal: lingmess: 480 of 1,440 done, about 4 min left",
        "pronominal: lingmess: 720 of 1,440 done, about 3 min left",
    ]


def test_an_absent_server_is_named_before_anything_runs(sample: Path, tmp_path: Path) -> None:
    url = "url=http://localhost:1"
    words = ("-d", sample, "-c", "double", "-o", tmp_path / "runs", "-s", "random")
    result = command("evaluate", *words, "-s", "lm-server", "--set", url, "--set", "model=x")
    assert result.returncode == 2
    assert "http://localhost:1/v1: there is no server" in result.stderr
    assert not (tmp_path / "runs").exists()


SHORT = {"-d": "--dataset", "-s": "--system", "-o": "--out", "-m": "--limit", "-c": "--config"}
HAVE = {
    "-d": ("export", "leakcheck", "overlap", "reproduce", "train bert", "train compare"),
    "-s": ("import",),
    "-o": ("replicate", "train caw", "train bag-of-words", "distil fcoref"),
    "-m": ("replicate", "run"),
    "-c": ("annotate export",),
}


def test_flags_take_no_word_and_paragraphs_are_whole() -> None:
    shown = command("evaluate", "--help").stdout
    assert re.search(r"--full +Print all tables", shown)
    assert "also run over companion splits, whose answers" in " ".join(shown.split())
    assert re.search(r"--help +-h +Show", shown)
    longest = max(map(len, shown.splitlines()))
    (line,) = (one for one in shown.splitlines() if "Finished runs are scored" in one)
    assert len(line.rstrip()) > longest - 12, "lines end where the terminal does"
    report = command("report", "--help").stdout
    assert "--include-text" in report
    assert "--no-include-text" not in report


def test_distilling_is_said_to_be_that() -> None:
    shown = " ".join(command("distil", "caw", "--help").stdout.split())
    assert "Train caw on the clusters that --teacher finds in --text" in shown
    assert "and test it" not in shown
    assert "is run by 'evaluate -s caw=OUT/seed-N'" in shown


@pytest.mark.parametrize(("short", "name"), [(s, name) for s in HAVE for name in HAVE[s]])
def test_short_forms_are_the_same_everywhere(name: str, short: str) -> None:
    shown = command(*name.split(), "--help").stdout
    long = SHORT[short]
    assert re.search(rf"{long}\s+{short}\s", shown)
