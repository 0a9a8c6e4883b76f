"""The list of what was rejected: every sentence once, by place, stage and reason."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pronominal.dataset_scripts.construction import constructed_dataset, engine
from pronominal.dataset_scripts.construction.constructed_dataset import (
    Description,
    construct_dataset,
    list_of,
)
from pronominal.dataset_scripts.construction.duplicates import DUPLICATE
from pronominal.dataset_scripts.construction.engine import Construction
from pronominal.dataset_scripts.construction.rules import PAPER
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.tables.checksums import SUMS
from pronominal.errors import InputError
from tests.cli.test_main import pronominal
from tests.dataset_scripts.construction.texts import corpus, planted, write_names

NO_MODEL = replace(PAPER, pipeline=None)
SHORT = "Adam left early."


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Construction:
    folder = tmp_path_factory.mktemp("corpus")
    paths, _ = corpus(folder, files=2, lines=300)
    # documents of several sentences, one of nothing, and sentences that stood in another part
    more = [f"{SHORT} {planted(900)} {SHORT}", "(nothing)", planted(0), f"{SHORT} {planted(900)}"]
    paths[1].write_text(paths[1].read_text() + "\n".join(more) + "\n")
    names = write_names(folder)
    return Construction(
        tuple(paths), NO_MODEL, names=names, piece=10_000, part=1, list_rejected="texts"
    )


def rejected(out: Path) -> list[dict[str, Any]]:
    lines = list_of(out, "constructed").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def construct(construction: Construction, out: Path, **how: Any) -> tuple[bytes, str, Any]:
    report = construct_dataset(construction, Description(), out, **how)
    assert sorted(p.name for p in out.iterdir()) == ["constructed", "constructed.rejected.jsonl"]
    return (
        list_of(out, "constructed").read_bytes(),
        (out / "constructed" / SUMS).read_text(),
        report,
    )


def test_every_sentence_is_listed_or_in_the_dataset(listed: Construction, tmp_path: Path) -> None:
    _, _, report = construct(listed, tmp_path)
    rows = rejected(tmp_path)
    counts = {
        (stage, reason): number
        for stage, counted in report.describe()["stages"].items()
        for reason, number in counted["dropped"].items()
    }
    assert Counter((row["stage"], row["reason"]) for row in rows) == counts
    assert {stage for stage, _ in counts} >= {"clean", "filters", "noun_phrases", "duplicates"}
    kept = read_split(str(tmp_path / "constructed"), "original", "train").table["original"]
    for path in listed.inputs:
        # in order, and where it is said to be
        content, last = path.read_bytes(), (-1, 0)
        for row in (row for row in rows if row["file"] == str(path)):
            place = int(row["document"].removeprefix("byte "))
            assert (place, row["sentence"] or 1) > last
            last = place, row["sentence"] or 1
            line = content[place:].partition(b"\n")[0].decode()
            assert line == "(nothing)" if row["text"] is None else row["text"] in line
    text = "".join(path.read_text() for path in listed.inputs)
    everything = Counter([*kept.to_pylist(), *(row["text"] for row in rows if row["text"])])
    # each of these is a line, or one of the sentences of the lines that were added
    assert sum(len(each) * number for each, number in everything.items()) == len(
        text.replace("\n", "").replace(f"{SHORT} ", SHORT).replace(f" {SHORT}", SHORT)
    ) - len("(nothing)")


def test_sentences_are_counted_in_their_document(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text(f"{SHORT} {planted(1)} {SHORT}\n(nothing)\n{SHORT} {planted(1)}\n")
    construction = Construction((source,), NO_MODEL, names=write_names(tmp_path))
    construct_dataset(replace(construction, list_rejected="places"), Description(), tmp_path)
    second, third = (
        source.read_text().index(text) for text in ("(noth", f"{SHORT} {planted(1)}\n")
    )
    empty, few = "nothing is left of the document", "too few words"
    assert [(*row.values(),) for row in rejected(tmp_path)] == [
        (str(source), "byte 0", 1, "filters", few),
        (str(source), "byte 0", 3, "filters", few),
        (str(source), f"byte {second}", None, "clean", empty),
        (str(source), f"byte {third}", 1, "filters", few),
        (str(source), f"byte {third}", 2, "duplicates", DUPLICATE),
    ]


def test_the_list_is_the_same_in_processes_and_after_a_stop_and_the_dataset_without_it(
    listed: Construction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, sums, _ = construct(listed, tmp_path / "one")
    assert construct(listed, tmp_path / "two", workers=2)[:2] == (whole, sums)
    construct_dataset(replace(listed, list_rejected=None), Description(), tmp_path / "without")
    assert (tmp_path / "without" / "constructed" / SUMS).read_text() == sums
    assert not list_of(tmp_path / "without", "constructed").exists()

    # killed between a part and the list of it, and behind the list: as `kill -9` leaves them
    out, work = tmp_path / "killed", tmp_path / "killed" / ".constructed.parts"
    engine.run(listed, work)
    parts = sorted(work.glob("*/*.parquet"))
    assert len(parts) > 4
    for part in parts[2:]:
        part.unlink()
        (part.parent / "damage.json").unlink(missing_ok=True)
    parts[-1].with_suffix(".fates").unlink()
    parts[2].with_suffix(".fates").write_bytes(b"half")
    monkeypatch.setattr(constructed_dataset, "_write", stopped)
    with pytest.raises(KeyboardInterrupt):
        construct_dataset(listed, Description(), out)
    monkeypatch.undo()
    assert list_of(out, "constructed").exists()
    assert construct(listed, out)[:2] == (whole, sums)


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_run_without_a_list_is_not_gone_on_with_as_one_with_a_list(
    listed: Construction, tmp_path: Path
) -> None:
    engine.prepare(replace(listed, list_rejected=None), tmp_path / "work")
    with pytest.raises(InputError, match="rules or lists lies there"):
        engine.prepare(listed, tmp_path / "work")


def test_the_list_of_a_corpus_without_a_fitting_sentence_stands_alone(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text(SHORT)
    construction = Construction((source,), NO_MODEL, names=write_names(tmp_path))
    with pytest.raises(InputError, match=r"no sentence is left \(filters: too few words\)"):
        construct_dataset(
            replace(construction, list_rejected="texts"), Description(), tmp_path / "out"
        )
    assert [row["text"] for row in rejected(tmp_path / "out")] == [SHORT]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["constructed.rejected.jsonl"]


def test_only_an_earlier_list_is_replaced(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text(planted(1))
    construction = Construction((source,), NO_MODEL, names=write_names(tmp_path))
    construction = replace(construction, list_rejected="places")
    target = list_of(tmp_path, "constructed")
    for content in (planted(1), f"{planted(1)} {SHORT}", planted(1)):
        source.write_text(content)
        construct_dataset(construction, Description(), tmp_path)
        assert len(rejected(tmp_path)) == content.count(SHORT)
    target.write_text("my own notes")
    with pytest.raises(InputError, match="remove it, or choose another file"):
        construct_dataset(construction, Description(), tmp_path)
    assert target.read_text() == "my own notes"


def test_the_command_names_the_list_and_writes_texts_only_if_asked(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text(json.dumps({"text": f"{SHORT} {planted(1)}"}))
    paths = ("--input", source, "--out", tmp_path / "out", "--names", write_names(tmp_path))
    for what, fields in (("places", 5), ("texts", 6)):
        options = ("--proper-names-only", "--list-rejected", what)
        done = pronominal("construct", "knowref", *paths, *options)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == str(list_of(tmp_path / "out", "constructed"))
        (row,) = rejected(tmp_path / "out")
        assert len(row) == fields
        assert (SHORT in row.values()) == (what == "texts")
    shutil.rmtree(tmp_path / "out")
    assert pronominal("construct", "knowref", *paths, "--proper-names-only").returncode == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["constructed"]
