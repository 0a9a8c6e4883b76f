"""Noun phrases through a spaCy pipeline: in batches, in every worker, the same however it is run.

The pipeline has spaCy's own components, with rules instead of weights: any process can load it.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import spacy

from pronominal.dataset_scripts.construction import tagged_phrases
from pronominal.dataset_scripts.construction.constructed_dataset import (
    Description,
    construct_dataset,
)
from pronominal.dataset_scripts.construction.engine import Construction
from pronominal.dataset_scripts.construction.rules import PAPER
from pronominal.dataset_scripts.construction.tagged_phrases import BATCH, TaggedPhrases
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.tables.checksums import SUMS
from pronominal.errors import InputError
from tests.cli.test_main import pronominal
from tests.dataset_scripts.construction.texts import NAMES, corpus, planted, write_names

PEOPLE = [*NAMES["male"], *NAMES["female"], "Robin"]
TAGS = {"NNP": {"IN": PEOPLE}, "VB": {"NOT_IN": PEOPLE}}


def save(folder: Path, *components: str) -> str:
    language = spacy.blank("en")
    if "tags" in components:
        tagger = language.add_pipe("attribute_ruler")
        for tag, words in TAGS.items():
            tagger.add([[{"TEXT": words}]], {"TAG": tag})
    if "entities" in components:
        entities = language.add_pipe("entity_ruler")
        entities.add_patterns([{"label": "PERSON", "pattern": name} for name in PEOPLE])
    language.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield save(tmp_path_factory.mktemp("pipeline"), "tags", "entities")
    tagged_phrases.loaded.cache_clear()


@pytest.fixture(scope="module")
def text(pipeline: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Construction, set[str]]:
    folder = tmp_path_factory.mktemp("corpus")
    paths, positives = corpus(folder, files=2, lines=1_000)
    rules = replace(PAPER, pipeline=pipeline)
    return Construction(tuple(paths), rules, names=write_names(folder), part=1), positives


def test_every_planted_sentence_is_found_by_any_number_of_workers(
    text: tuple[Construction, set[str]],
    without_torch: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(without_torch)  # for the workers; here it is imported already
    for workers in (1, 2):
        out = tmp_path / str(workers)
        construct_dataset(text[0], Description(), out, workers=workers)
        table = read_split(str(out / "constructed"), "original", "train").table
        assert set(table["original"].to_pylist()) == text[1]
    one, two = ((tmp_path / n / "constructed" / SUMS).read_text() for n in ("1", "2"))
    assert one == two


def test_a_batch_changes_nothing(pipeline: str) -> None:
    texts = [planted(number) for number in range(2 * BATCH + 5)]
    find = TaggedPhrases(pipeline)
    found = find(texts)
    assert len(found) == len(texts)
    for place in (0, BATCH - 1, BATCH, len(texts) - 1):
        assert [found[place]] == find([texts[place]])
        assert [phrase.person for phrase in found[place]] == [True, True]
    assert find([]) == []


@pytest.mark.parametrize(
    ("components", "missing"),
    [((), "part-of-speech tags"), (("tags",), "entities"), (("entities",), "part-of-speech tags")],
)
def test_a_pipeline_that_lacks_something_is_refused_in_one_line(
    tmp_path: Path, components: tuple[str, ...], missing: str
) -> None:
    folder = save(tmp_path / "pipeline", *components)
    with pytest.raises(InputError, match=f"gives no {missing}"):
        TaggedPhrases(folder)([planted(0)])
    (tmp_path / "text.txt").write_text(planted(0))
    where = ("--input", tmp_path / "text.txt", "--out", tmp_path / "out")
    done = pronominal("construct", "knowref", *where, "--pipeline", folder)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "such as en_core_web_sm" in done.stderr
    # nothing is in the way of the next try
    assert not list((tmp_path / "out").glob("*"))
