"""Any spaCy pipeline: the three places where clusters stand, read here and in the program."""

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from pronominal import InputError, Span
from pronominal.adapters import System, load
from pronominal.adapters.contract.check import check_system
from pronominal.adapters.contract.self_check import SelfCheckWarning
from pronominal.adapters.remote.environments import environments, in_environment
from pronominal.adapters.remote.programs.spacy_coreference import answer_lines, clusters_of
from pronominal.adapters.spacy_pipeline import SpacyPipeline

COMPONENT = '''
from spacy.language import Language

@Language.component("own_coreference")
def own_coreference(doc):
    """Put the first word and every pronoun into one cluster."""
    mentions = [token for token in doc if token.i == 0 or token.lower_ in {"she", "her", "he"}]
    if len(mentions) > 1:
        doc.spans["coref_clusters_1"] = [doc[token.i : token.i + 1] for token in mentions]
    return doc
'''


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline on disk whose component is in a module of the user's."""
    (tmp_path / "own_coreference_component.py").write_text(COMPONENT)
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("own_coreference_component")
    nlp = spacy.blank("en")
    nlp.add_pipe("own_coreference")
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


TEXTS = ["Ann said that she slept.", "", "😀 Eve saw her and he ran.", "It rained."]
CLUSTERS = [
    [[Span(0, 3), Span(14, 17)]],
    [],
    [[Span(0, 1), Span(10, 13), Span(18, 20)]],
    [],
]


def test_a_stored_pipeline_is_a_system(stored: Path) -> None:
    system = load("spacy", str(stored), components=["own_coreference_component"])
    assert isinstance(system, SpacyPipeline)
    assert system.cluster(TEXTS) == CLUSTERS
    assert not [check for check in check_system(system) if check.faults]
    assert system.checkpoint is not None
    again = SpacyPipeline(spacy.load(stored))
    assert again.checkpoint is not None
    assert again.checkpoint.digest == system.checkpoint.digest


def test_a_pipeline_that_finds_nothing_is_warned_of() -> None:
    with pytest.warns(SelfCheckWarning, match="no cluster in any of 6 plain sentences"):
        system = SpacyPipeline(spacy.blank("en"))
    assert (system.checkpoint, system.cluster(TEXTS)) == (None, [[], [], [], []])


@pytest.mark.parametrize(
    ("pipeline", "settings", "message"),
    [
        ("no_such_pipeline_xx", {}, "no_such_pipeline_xx: the spaCy pipeline cannot be loaded"),
        ("en", {"components": ["no_such_module_xx"]}, "there is no module no_such_module_xx"),
        ("en", {"batch_size": 0}, "a batch of 0 texts"),
        ("en", {"components": "coreferee:coreferee"}, "components are a list of modules; write"),
        (None, {}, "spacy needs any spaCy pipeline; give a package or a folder"),
    ],
)
def test_a_pipeline_that_cannot_be_loaded_is_one_line(
    pipeline: str | None, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load("spacy", pipeline, **settings)


@pytest.fixture
def nlp() -> Iterator[Language]:
    yield spacy.blank("en")
    for name in ("coref_clusters", "coref_chains"):
        if Doc.has_extension(name):
            Doc.remove_extension(name)


@dataclass
class Named:
    """What neuralcoref has for a cluster."""

    mentions: list[Any]


@dataclass
class Mention:
    """What coreferee has for a mention."""

    token_indexes: list[int]


def test_span_groups_are_in_the_order_of_their_numbers(nlp: Language) -> None:
    doc = nlp("Ann saw Eve and she saw her")
    for number, first, second in ((10, 0, 4), (2, 2, 6)):
        mentions = [doc[first : first + 1], doc[second : second + 1]]
        doc.spans[f"coref_clusters_{number}"] = mentions
        doc.spans[f"coref_head_clusters_{number}"] = mentions[:1]
    assert clusters_of(doc) == [[(8, 11), (24, 27)], [(0, 3), (16, 19)]]
    assert clusters_of(doc, "other") is None


def test_fastcorefs_and_neuralcorefs_extension(nlp: Language) -> None:
    Doc.set_extension("coref_clusters", default=None)
    doc = nlp("Ann saw Eve and she saw her")
    assert clusters_of(doc) == []
    doc._.coref_clusters = [[(0, 3), (16, 19)]]
    assert clusters_of(doc) == [[(0, 3), (16, 19)]]
    doc._.coref_clusters = [Named([doc[2:3], doc[6:7]])]
    assert clusters_of(doc) == [[(8, 11), (24, 27)]]


def test_coreferees_chains_take_all_of_a_name(nlp: Language) -> None:
    Doc.set_extension("coref_chains", default=None)
    doc = Doc(
        nlp.vocab,
        words=["Ann", "Lee", "and", "the", "old", "pilot", "said", "they", "left"],
        heads=[1, 6, 1, 5, 5, 1, 6, 8, 6],
        deps=["compound", "nsubj", "cc", "det", "amod", "conj", "ROOT", "nsubj", "ccomp"],
        pos=["PROPN", "PROPN", "CCONJ", "DET", "ADJ", "NOUN", "VERB", "PRON", "VERB"],
    )
    doc._.coref_chains = [[Mention([1]), Mention([5]), Mention([1, 5]), Mention([7])]]
    (chain,) = clusters_of(doc) or []
    assert [doc.text[start:end] for start, end in chain] == [
        *("Ann Lee", "pilot", "Ann Lee and the old pilot", "they")
    ]


def test_the_program_answers_every_line_and_survives_a_fault(stored: Path) -> None:
    nlp, out = spacy.load(stored), io.StringIO()
    lines = [json.dumps({"id": n, "text": text}) for n, text in enumerate([*TEXTS, 7])]
    answer_lines(nlp, lines, out)
    *answers, last = map(json.loads, out.getvalue().splitlines())
    assert [one["id"] for one in answers] == [0, 1, 2, 3]
    found = [[[Span(*s) for s in cluster] for cluster in one["clusters"]] for one in answers]
    assert found == CLUSTERS
    assert {*last} == {"id", "error"}


@pytest.fixture
def environment(
    stored: Path, without_torch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., System]:
    """The system of an environment that is this one, in place of one with old pins."""
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{without_torch}")

    def of(
        home: str = "home",
        packages: Sequence[str] = ("spacy==3.5",),
        python: str = f'{sys.executable} "$@"',
    ) -> System:
        made = tmp_path / home / "coreferee"
        (made / "bin").mkdir(parents=True, exist_ok=True)
        (made / "bin" / "python").write_text(f"#!/bin/sh\nexec {python}\n")
        (made / "bin" / "python").chmod(0o755)
        wanted = environments()["coreferee"].requirements
        content = {"requirements": wanted, "packages": packages}
        (made / "environment.json").write_text(json.dumps(content))
        monkeypatch.setenv("PRONOMINAL_ENVIRONMENTS", str(tmp_path / home))
        return in_environment("coreferee", [str(stored), "own_coreference_component"], 60)

    return of


def test_a_system_of_an_environment_runs_its_program(environment: Callable[..., Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = environment()
    assert (system.name, system.self_check) == ("coreferee", ())
    assert system.cluster(TEXTS) == CLUSTERS
    assert not [check for check in check_system(system) if check.faults]


def test_a_system_of_an_environment_is_known_by_what_is_in_it(
    environment: Callable[..., Any],
) -> None:
    # one that need not import spaCy to answer
    answers = {"python": """sed -u 's/"text".*/"clusters": [[[0, 1], [2, 3]]]}/'"""}
    first = environment(**answers).checkpoint.digest
    assert environment("elsewhere", **answers).checkpoint.digest == first
    assert environment(packages=["spacy==3.4"], **answers).checkpoint.digest != first


def test_a_system_of_an_environment_that_finds_nothing_is_warned_of(
    environment: Callable[..., Any], tmp_path: Path
) -> None:
    component = tmp_path / "own_coreference_component.py"
    component.write_text(COMPONENT.replace("doc.spans", "doc.spans.copy()"))
    with pytest.warns(SelfCheckWarning, match="coreferee .*: no cluster in any of 6 plain"):
        assert environment().cluster(TEXTS[:1]) == [[]]


def test_clusters_of_an_environment_are_cleaned(
    environment: Callable[..., Any], tmp_path: Path
) -> None:
    twice = "for token in mentions] + [doc[:1]]\n        doc.spans['coref_clusters_2'] = [doc[:1]]"
    component = tmp_path / "own_coreference_component.py"
    component.write_text(COMPONENT.replace("for token in mentions]\n", f"{twice}\n"))
    assert environment().cluster(TEXTS) == CLUSTERS
