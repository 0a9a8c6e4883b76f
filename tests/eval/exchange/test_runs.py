"""Predictions made elsewhere become a run like any other, and failures are named by id."""

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("spacy")

from pronominal import Document, InputError
from pronominal.adapters import load
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.exchange.exporting import export
from pronominal.eval.exchange.importing import ImportedRun, import_predictions
from pronominal.eval.runs.predictions import PREDICTIONS
from pronominal.eval.runs.runner import SystemSettings, predict, run
from pronominal.eval.runs.units import SCORE, read_units
from pronominal.spans import Cluster
from tests.cli.test_main import pronominal

GOLDENS = ROOT / "tests" / "goldens"
ROWS = 40


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(str(sample), "double")


@pytest.fixture(scope="module")
def rows(split: Split) -> Split:
    """A few rows, for systems that take their time."""
    table = split.table.slice(0, ROWS)
    return Split(split.dataset_name, split.config, split.name, table, "part", split.file)


@pytest.fixture(scope="module")
def first(split: Split, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a system that always links the pronoun with one noun, both or neither."""

    class ByLength:
        name = "by-length"

        def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
            instances = {instance.text: instance for instance in split.instances()}
            answers = []
            for text in texts:
                instance = instances[text]
                one, other = (candidate.span for candidate in instance.candidates)
                linked = {0: [one], 1: [other], 2: [one, other], 3: []}[len(text) % 4]
                answers.append([[*linked, instance.pronoun.span]] if linked else [])
            return answers

    asked = SystemSettings("by-length", "by-length")
    return run(split, ByLength(), asked, tmp_path_factory.mktemp("runs")).path


def exported(form: str, split: Split, predictions: Path | None, out: Path, **options: Any) -> Path:
    export(split, form, out, predictions=predictions, options=options)
    return out


FORMATS = (
    *("allennlp", "brat", "caw", "conll2012", "corefud", "cort"),
    *("crac-json", "crac-text", "e2e", "fastcoref"),
)


@pytest.mark.parametrize("form", [*FORMATS, "winopron-tsv"])
def test_an_exported_run_is_imported_with_the_same_decisions(
    form: str, split: Split, first: Path, tmp_path: Path
) -> None:
    file = exported(form, split, first, tmp_path / "out")
    imported = import_predictions(split, form, file, tmp_path / "runs", system="other")
    ours, theirs = (records(path) for path in (first, imported.path))
    if form == "winopron-tsv":  # which has no clusters
        ours = [{k: v for k, v in one.items() if k != "clusters"} for one in ours]
    in_order = [[sorted(c) for c in one.get("clusters", [])] for one in ours]
    assert [[sorted(c) for c in one.get("clusters", [])] for one in theirs] == in_order
    keys = ("id", "choice", "abstained")
    assert [[one[k] for k in keys] for one in theirs] == [[one[k] for k in keys] for one in ours]
    assert {one["abstained"] for one in ours} == {None, "none", "both"}


def test_progress_counts_the_texts_that_are_written(rows: Split, tmp_path: Path) -> None:
    told: list[int] = []
    export(rows, "e2e", tmp_path / "in.jsonl", progress=told.append)
    assert told == [*range(1, ROWS + 1)]


def records(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / PREDICTIONS).read_text().splitlines()]


def worded(record: dict[str, Any]) -> Document:
    """Make a document of CAW's JSON, as its program does."""
    pairs = zip(record["sent_id"], record["cased_words"], strict=True)
    sentences = [[word for _, word in group] for _, group in groupby(pairs, lambda p: p[0])]
    return Document(sentences, genre=record["document_id"][:2])


def answer_caw(records: list[dict[str, Any]], system: Any) -> None:
    found = system.cluster_documents([worded(record) for record in records])
    for record, clusters in zip(records, found, strict=True):
        record["span_clusters"] = clusters


def answer_e2e(records: list[dict[str, Any]], system: Any) -> None:
    documents = [Document(r["sentences"], r["speakers"], r["doc_key"][:2]) for r in records]
    found = system.cluster_documents(documents)
    for record, clusters in zip(records, found, strict=True):
        record["predicted_clusters"] = [[[s, e - 1] for s, e in c] for c in clusters]


def answer_allennlp(records: list[dict[str, Any]], system: Any) -> None:
    """Tokenise in another way than we do: brackets and quotation marks are changed."""
    from pronominal.adapters.words.english import EnglishWords

    words = EnglishWords()
    documents = [words.read(record["document"])[0] for record in records]
    found = system.cluster_documents(documents)
    for record, document, clusters in zip(records, documents, found, strict=True):
        flat = [word for sentence in document.words for word in sentence]
        record["document"] = [{'"': "''", "(": "-LRB-"}.get(word, word) for word in flat]
        record["clusters"] = [[[s, e - 1] for s, e in c] for c in clusters]


SYSTEMS: dict[str, tuple[str, str, Callable[[list[dict[str, Any]], Any], None]]] = {
    "caw": ("caw", "caw", answer_caw),
    "e2e": ("e2e", "e2e", answer_e2e),
    "allennlp": ("caw", "allennlp", answer_allennlp),
}


@pytest.mark.parametrize("case", SYSTEMS)
def test_a_systems_answers_do_not_change_on_the_way(case: str, rows: Split, tmp_path: Path) -> None:
    """Asked by us, or with our export and asked as its own program is."""
    name, form, answer = SYSTEMS[case]
    pytest.importorskip("torch")
    system = load(name, checkpoint=str(GOLDENS / name / "checkpoint"), device="cpu")
    file = exported(form, rows, None, tmp_path / "in.jsonl")
    texts = [json.loads(line) for line in file.read_text().splitlines()]
    answer(texts, system)
    output = tmp_path / "out.jsonl"
    output.write_text("".join(json.dumps(text) + "\n" for text in texts))
    imported = import_predictions(rows, form, output, tmp_path / "runs", system="there")
    wanted = [p.line() for p in predict(system, rows.instances())]
    assert (imported.path / PREDICTIONS).read_text() == "".join(wanted)
    assert any("[[" in line for line in wanted)


@pytest.mark.skipif(find_spec("fastcoref") is None, reason="needs the extra lingmess")
def test_fastcorefs_own_output_file(rows: Split, tmp_path: Path) -> None:
    from tests.adapters.fastcoref.checkpoints import tiny

    system = tiny("lingmess")
    texts = [instance.text for instance in rows.instances()][:6]
    lines = []
    for text in reversed(texts):  # found by their letters, whatever the order
        system._package.predict([text], output_file=str(tmp_path / "one.jsonl"))
        lines.append((tmp_path / "one.jsonl").read_text())
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    part = Split("sample", "double", "test", rows.table.slice(0, 6), "part", rows.file)
    imported = import_predictions(
        part, "fastcoref", tmp_path / "all.jsonl", tmp_path / "runs", system="there"
    )
    wanted = [p.line() for p in predict(system, part.instances())]
    assert (imported.path / PREDICTIONS).read_text() == "".join(wanted)


def test_spanbert_is_given_the_words_that_we_give_it(
    goldens: Path, rows: Split, tmp_path: Path
) -> None:
    pytest.importorskip("tokenizers")
    system: Any = load("spanbert", checkpoint=str(goldens / "c2f"), weights="torch", device="cpu")
    given = {"vocabulary": goldens / "c2f" / "vocab.txt", "segment_length": 512}
    file = exported("spanbert", rows, None, tmp_path / "in.jsonl", **given)
    texts = [json.loads(line) for line in file.read_text().splitlines()]
    documents = [Document([text["tokens"]]) for text in texts]
    found = system.cluster_documents(documents)
    for text, clusters in zip(texts, found, strict=True):
        text["predicted_clusters"] = [
            [[_first(text, s), _last(text, e - 1)] for s, e in c] for c in clusters
        ]
    output = tmp_path / "out.jsonl"
    output.write_text("".join(json.dumps(text) + "\n" for text in texts))
    imported = import_predictions(rows, "spanbert", output, tmp_path / "runs", system="there")
    wanted = [p.line() for p in predict(system, rows.instances())]
    assert (imported.path / PREDICTIONS).read_text() == "".join(wanted)


def _first(text: dict[str, Any], word: int) -> int:
    return next(i for i, w in enumerate(text["subtoken_map"]) if w == word and i)


def _last(text: dict[str, Any], word: int) -> int:
    end = len(text["subtoken_map"]) - 1
    return max(i for i, w in enumerate(text["subtoken_map"]) if w == word and i < end)


@pytest.fixture(scope="module")
def output(split: Split, first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported("caw", split, first, tmp_path_factory.mktemp("caw") / "out.jsonl")


def changed(output: Path, folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    texts = [json.loads(line) for line in output.read_text().splitlines()]
    change(texts)
    (folder / "changed.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    return folder / "changed.jsonl"


def imported(split: Split, file: Path, folder: Path, **options: Any) -> ImportedRun:
    return import_predictions(split, "caw", file, folder / "runs", system="there", **options)


def other_words(texts: list[dict[str, Any]]) -> None:
    texts[3]["cased_words"][2] = "elsewhere"


def lost(texts: list[dict[str, Any]]) -> None:
    del texts[5:8]


def twice(texts: list[dict[str, Any]]) -> None:
    texts.append(texts[2])


def another(texts: list[dict[str, Any]]) -> None:
    texts[4] |= {"document_id": "wb_17", "cased_words": ["Nobody", "left"], "span_clusters": []}


def unnamed(texts: list[dict[str, Any]]) -> None:
    for number, text in enumerate(texts):
        text["document_id"] = f"wb_{number}"


FAULTS = {
    "words": (other_words, r"line 4, id {}: from its word 3 on, it is not the row's text", 3, 0),
    "missing": (lost, r"3 of 576 rows have no answer, the first one is id {}", 5, 0),
    "twice": (twice, r"line 577, id {}: the row has an answer already", 2, 1),
    "another": (another, r"line 5: its key is no id, and its text that of no row", 4, 1),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_failures_are_named_by_line_and_id(
    fault: str, split: Split, output: Path, tmp_path: Path
) -> None:
    change, said, row, left_out = FAULTS[fault]
    file = changed(output, tmp_path, change)
    names = split.table["id"].to_pylist()
    with pytest.raises(InputError, match=said.format(names[row])):
        imported(split, file, tmp_path)
    assert not (tmp_path / "runs").exists()
    run = imported(split, file, tmp_path, skip_failed=True)
    failed = {"words": [names[3]], "missing": names[5:8], "twice": [], "another": [names[4]]}
    assert [failure.id for failure in run.failures] == failed[fault]
    assert run.left_out == left_out
    kept = [one["id"] for one in records(run.path)]
    assert kept == [name for name in names if name not in failed[fault]]
    description = json.loads((run.path / "run.json").read_text())
    assert description["complete"]
    assert description["counts"].get("failed", 0) == len(failed[fault])


def test_texts_without_a_known_key_are_found_by_their_letters(
    split: Split, output: Path, first: Path, tmp_path: Path
) -> None:
    run = imported(split, changed(output, tmp_path, unnamed), tmp_path)
    assert (run.path / PREDICTIONS).read_bytes() == (first / PREDICTIONS).read_bytes()


def test_the_same_command_ends_the_same_and_another_file_is_refused(
    split: Split, output: Path, tmp_path: Path
) -> None:
    run = imported(split, output, tmp_path)
    whole = (run.path / PREDICTIONS).read_bytes()
    assert imported(split, output, tmp_path).path == run.path
    # as if it had been killed
    (run.path / PREDICTIONS).write_bytes(whole[:1000])
    description = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps(description | {"complete": False}))
    imported(split, output, tmp_path)
    assert (run.path / PREDICTIONS).read_bytes() == whole
    with pytest.raises(InputError, match="other settings: file, skip_failed"):
        imported(split, changed(output, tmp_path, lost), tmp_path, skip_failed=True)


def test_the_reading_is_the_users(split: Split, output: Path, tmp_path: Path) -> None:
    run = imported(split, output, tmp_path, reading="upstream")
    assert json.loads((run.path / "run.json").read_text())["settings"]["reading"] == "upstream"
    with pytest.raises(InputError, match="there is no reading 'string'"):
        imported(split, output, tmp_path / "other", reading="string")
    assert not (tmp_path / "other").exists()


def test_a_table_of_winopron_is_read_as_upstream_reads_it(rows: Split, tmp_path: Path) -> None:
    file = exported("winopron-tsv", rows, None, tmp_path / "double.tsv")
    head, *cells = [line.split("\t") for line in file.read_text().splitlines()]
    assert head == ["occupation", "participant", "sentence", "pronoun_type", "pronoun", "answer"]
    assert {row[3] for row in cells} <= {"$NOM_PRONOUN", "$ACC_PRONOUN", "$POSS_PRONOUN"}
    said = ["The {0}.", "the {1}", '"{0}" and {1}', "nobody", "{0}'s"]
    answers = [said[n % 5].format(*row[:2]) for n, row in enumerate(cells)]
    table = [[*row, answer] for row, answer in zip(cells, answers, strict=True)]
    lines = ["\t".join(row) for row in [[*head, "generation"], *table]]
    file.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    run = import_predictions(rows, "winopron-tsv", file, tmp_path / "runs", system="t5")
    wanted = [(0, None), (1, None), (None, "both"), (None, "none"), (None, "none")]
    found = [(one["choice"], one["abstained"]) for one in records(run.path)]
    assert found == [wanted[n % 5] for n in range(ROWS)]


def test_the_commands(sample: Path, first: Path, tmp_path: Path) -> None:
    rows = ("--dataset", sample, "--config", "double")
    file = tmp_path / "sample.conll"
    done = pronominal("export", "conll2012", *rows, "--predictions", first, "--out", file)
    assert (done.returncode, done.stdout.strip()) == (0, str(file)), done.stderr
    runs = tmp_path / "runs"
    place = ("--out", runs, "--system", "there")
    done = pronominal("import", "conll2012", file, *rows, *place)
    folder = runs / "sample.double.test.there"
    assert (done.returncode, done.stdout.strip()) == (0, str(folder)), done.stderr
    scores = json.loads(
        pronominal("score", "sample", *rows, "--predictions", folder, "--json").stdout
    )
    kept = json.loads((folder / SCORE).read_text())
    assert kept["overall"] == scores["overall"]
    assert read_units(folder)  # for paired tests
    page = tmp_path / "report.html"
    assert pronominal("report", runs, "--out", page, "--dataset", sample).returncode == 0
    assert "there" in page.read_text()
    cut = tmp_path / "cut.conll"
    cut.write_text(file.read_text().partition("#end document")[0] + "#end document\n")
    done = pronominal("import", "conll2012", cut, *rows, "--out", tmp_path / "b", "--system", "x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    place = ("--out", tmp_path / "b", "--system", "x", "--skip-failed")
    done = pronominal("import", "conll2012", cut, *rows, *place)
    assert done.returncode == 1
    assert "575 rows have no answer, 0 documents are of no row" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["caw"], "there is not one place to write to; add --out FILE"),
        (["caw", "a", "--out", "a"], "there is not one place to write to"),
        (["caw", "a"], "no dataset is given; add --dataset FOLDER"),
        (["caw", "a", "--ruff", "x"], "caw has no option 'ruff'; leave it out"),
        (["lm-eval", "a", "--dataset", "x"], "lm-eval has no option 'dataset'; leave it out"),
        (["cav", "a"], "there is no format 'cav'; did you mean 'caw'?"),
    ],
)
def test_wrong_options_of_export(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = pronominal("export", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not [*tmp_path.iterdir()]


def test_what_export_refuses(sample: Path, first: Path, tmp_path: Path) -> None:
    rows = ("--dataset", sample, "--config", "double")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine")
    done = pronominal("export", "brat", *rows, "--out", tmp_path / "mine")
    assert "there is something already; choose another folder" in done.stderr
    done = pronominal("export", "caw", *rows, "--out", tmp_path / "a", "--vocabulary", "v.txt")
    assert "caw has no option 'vocabulary'; leave it out" in done.stderr
    other = ("--dataset", sample, "--config", "single")
    done = pronominal("export", "caw", *other, "--out", tmp_path / "a", "--predictions", first)
    assert "the run is of other rows" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_no_export_replaces_a_file(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("mine")
    rows = ("--dataset", sample, "--config", "single")
    done = pronominal("export", "fastcoref", *rows, "--out", file)
    assert (done.returncode, file.read_text()) == (2, "mine")
    assert f"{file}: there is a file already; remove it, or choose another file" in done.stderr
