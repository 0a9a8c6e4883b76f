"""Every system row of every table is in a pack, and says what can be run, or why not."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue.published import CACHE, folder_of, published
from pronominal.cli.replicating import _size
from pronominal.errors import InputError
from pronominal.eval.papers.data_figures import DATA_FIGURES
from pronominal.eval.papers.figures import PAPERS, paper_tables
from pronominal.eval.papers.packs import (
    PackRow,
    Status,
    pack,
    release_years,
    split_sizes,
    system_rows,
)
from pronominal.eval.papers.packs.asked import fetched_for, settings_of
from pronominal.eval.papers.packs.machine import FLOAT16_ON_CPU, Machine, tokens_read
from pronominal.eval.papers.packs.needs import Needs
from pronominal.eval.papers.packs.options import RunOptions
from pronominal.eval.papers.packs.resolved import ResolvedRow, pack_systems, resolved_rows
from pronominal.eval.papers.replicate import Replicating, Replication
from pronominal.eval.papers.reproduction import Line, Reproduction
from pronominal.eval.papers.verdicts import verdict
from pronominal.eval.runs.decision_rules import decision_rule
from pronominal.names import is_hub_id
from tests.cli.test_main import pronominal

TABLES = [table for paper in PAPERS for table in paper_tables(paper)]
PACKS = {(paper, key): row for paper in PAPERS for key, row in pack(paper).items()}
LAPTOP = Machine(cores=4)
SERVER = Machine(cores=16, gpus=(80 * 10**9,) * 4)


@pytest.fixture(autouse=True)
def nothing_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE, str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def only(rows: list[ResolvedRow], table: str, key: str) -> ResolvedRow:
    (found,) = [row for row in rows if (row.table, row.row) == (table, key)]
    return found


def test_every_model_of_the_hub_says_when_it_was_released() -> None:
    on_hub = {row.checkpoint: row.released for row in PACKS.values() if row.checkpoint}
    assert on_hub == release_years()
    assert all(re.fullmatch(r"20\d\d", str(year)) for year in on_hub.values())


def test_the_list_has_each_system_row_of_each_table_once() -> None:
    listed = Counter((row.table, row.row) for row in resolved_rows(TABLES, LAPTOP))
    assert set(listed.values()) == {1}
    own = {
        (table.name, key)
        for table in TABLES
        if table.name not in DATA_FIGURES
        for key, row in table.rows.items()
        if row.over is None
    }
    summed = {
        (table.name, key)
        for table in TABLES
        if any(row.over == "all" for row in table.rows.values())
        for key in table.models
    }
    assert listed.keys() == own | summed
    assert len(own) == 181  # counted in the five papers' figures
    assert not {name for name, _ in listed} & set(DATA_FIGURES)


def test_every_row_of_a_pack_is_in_a_table_and_the_other_way_round() -> None:
    for paper in PAPERS:
        tables = paper_tables(paper)
        keys = {key for table in tables for key in system_rows(table)}
        baselines = {row.baseline for table in tables for row in table.rows.values()}
        compared = {key for table in tables for key in table.between}
        between = {key for table in tables if table.between for key in table.rows}
        assert set(pack(paper)) == (keys | baselines | compared) - between - {None}, paper


@pytest.mark.parametrize("place", PACKS, ids="-".join)
def test_a_row_says_where_it_is_from_and_names_what_exists(place: tuple[str, str]) -> None:
    row = PACKS[place]
    assert row.source
    assert row.status in get_args(Status)
    assert (row.status == "ready") == (not row.reason)
    assert row.system is None or row.system in SYSTEMS
    assert row.checkpoint is None or is_hub_id(row.checkpoint)
    assert {*fetched_for(row)} <= {*published()}
    decision_rule(row.reading)
    needs_weights = row.system is not None and SYSTEMS[row.system].weights is not None
    if row.status == "ready" and needs_weights:
        assert (row.checkpoint is None) != (row.weights is None)
        assert row.parameters > 0


def test_ruffs_37_models_have_their_ids() -> None:
    rows = [row for key, row in pack("ruff").items() if "chain_of_thought" not in row.settings]
    assert len(rows) == len({row.checkpoint for row in rows}) == 37
    models = paper_tables("ruff")[0].models
    for key, model in models.items():
        assert pack("ruff")[key].parameters == model.parameters
    half = {key for key, row in pack("ruff").items() if row.dtype == "float16"}
    assert {"opt-13b", "opt-66b", "pythia-12b", "llama-13b", "flan-t5-small"} <= half
    assert not {"opt-6.7b", "pythia-6.9b", "llama-7b", "bert-large"} & half


def test_sizes_are_known_of_all_that_is_asked() -> None:
    for row in resolved_rows(TABLES, LAPTOP):
        assert all(place[:2] in split_sizes() for place in row.places), row.table


def test_what_stands_in_the_way_depends_on_the_machine() -> None:
    here, there = (resolved_rows(TABLES, machine) for machine in (LAPTOP, SERVER))
    assert only(here, "winopron:2", "flan-t5-xxl").status == "needs gpu"
    assert only(there, "winopron:2", "flan-t5-xxl").status == "ready"
    assert only(there, "ruff:figure-8", "opt-66b").status == "ready"
    small = Machine(16, (40 * 10**9,))
    row = only(resolved_rows(TABLES, small), "ruff:figure-8", "opt-66b")
    assert (row.status, "the GPUs here have 40 GB" in row.reason) == ("needs gpu", True)
    llama = only(there, "ruff:figure-8", "llama-70b")
    assert llama.status == "needs licence"
    assert "huggingface.co/meta-llama/Llama-2-70b-hf" in llama.reason
    assert only(there, "knowref:3", "rule").status == "needs server"
    assert only(there, "knowref:3", "bert-knowref").status == "not available"


def test_a_row_that_compares_two_needs_both() -> None:
    row = only(resolved_rows(TABLES, LAPTOP), "winopron:5", "spanbert-base-large")
    assert [*row.systems] == ["spanbert-base", "spanbert-large"]
    assert row.needs.downloads == {"spanbert-base": 610e6, "spanbert-large": 1600e6}
    assert row.needs.download == 2210e6
    assert len(row.needs.runs) == 2
    assert row.to_json()["system"] == "spanbert=fetch:spanbert-base + spanbert=fetch:spanbert-large"
    asked = pronominal("replicate", "winopron:5", "--only", row.row)
    assert "2.2 GB of weights (estimate)" in asked.stderr
    gain = only(resolved_rows(TABLES, LAPTOP), "knowref:5", "bert-knowref-switching")
    assert [*gain.systems] == ["bert-knowref-switching", "bert-knowref"]
    assert gain.written == ("bert",)


def test_estimates_follow_from_parameters_and_tokens() -> None:
    rows = resolved_rows(TABLES, LAPTOP)
    small, large = (only(rows, "ruff:figure-8", key) for key in ("opt-125m", "opt-66b"))
    times = FLOAT16_ON_CPU * 66_000 / 125  # the large one is run in float16
    assert large.needs.seconds / small.needs.seconds == pytest.approx(times)
    there = resolved_rows(TABLES, SERVER)
    small, large = (only(there, "ruff:figure-8", key) for key in ("opt-125m", "opt-66b"))
    assert large.needs.seconds / small.needs.seconds == pytest.approx(66_000 / 125)
    small, large = (only(rows, "ruff:figure-8", key) for key in ("opt-125m", "opt-66b"))
    assert (small.needs.download, small.needs.memory) == (125e6 * 2, 125e6 * 4)
    assert large.needs.memory == 66e9 * 2
    assert tokens_read(10, "30 prompts") == 30 * (15.5 + 25)
    assert tokens_read(10, "tokens") == 4 * 15.5**2


def test_float16_on_a_cpu_is_told_with_the_way_round_it() -> None:
    key = "flan-t5-small"
    (here,), (there,) = (
        resolved_rows(paper_tables("winopron:8"), machine, [key]) for machine in (LAPTOP, SERVER)
    )
    assert "float16" in here.caution
    assert not there.caution
    (weights,) = re.findall(r"--weights (\S+)", here.caution)
    own = RunOptions(weights=dict([weights.split("=")]))
    (safer,) = resolved_rows(paper_tables("winopron:8"), LAPTOP, [key], own)
    assert safer.systems[key].all_settings == {}
    assert not safer.caution
    assert safer.needs.seconds == pytest.approx(here.needs.seconds / FLOAT16_ON_CPU)
    assert safer.needs.downloads == here.needs.downloads


def test_a_spacy_pipeline_is_missed_before_anything_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[object] = [None]
    monkeypatch.setattr("pronominal.eval.papers.packs.needs.find_spec", lambda name: found[0])
    (row,) = resolved_rows(paper_tables("winonb:2"), LAPTOP, ["neuralcoref"])
    why = Replicating().left_out(row, ["neuralcoref"])
    cause, cure = str(why).split("; ")
    assert cause == "the spaCy pipeline en_core_web_sm is not installed"
    assert cure == "python -m spacy download en_core_web_sm"
    asked = pack_systems("winonb-paper", LAPTOP)
    assert asked is not None
    assert asked[1]["neuralcoref"] == why
    found[0] = "there"
    (row,) = resolved_rows(paper_tables("winonb:2"), LAPTOP, ["neuralcoref"])
    assert (row.reason, Replicating().left_out(row, [])) == ("", None)


def test_weights_that_were_fetched_have_their_own_size(nothing_fetched: Path) -> None:
    caw = folder_of("caw")
    caw.mkdir(parents=True)
    (caw / "release.pt").write_bytes(bytes(4_000_000))
    (caw / "config.toml").write_bytes(bytes(900))
    before = only(resolved_rows(TABLES, LAPTOP), "winopron:2", "caw").needs
    assert before.memory == 362e6 * 4
    (caw / "fetched.json").write_text("{}")
    after = only(resolved_rows(TABLES, LAPTOP), "winopron:2", "caw").needs
    assert (after.memory, after.downloads) == (4e6, {})
    assert after.seconds / before.seconds == pytest.approx(1 / 362)


def test_weights_of_ones_own_take_the_place_of_the_published_ones() -> None:
    own = {"bert-knowref": "trained/seed-1"}
    row = only(
        resolved_rows(TABLES, LAPTOP, (), RunOptions(weights=own)), "knowref:3", "bert-knowref"
    )
    assert (row.status, row.systems["bert-knowref"].checkpoint) == ("ready", "trained/seed-1")
    assert settings_of("knowref", "bert-knowref", own).checkpoint == "trained/seed-1"
    with pytest.raises(InputError, match="no system of ours"):
        resolved_rows(TABLES, LAPTOP, (), RunOptions(weights={"human": "trained"}))
    with pytest.raises(InputError, match="did you mean 'lingmess'"):
        resolved_rows(TABLES, LAPTOP, ["linmess"])


def test_runs_and_weights_that_rows_share_count_once() -> None:
    rows = [row for row in resolved_rows(TABLES, LAPTOP) if row.row == "opt-125m"]
    assert len(rows) > 2
    together = Needs.together(row.needs for row in rows)
    assert together.download == 250e6
    assert together.seconds < sum(row.needs.seconds for row in rows)
    assert {place[1] for _, place in together.runs} > {"no_context", "distractors_5"}


def test_what_another_command_is_told_names_no_option_of_replicate() -> None:
    for paper in PAPERS:
        found = pack_systems(f"{paper}-paper", LAPTOP)
        assert found is not None
        reasons = [re.sub("'pronominal replicate [^']*'", "", why) for why in found[1].values()]
        assert not [why for why in reasons if re.search("--(only|weights|trust)", why)], paper


def test_code_that_a_checkpoint_brings_has_its_command() -> None:
    found = pack_systems("ruff-paper", LAPTOP)
    assert found is not None
    (command,) = re.findall("'(pronominal replicate .*)'", found[1]["mosaicbert"])
    asked = pronominal(*command.split()[1:], "--dry-run")
    assert asked.returncode == 0, asked.stderr
    assert " mosaicbert: ready. " in asked.stdout
    assert "add --trust-remote-code" not in asked.stdout


@pytest.mark.parametrize(
    ("table", "row", "left_out", "kept"),
    [
        (
            "ruff:figure-5",
            "mosaicbert",
            "tokenizer=google-bert/bert-base-uncased, config_class=BertConfig",
            "",
        ),
        ("knowref:3", "e2e-conll", "elmo_weights=fetch:elmo", ""),
        ("winopron:2", "spanbert-base", "weights=tensorflow", "text_input=winopron"),
        ("winopron:2", "flan-t5-small", "dtype=float16", ""),
    ],
)
def test_what_belongs_to_the_published_weights_goes_with_them(
    table: str, row: str, left_out: str, kept: str
) -> None:
    asked = pronominal("replicate", table, "--dry-run", "--only", row, "--weights", f"{row}=own")
    assert asked.returncode == 0, asked.stderr
    assert f" {row}: ready." in asked.stdout
    assert "Python code" not in asked.stdout
    told = f"left out: {left_out}" + (f"; kept: {kept}" if kept else "")
    assert f"pronominal: settings of row {row} for weights of your own: {told}\n" in asked.stderr
    settings = dict(one.split("=") for one in kept.split(", ") if one)
    assert settings_of(table.partition(":")[0], row, {row: "own"}).settings == settings
    assert "fetch" not in asked.stdout


def test_weights_that_are_not_in_the_cache_are_left_out_offline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for value, left in (("1", True), ("0", False)):
        monkeypatch.setenv("HF_HUB_OFFLINE", value)
        found = pack_systems("ruff-paper", LAPTOP)
        assert found is not None
        assert ("HF_HUB_OFFLINE is set" in found[1].get("opt-125m", "")) == left


def test_the_list_has_a_line_a_row_of_80_letters_and_each_reason_once() -> None:
    listed = pronominal("replicate", "--list").stdout
    assert max(map(len, listed.splitlines())) <= 80
    knowref = pronominal("replicate", "knowref:3", "--list").stdout
    assert "  deep-rl            needs server   corenlp-neural\n" in knowref
    assert " ".join(knowref.split()).count("CoreNLP runs as a server of your own") == 1


@pytest.mark.parametrize(
    ("count", "told"), [(2.24e9, "2.2 GB"), (45e6, "45 MB"), (10, "less than 1 MB")]
)
def test_small_files_have_their_size(count: float, told: str) -> None:
    assert _size(count) == told


def test_fetched_files_are_settings_by_their_folder(nothing_fetched: Path) -> None:
    asked = settings_of("knowref", "e2e-conll", {})
    assert asked.checkpoint == str(folder_of("e2e"))
    assert asked.settings == {"elmo_weights": str(folder_of("elmo"))}


@pytest.mark.parametrize(
    "row", resolved_rows(TABLES, LAPTOP), ids=lambda row: f"{row.table}-{row.row}"
)
def test_the_list_says_where_each_id_and_each_address_is_from(row: ResolvedRow) -> None:
    told = row.to_json()
    for one in told["weights"]:
        assert one["source"]
        assert is_hub_id(one["id"]) if "id" in one else one["url"].startswith("http")
    made = row.systems.values()
    needing = [one for one in made if one.system is not None and SYSTEMS[one.system].weights]
    if row.status != "not available":
        assert told["weights"] or not needing
        assert {one["row"] for one in told["weights"]} >= {
            key for key, one in row.systems.items() if one in needing
        }
    else:
        assert told["reason"]


def test_the_list_as_json_and_as_commands() -> None:
    result = pronominal("replicate", "winopron:2", "--list", "--json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert [row["row"] for row in rows] == [*paper_tables("winopron:2")[0].rows]
    for field in ("paper", "table", "row", "system", "source", "status", "reason"):
        assert all(field in row for row in rows)
    assert rows[0]["system"] == "lingmess=biu-nlp/lingmess-coref"
    assert (rows[0]["paper"], rows[0]["table"]) == ("winopron", "2")
    dry = pronominal("replicate", "knowref:3", "--dry-run", "--only", "e2e-conll")
    assert "Estimates: 3.1 GB to download" in dry.stdout
    assert 'e2e-conll=e2e="$(pronominal fetch e2e)"' in dry.stdout
    dry = pronominal("replicate", "knowref:3", "--dry-run", "--only", "rule")
    assert (
        "\npronominal fetch corenlp\npronominal evaluate --dataset replication/data/knowref"
        in dry.stdout
    )


def test_commands_have_the_folders_that_replicate_has(tmp_path: Path) -> None:
    out, sources = tmp_path / "my runs", tmp_path / "up"
    asked = ("replicate", "winopron:8", "--dry-run", "--out", out, "--sources", sources)
    lines = pronominal(*asked, "--only", "lingmess", "--only", "caw").stdout.splitlines()
    build = f"pronominal build winopron --out '{out}/data' --sources {sources}"
    assert lines.count(build) == 1
    assert lines.index(build) == 1
    runs = [line for line in lines if line.startswith("pronominal evaluate ")]
    assert len(runs) == 4
    for line in runs:
        assert line.startswith(f"pronominal evaluate --dataset '{out}/data/winopron' --config ")
        assert line.endswith(f" --out '{out}/runs'")
    (out / "data" / "winopron").mkdir(parents=True)
    assert build not in pronominal(*asked).stdout
    own = pronominal(*asked, "--only", "lingmess", "--weights", "lingmess=my model").stdout
    assert "--system lingmess='my model' " in own
    assert f"--out '{out}/runs/of my%20model'" in own


def test_the_estimate_is_of_the_rows_that_are_run() -> None:
    whole, few = (
        only(resolved_rows(TABLES, LAPTOP, (), RunOptions(limit=n)), "ruff:figure-8", "opt-125m")
        for n in (None, 648)
    )
    assert whole.needs.seconds / few.needs.seconds == pytest.approx(10)
    more = only(resolved_rows(TABLES, LAPTOP, (), RunOptions(limit=10**6)), whole.table, whole.row)
    assert more.needs.seconds == whole.needs.seconds


def test_trust_that_is_given_is_not_asked_for() -> None:
    asked = ("replicate", "ruff:figure-5", "--dry-run", "--only", "mosaicbert")
    assert "add --trust-remote-code" in pronominal(*asked).stdout
    assert "add --trust-remote-code" not in pronominal(*asked, "--trust-remote-code").stdout


@pytest.mark.parametrize(
    ("paper", "interval", "first", "word"),
    [
        (64.4, (60.0, 70.0), None, "inside the interval"),
        (64.4, (64.44, 70.0), None, "inside the interval"),  # 64.44 rounds to 64.4
        (64.4, (64.46, 70.0), None, "outside the interval"),
        (64.4, None, None, "not comparable: it is a count"),
        (64.4, (60.0, 70.0), 5, "not comparable: only the first 5 rows of each split were run"),
    ],
)
def test_a_verdict_knows_that_the_papers_figure_is_rounded(
    paper: float, interval: tuple[float, float] | None, first: int | None, word: str
) -> None:
    figure = paper_tables("winopron:2")[0].figures["winopron"]
    line = Line("lingmess", "LingMess", "winopron", paper, 65.0, None, 0.6, None, (), None)
    missing = None if interval else "it is a count"
    line = replace(line, interval=interval, interval_missing=missing)
    assert str(verdict(line, figure, first=first)) == word
    assert verdict(replace(line, ours=None), figure) is None
    few = verdict(replace(line, ours=None, runs=("lingmess",)), figure, first=4)
    assert few is not None
    assert "run it without --limit" in str(few)


def test_a_reading_that_the_paper_contradicts_is_not_compared() -> None:
    (table,) = paper_tables("knowref:4")
    row = table.rows["e2e-conll"]
    line = Line("e2e-conll", "E2E", "consistency", 62, 40.0, None, -22, None, ("e2e-conll",), None)
    found = Replication(Reproduction(table, (line,)), (), {}).verdict_of(line)
    assert (found and found.why) == row.impossible["consistency"]
    assert "58 %" in row.impossible["consistency"]
    assert not set(row.impossible) - set(table.figures)


def test_a_pack_row_is_written_as_the_command_line_takes_it() -> None:
    row = PackRow(source="x", system="lm", checkpoint="org/it", revision="v1")
    assert row.written == "lm=org/it@v1"
    assert PackRow(source="x").written == "none"
