"""The command line as a user meets it: tables, exit codes, one line for each error."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from pronominal.adapters import GIVEN, SYSTEMS
from pronominal.cli.main import main
from tests.conftest import ROOT


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def pronominal(*arguments: object, cwd: Path = ROOT) -> Result:
    """Run the command in this process: the same code without the interpreter's start."""
    with ExitStack() as stack:
        stdout = stack.enter_context(redirect_stdout(io.StringIO()))
        stderr = stack.enter_context(redirect_stderr(io.StringIO()))
        stack.enter_context(chdir(cwd))
        stack.enter_context(mock.patch.object(sys, "argv", ["pronominal", *map(str, arguments)]))
        exit_code = stack.enter_context(pytest.raises(SystemExit))
        main()
    return Result(exit_code.value.code or 0, stdout.getvalue(), stderr.getvalue())


@pytest.fixture(scope="module")
def runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    result = pronominal(
        *("evaluate", "--dataset", sample, "--config", "double", "--out", out),
        *("--system", "random", "--system", "first-mention", "--system", "nearest-mention"),
    )
    assert result.returncode == 0, result.stderr
    return out


def predictions(runs: Path, system: str) -> Path:
    return runs / f"sample.double.test.{system}" / "predictions.jsonl"


def test_build_prints_rows_and_digests(tmp_path: Path) -> None:
    result = pronominal("build", "sample", "--out", tmp_path)
    assert result.returncode == 0
    assert [line.split()[:3] for line in result.stdout.splitlines()[:2]] == [
        ["double", "test", "576"],
        ["single", "test", "576"],
    ]
    check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path / "sample", check=False).returncode == 0


def test_validate_passes_on_the_sample() -> None:
    result = pronominal("validate", "sample")
    assert (result.returncode, result.stderr) == (0, "")


def test_validate_exits_with_1_and_a_line_for_each_violation(
    upstream: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "winogender"
    folder.mkdir()
    for name in ("templates.tsv", "all_sentences.tsv"):
        (folder / name).write_bytes((upstream / "winogender" / name).read_bytes())
    text = (folder / "templates.tsv").read_text()
    (folder / "templates.tsv").write_text(text.replace("\t1\t", "\t0\t", 1))
    result = pronominal("validate", "winogender", "--sources", tmp_path)
    assert result.returncode == 1
    assert any(
        "templates.tsv, line 3: the same answer" in line for line in result.stdout.split("\n")
    )


def test_evaluate_prints_every_system_in_every_form(sample: Path, runs: Path) -> None:
    command = ("evaluate", "--dataset", sample, "--config", "double", "--out", runs)
    command = (*command, "--system", "random", "--system", "first-mention")
    for form, mark in (
        ("--markdown", "| random"),
        ("--latex", "\\toprule"),
        ("--json", '"random"'),
    ):
        result = pronominal(*command, form)
        assert result.returncode == 0, result.stderr
        assert mark in result.stdout
    scores = json.loads(result.stdout)
    assert scores["first-mention"]["overall"]["accuracy"] == 0.5
    assert scores["first-mention"]["disambiguation_consistency"]["score"] == 0


def test_score_reads_a_runs_predictions(sample: Path, runs: Path) -> None:
    result = pronominal(
        *("score", "sample", "--dataset", sample, "--config", "double", "--json"),
        *("--predictions", predictions(runs, "nearest-mention")),
    )
    scores = json.loads(result.stdout)
    assert result.returncode == 0
    assert scores["overall"]["n"] == 576
    assert scores["pronoun_consistency"]["score"] == 0.5


def test_systems_come_from_a_file_too(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "systems.toml"
    path.write_text('[dice]\nsystem = "random"\nseed = 7\n\n[first-mention]\n')
    result = pronominal(
        *("evaluate", "--dataset", sample, "--systems", path, "--out", tmp_path / "runs", "--json")
    )
    assert result.returncode == 0, result.stderr
    assert list(json.loads(result.stdout)) == ["dice", "first-mention"]


def test_report_is_one_page_with_every_system(runs: Path, tmp_path: Path, sample: Path) -> None:
    result = pronominal("report", runs, "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert result.returncode == 0
    for system in ("random", "first-mention", "nearest-mention"):
        assert f'<th scope="row">{system}</th>' in page
    assert "http://" not in page
    assert "https://" not in page


def change(number: int, **fields: object) -> Callable[[list[str]], list[str]]:
    def changed(lines: list[str]) -> list[str]:
        line = json.dumps(json.loads(lines[number - 1]) | fields)
        return [*lines[: number - 1], line, *lines[number:]]

    return changed


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: [*lines[:6], "{", *lines[7:]], "line 7: the line is not valid JSON"),
        (lambda lines: [*lines[:6], "[]", *lines[7:]], "line 7: the line is not a JSON object"),
        (lambda lines: [], "the file is empty"),
        (lambda lines: lines[1:], "1 of 576 ids are missing, the first one is"),
        (lambda lines: [lines[0], *lines], "line 2: the id"),
        (change(3, id="nobody"), "line 3: the id 'nobody' is not in the dataset"),
        (change(4, choice=2), "line 4: the choice of"),
        (change(4, choice=-1), "line 4: the choice of"),
        (change(4, choice=True), "is not an integer"),
        (change(4, choice=0, abstained="none"), "has a choice and an abstention"),
        (change(4, choice=None, abstained=None), "neither a choice nor an abstention"),
        (change(4, choice=None, abstained="maybe"), "neither a choice nor an abstention"),
    ],
)
def test_a_wrong_predictions_file_is_one_line_and_exit_2(
    sample: Path, runs: Path, tmp_path: Path, damage, message: str
) -> None:
    lines = predictions(runs, "random").read_text().splitlines()
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(f"{line}\n" for line in damage(lines)))
    result = pronominal(
        *("score", "sample", "--dataset", sample, "--config", "double", "--predictions", path)
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert f"{path}" in result.stderr
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "winoprn", "--out", "o"], "did you mean 'winopron'?"),
        (["build", "winopron"], "Missing option '--out'"),
        (["report", "-x"], "pronominal report --help'"),
        (["check-system", "mine"], "your own is MODULE:ATTRIBUTE"),
        (["check-system", "mine.py:Mine"], "name the module, not the file: mine:Mine"),
        (["check-system", "./sub/mine.py:Zero"], "not the file: sub.mine:Zero"),
        (["build", "winopron", "--out", "o", "--sources", "nowhere"], "nowhere/winopron"),
        (["build", "sample", "--out", "o", "--pronouns", "no.toml"], "no.toml"),
        (["run", "--dataset", "nowhere", "--system", "random"], "nowhere: there is no such folder"),
        (["run", "--dataset", "SAMPLE", "--system", "rndom"], "did you mean 'random'?"),
        (["run", "--dataset", "SAMPLE", "--config", "doubel", "--system", "random"], "'double'?"),
        (["run", "--dataset", "SAMPLE", "--split", "train", "--system", "random"], "'train'"),
        (["run", "--dataset", "SAMPLE", "--system", "random", "--reading", "x"], "'x'"),
        (["run", "--dataset", "SAMPLE", "--system", "random", "--checkpoint", "c"], "no weights"),
        pytest.param(
            ["run", "--dataset", "SAMPLE", "--system", "lingmess", "--checkpoint", "nope"],
            "nope",
            marks=NEEDS_TORCH,
        ),
        (["evaluate", "--dataset", "SAMPLE"], "add --system"),
        (["evaluate", "--dataset", "SAMPLE", "--systems", "no.toml"], "no.toml"),
        (["score", "winopron", "--dataset", "SAMPLE", "--predictions", "x"], "holds sample"),
        (["score", "gup", "--dataset", "SAMPLE", "--predictions", "x"], "'gup'"),
        (["report", "nowhere"], "there is no run"),
        (["merge", "nowhere"], "nowhere: there is no run; check the path"),
        (["export", "lm-eval", "o", "--ruff", "nope"], "nope: there is no such folder"),
        (["publish", "SAMPLE", "--repo", "ab", "--gated", "auto", "--dry-run"], "ORG/NAME"),
        (["frobnicate"], "No such command"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(
    sample: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    arguments = [str(sample) if argument == "SAMPLE" else argument for argument in arguments]
    result = pronominal(*arguments, cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert message in result.stderr
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "runs"])


@pytest.mark.parametrize("group", ["construct", "annotate", "env", "train"])
def test_a_group_without_a_command_prints_its_help(group: str) -> None:
    result = pronominal(group)
    assert result.returncode == 2
    assert f"pronominal {group} [OPTIONS] COMMAND" in result.stdout.replace("\n", " ")
    assert not result.stderr.strip()


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("scipy", ["score-conll", "key", "response"], "stats"),
        pytest.param(
            "h5py", ["train", "e2e", "--data", "x", "--out", "o"], "train", marks=NEEDS_TORCH
        ),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, package: str, arguments: list[str], extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for module in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(sys.modules, "pronominal.eval.scores.conll", raising=False)
    monkeypatch.delitem(sys.modules, "pronominal.eval.exchange.conll_files", raising=False)
    result = pronominal(*arguments)
    assert result.returncode == 2, result.stderr
    assert f"needs the package {package}" in result.stderr
    assert f'pip install "pronominal[{extra}]"' in result.stderr


def test_the_module_runs_and_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-m", "pronominal", "--debug", "build", "winoprn", "--out", "o"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "Traceback" in result.stderr


def test_a_folder_that_is_not_ours_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "thesis.tex").write_text("years of work")
    result = pronominal("build", "sample", "--out", tmp_path)
    assert result.returncode == 2
    assert (tmp_path / "sample" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("command", ["datasets", "systems"])
def test_lists_are_for_people_and_for_machines(command: str) -> None:
    assert pronominal(command).returncode == 0
    assert all("name" in row for row in json.loads(pronominal(command, "--json").stdout))


def test_no_name_that_is_typed_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = pronominal("systems").stdout.splitlines()
    assert max(map(len, printed)) <= 80
    shown = {line.strip() for line in printed}
    for name, entry in SYSTEMS.items():
        assert any(line.startswith(f"{name} ") for line in printed), name
        weights = f"{'to give' if entry.weights in GIVEN else 'weights'}: {entry.weights}"
        assert entry.weights is None or weights in shown, name
        assert entry.extra is None or f"extra: {entry.extra}" in shown, name


def test_a_runs_predictions_are_of_its_rows(sample: Path, runs: Path) -> None:
    """The ids of double and single are the same: only the run itself tells them apart."""
    run = predictions(runs, "random").parent
    for given in (run, run / "predictions.jsonl"):
        result = pronominal(
            *("score", "sample", "--dataset", sample, "--config", "single"),
            *("--predictions", given),
        )
        assert result.returncode == 2
        assert "the run is of other rows (sample/double/test" in result.stderr


def test_a_report_keeps_different_rows_apart(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "ze.toml").write_text(
        '[ze]\nnominative = "ze"\naccusative = "zir"\npossessive = "zir"\n'
    )
    built = pronominal("build", "sample", "--out", tmp_path, "--pronouns", tmp_path / "ze.toml")
    assert built.returncode == 0
    assert "ze (ze/zir/zir)" in (tmp_path / "sample" / "README.md").read_text()
    for folder, system in ((tmp_path / "sample", "random"), (sample, "first-mention")):
        command = ("evaluate", "--dataset", folder, "--config", "double", "--system", system)
        assert pronominal(*command, "--out", tmp_path / "runs").returncode == 0
    assert pronominal("report", tmp_path / "runs", "--out", tmp_path / "r.html").returncode == 0
    assert (tmp_path / "r.html").read_text().count('<section class="card" data-rows=') == 2
    (tmp_path / "taken").mkdir()
    refused = pronominal("report", tmp_path / "runs", "--out", tmp_path / "taken")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"pronominal: {tmp_path / 'taken'}: ")


@pytest.mark.parametrize("taken", ["file", "folder/below/a/file", "/proc/nowhere"])
def test_an_out_that_cannot_be_written_is_one_line(tmp_path: Path, taken: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").write_text("")
    result = pronominal("build", "sample", "--out", tmp_path / taken)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "give a place that can be used" in result.stderr


def test_a_rebuild_keeps_its_hands_off_the_users_files(tmp_path: Path) -> None:
    pronominal("build", "sample", "--out", tmp_path)
    (tmp_path / "sample" / "notes.txt").write_text("mine")
    result = pronominal("build", "sample", "--out", tmp_path)
    assert result.returncode == 2
    assert "notes.txt: it is no file of the dataset" in result.stderr
    assert (tmp_path / "sample" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('["../esc"]\nsystem = "random"\n', "cannot be the name of a folder"),
        ('["a/b"]\nsystem = "random"\n', "cannot be the name of a folder"),
        ("[x]\nsystem = 3\n", "system, label and checkpoint are strings"),
        ('[x]\nsystem = "random"\nsead = 1\n', "no setting 'sead'; did you mean 'seed'?"),
        ("[random]\nseed = 4\n", "two systems are called random"),
        ('[x]\nsystem = "rndom"\n', "did you mean 'random'?"),
    ],
)
def test_a_wrong_systems_file_is_one_line_before_anything_runs(
    sample: Path, tmp_path: Path, toml: str, message: str
) -> None:
    (tmp_path / "systems.toml").write_text(toml)
    command = ("evaluate", "--dataset", sample, "--out", tmp_path / "runs", "--system", "random")
    result = pronominal(*command, "--systems", tmp_path / "systems.toml")
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert message in result.stderr
    assert not (tmp_path / "esc").exists()


def test_a_blank_last_line_is_no_line(sample: Path, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(predictions(runs, "random").read_text() + "\n\n")
    result = pronominal(
        *("score", "sample", "--dataset", sample, "--predictions", tmp_path / "mine.jsonl")
    )
    assert result.returncode == 0
    assert "mine" in result.stdout


def test_all_systems_that_cannot_be_loaded_are_told_before_the_first_one_runs(
    sample: Path, tmp_path: Path
) -> None:
    arguments = ("evaluate", "--dataset", sample, "--config", "double", "--out", tmp_path)
    done = pronominal(*arguments, "--system", "random", "--system", "bag-of-words=nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith("pronominal: nowhere: there is no such folder")
    more = ("-s", "stereo=toy-stereotypes", "-s", "caw", "-s", "bag-of-words", "-s", "fcoref")
    done = pronominal(*arguments, *more)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    commands = ("fetch caw' or 'pronominal fetch wl'", "train bag-of-words'", "hf download biu-nlp")
    places = [done.stderr.find(one) for one in ("3 of 4 systems cannot run here: (1) ", *commands)]
    assert -1 < places[0] < places[1] < places[2] < places[3], done.stderr
    assert [*tmp_path.iterdir()] == []


def test_control_characters_of_a_name_are_escaped(tmp_path: Path) -> None:
    done = pronominal("run", "--dataset", tmp_path / "\x1b[2Jx\u202ey", "--system", "random")
    assert done.returncode == 2
    assert r"\x1b[2Jx\u202ey" in done.stderr
    assert done.stderr.rstrip("\n").isprintable()
