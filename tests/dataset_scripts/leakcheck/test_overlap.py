"""How much of a dataset stands in a corpus."""

import json
import subprocess
from pathlib import Path

import pytest

from pronominal.dataset_scripts.leakcheck.finder import Survey
from pronominal.dataset_scripts.leakcheck.index import LeakIndex
from pronominal.dataset_scripts.leakcheck.overlap import SplitOverlap, overlap
from pronominal.dataset_scripts.reading.loading import read_split
from tests.cli.test_main import pronominal


def texts(sample: Path) -> list[str]:
    found: list[str] = read_split(str(sample), "double").table["text"].to_pylist()
    return found


@pytest.fixture(scope="module")
def index(sample: Path) -> LeakIndex:
    return LeakIndex.of([sample])


def double(found: list[SplitOverlap]) -> SplitOverlap:
    return next(split for split in found if split.split == "sample double/test")


@pytest.mark.parametrize("shape", [str.upper, lambda text: text.replace(" ", "\n"), str])
def test_a_corpus_that_holds_everything_overlaps_wholly(
    sample: Path, index: LeakIndex, tmp_path: Path, shape: type[str]
) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(map(shape, texts(sample))))
    found = double(overlap([str(tmp_path)], index))
    assert (found.whole, found.half, found.any, found.runs) == (1, 1, 1, 1)
    # a template is the same sentence for every pronoun
    assert len(found.rows) == found.n


def test_a_corpus_of_other_text_overlaps_nowhere(index: LeakIndex, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("Nothing of this was ever in any sample. " * 1000)
    for split in overlap([str(tmp_path)], index):
        assert (split.whole, split.half, split.any, split.runs, split.rows) == (0, 0, 0, 0, ())


def test_the_last_eight_words_are_a_part_of_a_sentence(
    sample: Path, index: LeakIndex, tmp_path: Path
) -> None:
    longest = max(texts(sample), key=lambda text: len(text.split()))
    end = " ".join(longest.split()[-11:])
    (tmp_path / "corpus.txt").write_text(end)
    found = double(overlap([str(tmp_path)], index))
    assert 0 < found.any < 0.1
    assert 0 < found.runs <= found.any


def test_files_that_git_ignores_are_part_of_a_corpus(
    sample: Path, index: LeakIndex, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("data\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "corpus.txt").write_text("\n".join(texts(sample)))
    survey = Survey()
    assert double(overlap([str(tmp_path)], index, survey=survey)).whole == 1
    assert survey.documents == 2


def test_the_command_prints_shares_and_no_sentence(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(texts(sample)[:8]))
    done = pronominal("overlap", tmp_path / "corpus.txt", "--dataset", sample, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {split["split"] for split in told["splits"]} == {
        "sample double/test",
        "sample single/test",
    }
    assert 0 in told["splits"][0]["rows"]
    plain = pronominal("overlap", tmp_path / "corpus.txt", "--dataset", sample)
    assert plain.returncode == 0
    assert not any(text in plain.stdout + done.stdout for text in texts(sample))
    refused = pronominal("overlap", tmp_path / "corpus.txt")
    assert refused.returncode == 2
    assert "--dataset" in refused.stderr
