"""SpanBERT and E2E stand beside LingMess and CAW in every comparison of coreference systems."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.c2f.bert.system", exc_type=ImportError)
pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)
pytest.importorskip("pronominal.adapters.fastcoref.lingmess", exc_type=ImportError)
pytest.importorskip("pronominal.adapters.caw", exc_type=ImportError)

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.cli.main import app
from pronominal.dataset_scripts import knowref, winonb
from pronominal.dataset_scripts.building.script import SplitRows
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.statistics.paired_tests import AGAINST
from pronominal.switching import switched_rows
from tests.eval.training.coreference_rows import row

GOLDENS = ROOT / "tests" / "goldens"
SYSTEMS = ("spanbert", "e2e", "lingmess", "caw")


def mention(text: str, word: str) -> dict[str, Any]:
    start = text.index(word)
    return {"text": word, "start": start, "end": start + len(word)}


def knowref_splits() -> Iterator[SplitRows]:
    """Rows of our own in the form of KnowRef's, as given and switched."""
    rows = []
    for number in range(12):
        given = row(number)
        text = given["text"]
        candidates = [mention(text, name) for name in given["candidates"]]
        rows.append(given | {"pronoun": mention(text, "she"), "candidates": candidates})
    yield SplitRows.from_rows("original", "test", knowref.COLUMNS, rows)
    switched = [*switched_rows(rows)]
    yield SplitRows.from_rows("switched", "test", knowref.COLUMNS, switched)


def winonb_splits() -> Iterator[SplitRows]:
    """Sentences of our own in the form of WinoNB's."""
    rows = []
    for number, source in enumerate(("winogender", "winobias", "wsc", "dpr") * 2):
        kind, rest = (("singular", "was kind"), ("plural", "sing alike"))[number // 4]
        text = f"The {source} singers thanked someone because they {rest} ."
        rows.append(
            {
                "id": f"{source}-{kind}",
                "text": text,
                "pronoun": mention(text, "they"),
                "candidates": [mention(text, "singers"), mention(text, "someone")],
                "label": int(kind == "singular"),
                **{"source": source, "individual": "someone", "group": "singers"},
                **{"association": "someone", "number": kind},
            }
        )
    yield SplitRows.from_rows("generic", "test", winonb.COLUMNS, rows)


OWN: dict[str, Callable[[], Iterator[SplitRows]]] = {
    "knowref": knowref_splits,
    "winonb": winonb_splits,
}
ROWS = [("sample", "double"), ("sample", "single"), ("knowref", "original"), ("winonb", "generic")]


def write_split(folder: Path, dataset: str, config: str, table: pa.Table) -> None:
    facts = {b"pronominal": json.dumps({"dataset": dataset}).encode()}
    (folder / config).mkdir(parents=True)
    pq.write_table(table.replace_schema_metadata(facts), folder / config / "test.parquet")


@pytest.fixture(scope="module")
def datasets(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few rows in the form of each dataset."""
    out = tmp_path_factory.mktemp("few")
    for config in ("double", "single"):
        table = read_split(str(sample), config).table.slice(0, 24)
        write_split(out / "sample", "sample", config, table)
    for name, splits in OWN.items():
        for split in splits():
            write_split(out / name, name, split.config, pa.concat_tables(split.tables))
    return out


def run(*arguments: object) -> str:
    """Run the command line in this process and return what it prints."""
    with redirect_stdout(StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tiny checkpoints are told that they have no ELMo
        app([str(argument) for argument in arguments], standalone_mode=False)
    return printed.getvalue()


@pytest.fixture(scope="module")
def systems(goldens: Path) -> list[object]:
    own = {name: GOLDENS / name / "checkpoint" for name in SYSTEMS}
    checkpoints = own | {"spanbert": goldens / "c2f"}
    return [
        part for name, folder in checkpoints.items() for part in ("--system", f"{name}={folder}")
    ]


@pytest.fixture(scope="module")
def runs(datasets: Path, systems: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All four systems on all rows, with what was printed beside the runs."""
    out = tmp_path_factory.mktemp("runs")
    for dataset, config in ROWS:
        place = ("--dataset", datasets / dataset, "--config", config)
        printed = run("evaluate", *place, *systems, "--out", out, "--json")
        (out / f"{dataset}.{config}.json").write_text(printed)
    return out


@pytest.mark.parametrize(("dataset", "config"), ROWS)
def test_one_command_compares_them(datasets: Path, runs: Path, dataset: str, config: str) -> None:
    scores = json.loads((runs / f"{dataset}.{config}.json").read_text())
    assert [*scores] == [*SYSTEMS]
    ids = read_split(str(datasets / dataset), config).table["id"].to_pylist()
    for name, found in scores.items():
        assert all(tests.keys() == {*SYSTEMS} - {name} for tests in found[AGAINST].values())
        assert isinstance(found["readings_differ"], int)
        file = runs / f"{dataset}.{config}.test.{name}" / "predictions.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert all(line.keys() == {"id", "choice", "abstained", "clusters"} for line in lines)
        assert [line["id"] for line in lines] == ids


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(("dataset", "config"), ROWS)
def test_scoring_a_run_is_what_evaluating_says(
    datasets: Path, runs: Path, dataset: str, config: str, name: str
) -> None:
    place = ("--dataset", datasets / dataset, "--config", config)
    folder = runs / f"{dataset}.{config}.test.{name}"
    beside = runs / f"{dataset}.switched.test.{name}"
    switched = ("--switched", beside) if beside.exists() else ()
    scored = json.loads(run("score", dataset, *place, "--predictions", folder, *switched, "--json"))
    evaluated = json.loads((folder / "score.json").read_text())
    assert evaluated["task"] in ("winopron", "knowref", "winonb")
    own = ("task", "readings_differ")
    assert scored == {key: one for key, one in evaluated.items() if key not in own}


def test_a_table_has_a_row_for_each(datasets: Path, systems: list[object], runs: Path) -> None:
    place = ("--dataset", datasets / "knowref", "--config", "original")
    printed = run("evaluate", *place, *systems, "--out", runs, "--markdown")  # nothing runs again
    assert all(f"| {name} " in printed for name in SYSTEMS)


def test_one_page_shows_them(runs: Path, tmp_path: Path) -> None:
    run("report", runs, "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for name in (*SYSTEMS, *(dataset for dataset, _ in ROWS)):
        assert name in page
