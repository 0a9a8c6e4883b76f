"""LingMess and FCoref learn as fastcoref makes them learn, whatever else is in a batch."""

import json
import shutil
import warnings
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastcoref")
pytest.importorskip("matplotlib")

import torch
from torch import nn

from pronominal.adapters.fastcoref.categories import (
    GROUPS,
    SubtokenWords,
    pair_categories,
    pronoun_groups,
)
from pronominal.adapters.fastcoref.lingmess import LingMess
from pronominal.adapters.fastcoref.package import (
    CATEGORIES,
    PRONOUNS_GROUPS,
    CorefModel,
    FCorefModel,
    LingMessModel,
    english_pipeline,
    loadable,
)
from pronominal.adapters.fastcoref.training import TrainableFastcoref, open_fcoref, open_lingmess
from pronominal.adapters.fastcoref.training_settings import (
    FastcorefRates,
    FastcorefTraining,
    FCorefTraining,
    LingMessTraining,
)
from pronominal.adapters.words.english import EnglishWords, in_characters
from pronominal.adapters.words.pronoun_forms import SplitFormWarning
from pronominal.pronouns import THEY, XE
from pronominal.spans import AnnotatedDocument, Document, Span
from tests.adapters.fastcoref.checkpoints import SYSTEMS, checkpoint, goldens, tiny
from tests.adapters.training.dropout import remove_dropout
from tests.eval.training.coreference_rows import row, run

NAMES = ("fcoref", "lingmess")


def trainable(name: str, **given: Any) -> TrainableFastcoref:
    rates = FastcorefRates(encoder=1e-5, task=3e-5)
    given = {"checkpoint": str(checkpoint(name)), "rates": rates, **given}
    if name == "fcoref":
        return open_fcoref(FCorefTraining(**given))
    return open_lingmess(LingMessTraining(**given))


def without_dropout(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0
        elif isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0  # Longformer's attention
    return model.train()


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((checkpoint(name).parent / "training.json").read_text())
    return found


def annotated(record: dict[str, Any], *, complete: bool = True) -> AnnotatedDocument:
    clusters = [[Span(a, b + 1) for a, b in cluster] for cluster in record["clusters"]]
    return AnnotatedDocument(Document([record["tokens"]]), clusters, complete=complete)


@pytest.mark.parametrize("name", NAMES)
def test_a_trajectory(name: str) -> None:
    wanted, system = recorded(name), trainable(name)
    documents = {
        one["doc_key"]: system.read(annotated(one), one["doc_key"]) for one in wanted["documents"]
    }
    model = without_dropout(system.new_model())
    system.learn([(one,) for one in documents.values()])
    training = system.training(model, seed=1, updates=len(wanted["losses"]))
    found = []
    for key in wanted["batches"]:
        unit = [(documents[key],)]
        loss = training.loss(model, unit, unit)
        loss.backward()  # type: ignore[no-untyped-call]
        found.append(float(loss.detach()))
        training.optimisers[0].step()
        training.optimisers[0].zero_grad()
        training.schedules[0].step()
    # a loss is a difference of sums of exponentials, exact to some float32 steps of the scores
    assert found == pytest.approx(wanted["losses"], rel=1e-5, abs=2e-6)
    norms = {key: float(weight.detach().norm()) for key, weight in model.model.named_parameters()}
    ours = {key: norms[key] for key in wanted["norms"]}
    assert ours == pytest.approx(wanted["norms"], rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("complete", [True, False])
def test_a_loss_does_not_depend_on_the_batch(name: str, complete: bool) -> None:
    system = trainable(name)
    given = recorded(name)["documents"]
    documents = [system.read(annotated(one, complete=complete), "own") for one in given]
    units = [(document,) for document in documents]
    model = without_dropout(system.new_model())
    with torch.no_grad():
        alone = [float(system.loss(model, [one], [one])) for one in units]
        together = float(system.loss(model, units, units))
    # the losses of a text's spans are divided by the number of those of the longest text
    share = system._head["top_lambda"]
    kept = [int(torch.tensor(len(one)) * share) for one in documents]
    if not complete:
        kept = [max(count, len(one.mentions)) for count, one in zip(kept, documents, strict=True)]
    scaled = [loss * count / max(kept) for loss, count in zip(alone, kept, strict=True)]
    assert together == pytest.approx(sum(scaled) / len(scaled), rel=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_answers_alike_here_and_in_fastcoref(name: str, tmp_path: Path) -> None:
    system, english = trainable(name), EnglishWords()
    model = system.new_model().eval()
    texts = [text for text, _ in goldens(name, "clean.jsonl").values()][::3]
    read = [english.read(text) for text in texts]
    documents = [system.read(AnnotatedDocument(one, []), "own") for one, _ in read]
    with torch.no_grad():
        predicted = system.predict(model, documents)
    ours = [
        in_characters(found, places) for found, (_, places) in zip(predicted, read, strict=True)
    ]
    assert ours == tiny(name).cluster(texts)
    with torch.no_grad():
        model.model.mention_start_classifier.bias += 1
    system.save(model, tmp_path)
    saved = SYSTEMS[name](str(tmp_path), device="cpu")
    own = LingMessModel if name == "lingmess" else FCorefModel
    collator = SYSTEMS[name].collator_class
    theirs = CorefModel(
        str(tmp_path), loadable(own), collator, enable_progress_bar=False, nlp=english_pipeline()
    )
    for text in texts[:4]:
        found = theirs.predict(text).get_clusters(as_strings=False)
        kept = [[Span(*mention) for mention in dict.fromkeys(c) if mention] for c in found]
        assert saved.cluster([text]) == [[cluster for cluster in kept if len(cluster) > 1]]


def test_categories_know_the_pronouns_that_are_learnt(tmp_path: Path) -> None:
    assert pronoun_groups() == PRONOUNS_GROUPS
    groups = pronoun_groups(further=[THEY, XE])
    assert groups["themself"] == groups["them"]
    assert groups["xe"] == groups["xyrs"] == max(PRONOUNS_GROUPS.values()) + 1
    words = ["Xe", "lost", "xyr", "keys", "and", "the", "keys"]
    text = SubtokenWords.read(words, range(7))
    places = torch.tensor([0, 2, 3, 5])
    found = pair_categories(places, torch.tensor([0, 2, 3, 6]), text, groups)
    names = {number: name for name, number in CATEGORIES.items()}
    below = [names[int(found[row, column])] for row in range(4) for column in range(row)]
    entity = "pron-ent"
    assert below == ["pron-pron-comp", entity, entity, entity, entity, "match"]
    system = trainable("lingmess", pronoun_sets=["xe"])
    system.save(system.new_model(), tmp_path)
    head = json.loads((tmp_path / "config.json").read_text())["coref_head"]
    assert head[GROUPS]["xemself"] == groups["xe"]
    # a system without training takes them as a setting
    told = LingMess(str(checkpoint("lingmess")), device="cpu", pronoun_sets=["xe"])
    assert told._package.model.config.coref_head[GROUPS] == head[GROUPS]
    # a training that goes on knows them, too
    again = trainable("lingmess", checkpoint=str(tmp_path), pronoun_sets=["they"])
    assert again._head[GROUPS] == {**head[GROUPS], "theirs": 6, "themself": 6}


def test_a_form_that_cannot_be_a_mention_is_named(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    forms = dict.fromkeys(("accusative", "possessive"), "hwaetlongestpronoun")
    lines = [f'{case} = "{form}"' for case, form in {"nominative": "ze", **forms}.items()]
    own.write_text("\n".join(["[ze]", *lines]))
    with pytest.warns(
        SplitFormWarning, match=r"'hwaetlongestpronoun' has \d+ subtokens, .* most 6"
    ):
        trainable("fcoref", pronoun_sets=[str(own)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainable("fcoref", pronoun_sets=["xe"])


def test_texts_that_cannot_be_learnt_say_why() -> None:
    system = trainable("lingmess")
    short, long = (
        system.read(AnnotatedDocument(Document([["a"] * n]), []), "own") for n in (0, 600)
    )
    assert system.why_not(short) == "it is too short to keep a span"
    assert "602 subtokens, and lingmess reads at most 512" in system.why_not(long)
    with torch.no_grad():
        assert system.predict(system.new_model().eval(), [short, long]) == [[], []]


def test_speakers_are_said_as_in_fastcoref() -> None:
    system = trainable("fcoref")
    words = ["I", "left", ".", "You", "did", "?"]
    speakers = [["Ann"] * 3, ["Bob"] * 3]
    document = Document([words[:3], words[3:]], speakers)
    read = system.read(AnnotatedDocument(document, [[Span(0, 1), Span(3, 4)]]), "own")
    said = ["#####", "Ann", "###", *words[:3], "#####", "Bob", "###", *words[3:]]
    assert read.ids == system._parts.tokenizer(said, is_split_into_words=True)["input_ids"]
    mentions = [{read.word_of[unit] for unit in range(*span)} for span in chain(*read.clusters)]
    assert mentions == [{0}, {3}]


def test_settings_that_contradict_each_other() -> None:
    from pronominal import InputError

    with pytest.raises(InputError, match="not said what the training begins with"):
        FastcorefTraining()
    with pytest.raises(InputError, match="--encoder and --checkpoint cannot both"):
        FastcorefTraining(encoder="a", checkpoint="b")
    with pytest.raises(InputError, match="no pronoun set 'zer'"):
        FastcorefTraining(encoder="a", pronoun_sets=["zer"]).identity()


def sure_row(number: int) -> dict[str, Any]:
    """Return a row of few spans that may be mentions: what it leaves open is learnt by luck."""
    plain = row(number)
    first, second = plain["candidates"]
    rest = ("had been", "was not")[number % 2]
    return {**plain, "text": f"{first} was with {second} , but because she {rest} ."}


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("name", NAMES)
def test_partly_annotated_rows_teach_what_they_say(name: str, tmp_path: Path) -> None:
    rows = tmp_path / "own.jsonl"
    rows.write_text("".join(json.dumps(sure_row(number)) + "\n" for number in range(60)))
    begin = shutil.copytree(checkpoint(name), tmp_path / "begin")
    remove_dropout(begin)
    data = ("--data", rows, "--validation", rows, "--test", rows, "--switching", "--pair-batches")
    rates = ("--task-learning-rate", 1e-2, "--encoder-learning-rate", 4e-3)
    # sixteen of sixteen trainings have learnt it after 110 updates
    length = ("--updates", 130, "--validate-every", 65, "--batch-size", 8, "--out", tmp_path)
    assert run(["train", name, "--checkpoint", begin, *data, *rates, *length]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    # whoever answers by position or by name is right in both versions of half of the rows at most
    scores = summary["scores"]["as_given"]
    assert scores["switching"]["consistently_correct"]["mean"] > 0.9
    # what it says of itself at the end is what the saved folder answers
    assert summary["validation"]["rows"]["correct"] == scores["original"]["correct"]
    assert f'load("{name}"' in (tmp_path / "seed-1" / "README.md").read_text()
