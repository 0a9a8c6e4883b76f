"""A paper's tables from nothing to verdicts, with tiny checkpoints under the published names."""

import itertools
import json
import os
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("transformers") is None or find_spec("fastcoref") is None:
    pytest.skip("needs the extras lm and lingmess", allow_module_level=True)

from pronominal.adapters.catalogue.published import CACHE
from pronominal.errors import InputError
from pronominal.eval.evaluation import no_progress
from pronominal.eval.papers.figures import paper_tables
from pronominal.eval.papers.packs.machine import Machine
from pronominal.eval.papers.packs.resolved import resolved_rows
from pronominal.eval.papers.replicate import Replicating, Replication, replicate
from pronominal.eval.papers.reproduction import Line
from tests.adapters.fastcoref.checkpoints import checkpoint
from tests.adapters.lm.language_models import CAUSAL, MASKED, T5, filled, own_instances, save
from tests.cli.test_main import pronominal
from tests.conftest import ROOT
from tests.eval.unexplained import of_lines

COMMIT = "0" * 40
LIMIT = 2


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of the Hub, and one of fetched weights, that hold some of the published names."""
    folder, texts = tmp_path_factory.mktemp("models"), filled(own_instances())
    made = {
        "biu-nlp/lingmess-coref": checkpoint("lingmess"),
        "google/flan-t5-small": save(folder / "t5", T5, texts),
        "facebook/opt-125m": save(folder / "opt", CAUSAL["opt"], texts),
        "google-bert/bert-base-uncased": save(folder / "bert", MASKED["bert"], texts),
    }
    for name, model in made.items():
        cached = folder / "hub" / f"models--{name.replace('/', '--')}"
        shutil.copytree(model, cached / "snapshots" / COMMIT)
        (cached / "refs").mkdir()
        (cached / "refs" / "main").write_text(COMMIT)
    caw = folder / "weights" / "caw"
    shutil.copytree(ROOT / "tests" / "goldens" / "caw" / "checkpoint", caw)
    (caw / "fetched.json").write_text("{}")
    return folder


@pytest.fixture
def out(
    models: Path,
    built: Callable[[str], Path],
    own_ruff: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A folder of replications with built datasets, where nothing else is to be had."""
    monkeypatch.setenv(CACHE, str(models))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(models / "hub"))
    (tmp_path / "data").mkdir()
    for name in ("knowref", "winogender", "winopron"):
        (tmp_path / "data" / name).symlink_to(built(name))
    (tmp_path / "data" / "ruff").symlink_to(own_ruff)
    return tmp_path


def asked(out: Path, table: str, *more: object) -> tuple[int, dict[str, Any]]:
    arguments = ("replicate", table, "--out", out, "--json", "--limit", LIMIT, *more)
    result = pronominal(*arguments)
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)[0]


def test_a_table_of_clusters_and_prompts(out: Path) -> None:
    wanted = ("lingmess", "caw", "flan-t5-small", "flan-t5-base")
    status, found = asked(out, "winopron:2", *(word for row in wanted for word in ("--only", row)))
    assert status == 1  # one of those that are named was not run
    ran = {row["row"] for row in found["rows"] if row["left_out"] is None}
    assert ran == {"lingmess", "caw", "flan-t5-small"}
    why = {row["row"]: row["left_out"] for row in found["rows"]}
    assert "HF_HUB_OFFLINE" in why["flan-t5-base"]
    assert [*of_lines(found["lines"])] == []
    lines = {(line["row"], line["figure"]): line for line in found["lines"]}
    line = lines["lingmess", "winopron"]
    assert (line["paper"], line["verdict"]) == (64.4, "not comparable")
    assert f"first {LIMIT} rows" in line["not_comparable"]
    assert lines["flan-t5-base", "winopron"]["verdict"] is None
    runs = {path.parent.name: path for path in (out / "runs").glob("*/run.json")}
    record = json.loads(runs["winopron.double.test.first-2.lingmess"].read_text())
    assert record["settings"]["reading"] == "upstream"
    assert (record["revision"], record["engine"]) == (COMMIT, "fastcoref")
    record = json.loads(runs["winopron.double.test.first-2.flan-t5-small"].read_text())
    assert (record["dtype"], record["settings"]["dtype"]) == ("float16", "float16")


def killed_at(count: int) -> Callable[[str, int], Any]:
    """Opens progress bars until it is interrupted at one."""
    opened = itertools.count(1)

    def bar(name: str, total: int) -> Any:
        if next(opened) > count:
            raise KeyboardInterrupt
        return no_progress(name, total)

    return bar


def killed_and_resumed(out: Path, table: str, only: list[str], *, after: int = 1) -> Replication:
    """Replicate rows, interrupted after some runs, and go on."""
    tables = paper_tables(table)
    rows = resolved_rows(tables, Machine(2), only)
    how = Replicating(data=out / "data", runs=out / "runs", limit=LIMIT)
    with pytest.raises(KeyboardInterrupt):
        replicate(tables, rows, how, only, killed_at(after))
    before = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/predictions.jsonl")}
    assert len(before) == after
    (found,) = replicate(tables, rows, how, only)
    assert all(path.stat().st_mtime_ns == at for path, at in before.items())
    assert not found.left_out
    assert not found.failed
    return found


def test_table_8_of_winopron_is_over_both_configs(out: Path) -> None:
    found = killed_and_resumed(out, "winopron:8", ["lingmess", "caw"])
    assert len([*out.glob("runs/*/predictions.jsonl")]) == 4
    for line in found.reproduction.lines:
        assert line.paper is not None
        assert str(found.verdict_of(line)).startswith("not comparable: ")
    lines = {(line.row, line.figure): line for line in found.reproduction.lines}
    assert all(lines[row, "single_all"].runs == (row,) for row in ("lingmess", "caw"))
    assert found.verdict_of(lines["caw", "double_all"]) is not None


def test_table_2_of_winonb_is_over_both_configs(
    out: Path, goldens: Path, built: Callable[[str], Path]
) -> None:
    (out / "data" / "winonb").symlink_to(built("winonb"))
    only = ["bert-coref", "spanbert"]
    for name in ("bert-coref-base", "spanbert-base"):
        folder = Path(os.environ[CACHE]) / "weights" / name
        if not folder.exists():
            shutil.copytree(goldens / "c2f" / "tf_checkpoint", folder / "tf_checkpoint")
            for file in ("config.json", "bert_config.json", "vocab.txt"):
                shutil.copy(goldens / "c2f" / file, folder / file)
            (folder / "fetched.json").write_text("{}")
    found = killed_and_resumed(out, "winonb:2", only)
    assert len([*out.glob("runs/*/predictions.jsonl")]) == 4
    told = {(line.row, line.figure): found.verdict_of(line) for line in found.reproduction.lines}
    for row in only:
        assert str(told[row, "personal_all"]).startswith("not comparable: ")
        assert str(told[row, "generic_all"]).startswith("not comparable: ")


def test_a_table_of_means_over_models_goes_on_where_it_was_killed(out: Path) -> None:
    tables, only = paper_tables("ruff:figure-7"), ["opt-125m", "bert-base"]
    found = killed_and_resumed(out, "ruff:figure-7", only, after=3)
    runs = [*out.glob("runs/*/predictions.jsonl")]
    assert len(runs) == 12
    lines = {(line.row, line.figure): line for line in found.reproduction.lines}
    assert lines["all", "change_1"].runs == ("bert-base", "opt-125m")
    assert lines["opt-125m", "distractors_0"].ours is not None
    told = found.to_table().to_markdown()
    assert "| BERT-base | 0 distractors |" in told
    assert (
        "Ours is over the first 2 rows of each split alone, in lines over models as well." in told
    )
    assert "The p-values over models are not corrected for their number." in told
    assert found.to_json()["first"] == LIMIT
    other = Replicating(data=out / "data", runs=out / "other", limit=LIMIT)
    # of the model in whose runs it was killed: none of the other's had begun
    replicate(tables, resolved_rows(tables, Machine(2), only[1:]), other, only[1:])
    again = [path for path in runs if path.parent.name.endswith(only[1])]
    assert len(again) == 6
    for path in again:
        assert path.read_bytes() == (out / "other" / path.parent.name / path.name).read_bytes()


def test_whole_rows_have_a_verdict(out: Path) -> None:
    arguments = ("replicate", "knowref:3", "--out", out, "--only", "random", "--json")
    result = pronominal(*arguments)
    assert result.returncode == 0, result.stderr
    (line,) = [one for one in json.loads(result.stdout)[0]["lines"] if one["figure"] == "accuracy"]
    assert (line["paper"], line["verdict"]) == (0.5, "inside the interval")
    assert line["interval"][0] < line["ours"] < line["interval"][1]
    assert "inside the interval" in pronominal(*arguments[:-1], "--markdown").stdout


def test_printed_commands_make_the_runs_that_replicate_takes(
    tmp_path: Path, upstream: Path
) -> None:
    asked = ("replicate", "knowref:3", "--only", "random", "--out", tmp_path / "my runs")
    asked = (*asked, "--sources", upstream)
    for line in pronominal(*asked, "--dry-run").stdout.splitlines():
        _, *words = shlex.split(line, comments=True) or [""]
        if words:
            assert pronominal(*words).returncode == 0, line

    def written() -> dict[Path, int]:
        files = (tmp_path / "my runs" / "runs").glob("*/predictions.jsonl")
        return {file: file.stat().st_mtime_ns for file in files}

    before = written()
    assert len(before) == 2  # KnowRef's rows, and the switched ones beside them
    assert pronominal(*asked, "--yes").returncode == 0
    assert written() == before


def test_a_system_with_weights_has_verdicts_over_whole_splits(out: Path) -> None:
    (table,) = paper_tables("winopron:2")
    table = replace(table, figures={"winogender": table.figures["winogender"]})
    (row,) = resolved_rows([table], Machine(2), ["lingmess"])
    how = Replicating(data=out / "data", runs=out / "runs")

    def replicated(papers: float) -> tuple[Line, str]:
        named = replace(table.rows["lingmess"], paper={"winogender": papers})
        (found,) = replicate([replace(table, rows={"lingmess": named})], [row], how)
        (line,) = found.reproduction.lines
        return line, str(found.verdict_of(line))

    line, told = replicated(table.rows["lingmess"].paper["winogender"])
    assert line.interval is not None
    assert isinstance(line.ours, float)
    low, high = line.interval
    assert low < line.ours < high
    assert told == "outside the interval"
    assert replicated(round(line.ours, 1))[1] == "inside the interval"
    assert replicated(round(low, 1) - 0.2)[1] == "outside the interval"


def test_a_named_row_that_is_not_run_is_a_failure(out: Path) -> None:
    asked = ("replicate", "ruff:figure-5", "--out", out, "--limit", LIMIT, "--only", "mosaicbert")
    result = pronominal(*asked)
    assert result.returncode == 1
    assert result.stderr.count("mosaicbert was not run: its checkpoint brings Python code") == 1
    assert "add --trust-remote-code" in result.stderr


def test_weights_of_ones_own_and_a_run_that_fails(out: Path, tmp_path: Path) -> None:
    own = f"bert-knowref={tmp_path / 'nothing'}"
    status, found = asked(out, "knowref:3", "--only", "bert-knowref", "--weights", own)
    assert status == 1
    (row,) = found["rows"]
    assert row["left_out"] is None
    assert "nothing" in row["failed"]
    shown = pronominal("replicate", "knowref:3", "--out", out, "--limit", LIMIT, "--markdown",
                       "--only", "bert-knowref", "--weights", own)  # fmt: skip
    assert "The run of bert-knowref failed: " in shown.stdout


def test_other_weights_are_other_runs(out: Path) -> None:
    rows = resolved_rows(paper_tables("knowref:3"), Machine(2), ["bert-knowref"])
    assert rows[0].status == "not available"
    own = [
        Replicating(data=out, runs=out / "runs", weights={"bert-knowref": w}) for w in ("a", "b/c")
    ]
    folders = [how.runs_of("bert-knowref") for how in own]
    assert folders[0].name == "of a"
    assert folders[1] == out / "runs" / "of b%2Fc"
    assert own[0].runs_of("random") == out / "runs"


def test_nothing_is_downloaded_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    result = pronominal("replicate", "winonb:2", "--only", "bert-coref", "--out", tmp_path)
    assert result.returncode == 2
    assert "610 MB of weights (estimate) and upstream's files of winonb would" in result.stderr
    assert "add --yes" in result.stderr
    assert not [*tmp_path.rglob("*")]


def test_what_has_to_be_installed_is_said_before_anything_is_downloaded(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise InputError(f"{name} needs the package torch", cure="pip install it")

    monkeypatch.setattr("pronominal.eval.papers.replicate.system_class", missing)
    monkeypatch.setattr("pronominal.eval.papers.replicate.fetch", lambda *_: pytest.fail("fetched"))
    tables = paper_tables("knowref:3")
    rows = resolved_rows(tables, Machine(2), ["e2e-conll"])
    (found,) = replicate(tables, rows, Replicating(data=out / "data", runs=out / "runs"))
    assert "e2e needs the package torch" in found.failed["e2e-conll"]


def test_systems_of_a_paper_are_a_systems_file(out: Path, sample: Path) -> None:
    place = ("--dataset", sample, "--config", "double", "--out", out / "of-sample")
    result = pronominal("evaluate", *place, "--systems", "knowref-paper", "--json")
    scores = json.loads(result.stdout)
    assert {"random", "gap-parallelism"} <= scores.keys()
    assert "e2e-conll is left out: run 'pronominal fetch e2e' first" in result.stderr
    missing = pronominal("evaluate", *place, "--systems", "knwref-paper")
    assert missing.returncode == 2
