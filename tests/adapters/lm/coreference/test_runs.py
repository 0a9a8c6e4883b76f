"""Language models as coreference systems: one run, one table with the others."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.results import evaluate
from pronominal.eval.runs.asked_systems import parse_systems, with_settings
from pronominal.eval.runs.coreference_systems import predict_clusters
from pronominal.eval.runs.decision_rules import by_offsets
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention
from tests.adapters.lm.language_models import CAUSAL, filled, own_instances, save
from tests.adapters.remote.own_server import Handler, serving


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(sample, "double")


def marked(instance: ResolutionInstance) -> str:
    """A row's text with the pronoun and the right candidate as one entity."""
    places = [instance.pronoun.span, instance.candidates[instance.label].span]
    copy = instance.text
    for start, end in sorted(places, reverse=True):
        copy = f"{copy[:start]}[[1|{copy[start:end]}]]{copy[end:]}"
    return copy


class Knowing:
    """A model that marks and answers what is right, except in every tenth text."""

    name = "knowing"

    def __init__(self, split: Split) -> None:
        self.rows = {instance.text: instance for instance in split.instances()}
        self.wrong = {*[*self.rows][::10]}

    def generate(self, prompts: Sequence[str]) -> list[str]:
        return [self._answer(prompt) for prompt in prompts]

    def _answer(self, prompt: str) -> str:
        *_, said, asked = prompt.split("\n")
        text = said.removeprefix("Text: ")
        if asked == "Copy:":
            return marked(self.rows[text])[: -8 if text in self.wrong else None]
        instance = self.rows[text.replace("*", "")]
        assert f"*{instance.pronoun.text}*" in text
        return f"The {instance.candidates[instance.label].text}."


def test_a_model_that_marks_stands_beside_other_systems(split: Split, tmp_path: Path) -> None:
    model = load("lm-coref", model=Knowing(split))
    found = evaluate(split, [model, "first-mention"], out=tmp_path)
    scores = found.scores["lm-coref"]
    refused = len(Knowing(split).wrong)
    rows = split.num_rows
    # cut copies lack a few words, which is repaired, or too many, which fails
    copies = dict(scores["copies"])
    failed = scores.content.get("failed", 0)
    assert copies.pop("n") + failed == sum(copies.values()) + failed == rows
    assert copies["verbatim"] == rows - refused
    assert scores["overall"]["accuracy"] >= (rows - refused) / rows
    (run,) = (path for path in tmp_path.iterdir() if path.name.endswith(".lm-coref"))
    record = json.loads((run / "run.json").read_text())
    assert record["system"]["kind"] == "clustering"
    assert record["system"]["question"] == "clusters marked in a copy of the text, generation"
    assert f"verbatim {copies['verbatim']:,}" in found.to_markdown()


OWN = "The old pilot who lived near the mill told the cook that fae had seen a fox at noon."
PRONOUN, CANDIDATE = "the pronoun that is asked about", "a candidate"


@pytest.mark.parametrize(
    ("word", "copied", "missed"),
    [
        ("fae ", "", PRONOUN),
        ("fae ", "Fae ", PRONOUN),
        ("cook ", "", CANDIDATE),
        ("old ", "", None),
    ],
)
def test_a_copy_without_what_is_asked_about_fails(
    word: str, copied: str, missed: str | None
) -> None:
    pilot, fae, cook = (Mention(one, at := OWN.index(f" {one} ") + 1, at + len(one))
                        for one in ("pilot", "fae", "cook"))  # fmt: skip
    instance = ResolutionInstance("row-1", OWN, fae, (pilot, cook), 0)

    class Copying:
        name = "copying"

        def generate(self, prompts: Sequence[str]) -> list[str]:
            return [OWN.replace(word, copied, 1) for _ in prompts]

    system: Any = load("lm-coref", model=Copying())
    system.cluster([OWN])  # who knows nothing of the row cannot miss it
    assert [one.state for one in system.copies] == ["repaired"]
    if missed is None:
        (prediction,) = predict_clusters(system, [instance], by_offsets)
        assert prediction.given["copy"] == "repaired"
        return
    with pytest.raises(InputError, match=f"row-1: the copy is no copy: {missed}"):
        predict_clusters(system, [instance], by_offsets)


def test_a_question_is_another_question(split: Split, tmp_path: Path) -> None:
    model = load("lm-coref-questions", model=Knowing(split))
    found = evaluate(split, [model], out=tmp_path)
    assert found.scores["lm-coref-questions"]["overall"]["accuracy"] == 1
    (run,) = tmp_path.iterdir()
    record = json.loads((run / "run.json").read_text())
    assert record["system"]["kind"] == "language model"
    assert record["system"]["question"].startswith("what the pronoun pointed out refers to")


def test_a_slot_has_no_antecedent(own_ruff: str, tmp_path: Path) -> None:
    rows = read_split(own_ruff, "no_context")
    for name in ("lm-coref", "lm-coref-questions"):
        with pytest.raises(InputError, match="asks for a pronoun"):
            evaluate(rows, [load(name, model=Knowing(rows))], out=tmp_path)


@pytest.fixture
def served(split: Split, pauses: list[float]) -> Iterator[str]:
    model = Knowing(split)

    class Chat(Handler):
        def asked(self, content: bytes) -> None:
            asked: Any = json.loads(content) if content else None
            reply: Any = {"data": [{"id": "tiny"}]}
            if asked is not None:
                (text,) = model.generate([asked["messages"][0]["content"]])
                reply = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
            self.answer(200, json.dumps(reply).encode())

    with serving(Chat) as url:
        yield url


def test_a_server_marks(split: Split, served: str) -> None:
    system = load("lm-coref", served)
    wrong = Knowing(split).wrong
    instances = [one for one in split.instances() if one.text not in wrong][:20]
    found = system.cluster([one.text for one in instances])
    for instance, (cluster,) in zip(instances, found, strict=True):
        expected = [instance.pronoun.span, instance.candidates[instance.label].span]
        assert sorted(cluster) == sorted(expected)
    assert system.question.endswith("generation of tiny")
    assert {copy.state for copy in system.copies} == {"verbatim"}


@pytest.mark.parametrize("name", ["lm-coref", "lm-coref-questions"])
def test_settings_are_those_of_the_model_that_is_asked(name: str) -> None:
    asked = parse_systems([f"a={name}=org/model", f"b={name}=http://127.0.0.1:1/v1", "random"])
    given = with_settings(asked, {"device": "cpu", "max_new_tokens": 30})
    taken = [one.settings for one in given]
    assert taken == [{"device": "cpu", "max_new_tokens": 30}, {"max_new_tokens": 30}, {}]


def test_a_hosted_server_is_refused() -> None:
    with pytest.raises(InputError, match="hosted"):
        load("lm-coref", "https://api.openai.com/v1")


def test_random_weights_copy_nothing(tmp_path: Path) -> None:
    texts = filled(own_instances())
    checkpoint = str(save(tmp_path / "gpt2", CAUSAL["gpt2"], texts))
    system = load("lm-coref", checkpoint, device="cpu", max_new_tokens=4)
    assert system.checkpoint.digest
    with pytest.raises(RefusedTextError):
        system.cluster(["Ann said that she slept."])


@pytest.mark.parametrize("name", ["lm-coref", "lm-coref-questions"])
def test_without_torch_its_extra_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pronominal.adapters.lm.prompting.generation", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r'needs the package torch; pip install "pronominal\[lm'):
        load(name, str(tmp_path))
