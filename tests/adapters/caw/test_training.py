"""CAW learns as its authors' program makes it learn, whatever else is in a batch."""

import json
import math
import warnings
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.caw.system", exc_type=ImportError)

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from pronominal import InputError
from pronominal.adapters.caw.checkpoint import open_parts
from pronominal.adapters.caw.documents import WordLevelDocument
from pronominal.adapters.caw.heads import head_of, head_spans
from pronominal.adapters.caw.model import ENTRIES
from pronominal.adapters.caw.system import CAW
from pronominal.adapters.caw.training import TrainableCAW, open_caw
from pronominal.adapters.caw.training_settings import CAWTraining, WordLevelRates
from pronominal.adapters.contract.self_check import SelfCheckWarning
from pronominal.adapters.words.english import EnglishWords, in_characters
from pronominal.adapters.words.pronoun_forms import SplitFormWarning
from pronominal.eval.exchange.gold_caw import read_caw
from pronominal.spans import AnnotatedDocument, Document, Span, Syntax

OWN = ROOT / "tests" / "goldens" / "caw"
CHECKPOINT = OWN / "checkpoint"
SECTIONS = ("tiny_a", "tiny_b")
RECORDED: dict[str, Any] = json.loads((OWN / "training.json").read_text(encoding="utf-8"))
INVARIANT = ("we.attn.bias", "sp.conv.1.bias", "self.key.bias")
"""No softmax depends on these: their gradients are rounding, which Adam makes whole steps of."""

WORDS = ["Ann", "called", "Bea", "because", "she", "had", "a", "question", "."]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[AnnotatedDocument]:
    file = tmp_path_factory.mktemp("caw") / "own.jsonlines"
    file.write_text("".join(json.dumps(one) + "\n" for one in RECORDED["documents"]))
    return read_caw(file)


def trainable(section: str, **given: Any) -> TrainableCAW:
    system = open_caw(CAWTraining(**{"checkpoint": str(CHECKPOINT), "head_dropout": 0.0, **given}))
    if section != "tiny_a":
        from pronominal.adapters.caw.loading import load_model

        parts = open_parts(str(CHECKPOINT), section)
        model, tokenizer = load_model(parts, batch_size=64)
        return TrainableCAW(system.asked, model, tokenizer, parts.described, {})
    return system


def without_dropout(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0
    return model.train()


def row(*, complete: bool = False) -> AnnotatedDocument:
    clusters = [[Span(0, 1), Span(4, 5)], [Span(2, 3)]]
    return AnnotatedDocument(Document([WORDS]), clusters, complete=complete)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_trajectory(section: str, documents: list[AnnotatedDocument]) -> None:
    wanted = RECORDED["runs"][section]
    # upstream's rate rises for one epoch of four
    rates = WordLevelRates(warmup=0.25)
    system = trainable(section, rates=rates, bce_loss_weight=wanted["bce_loss_weight"])
    read = {str(one.document.key): system.read(one, "own") for one in documents}
    model = without_dropout(system.new_model())
    system.learn([(one,) for one in read.values()])
    training = system.training(model, seed=1, updates=len(wanted["batches"]))  # type: ignore[arg-type]
    words, spans = [], []
    for key in wanted["batches"]:
        unit = [(read[key],)]
        losses = model([read[key]])
        words.append(float(losses.words.detach()))
        spans.append(float(losses.spans.detach()) / system._heads / 2)
        training.loss(model, unit, unit).backward()  # type: ignore[no-untyped-call]
        for optimiser, schedule in zip(training.optimisers, training.schedules, strict=True):
            optimiser.step()
            optimiser.zero_grad()
            schedule.step()
    # a loss is a difference of sums of exponentials, exact to some float32 steps of the scores
    assert words == pytest.approx(wanted["word_losses"], rel=1e-5, abs=2e-6)
    assert spans == pytest.approx(wanted["span_losses"], rel=1e-5, abs=2e-6)
    own = model.model
    parts: dict[str, Any] = {"bert": own.encoder.transformer}  # type: ignore[union-attr]
    parts |= {entry: own.get_submodule(name) for entry, name in ENTRIES.items()}  # type: ignore[operator]
    norms = {
        f"{entry}.{name}": float(weight.detach().norm())
        for entry, part in parts.items()
        for name, weight in part.named_parameters()
    }
    compared = {name for name in norms if not name.endswith(INVARIANT)}
    assert {name: norms[name] for name in compared} == pytest.approx(
        {name: wanted["norms"][name] for name in compared}, rel=1e-5
    )


def test_heads_are_those_of_upstream(documents: list[AnnotatedDocument]) -> None:
    system = trainable("tiny_a")
    for record, gold in zip(RECORDED["documents"], documents, strict=True):
        spans = head_spans(gold)
        assert sorted([head, *span] for head, span in spans.items()) == sorted(record["head2span"])
        numbers = system.read(gold, "own").numbers
        linked = [[n for n, one in enumerate(numbers) if one == c] for c in {*numbers} - {-1}]
        assert sorted(one for one in linked if len(one) > 1) == sorted(
            sorted(cluster) for cluster in record["word_clusters"]
        )


HEADS = {
    "Ann Lee": "Lee",
    "Ann and Bea": "and",
    "the owner of the two dogs": "owner",
    "her": "her",
    "the cat .": "cat",
    "of": "of",
}


@pytest.mark.parametrize("mention", HEADS)
def test_heads_without_a_parse(mention: str) -> None:
    words = mention.split()
    assert words[head_of(Span(0, len(words)), words)] == HEADS[mention]


@given(st.data())
def test_a_head_is_in_its_mention(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 8))
    governor = st.none() | st.integers(0, length - 1)
    word = st.builds(Syntax, st.sampled_from(["CC", "NN"]), governor)
    syntax = data.draw(st.none() | st.lists(word, min_size=length, max_size=length))
    words = data.draw(st.lists(st.sampled_from(["a", "of", "and", "."]), min_size=length))
    start = data.draw(st.integers(0, length - 1))
    end = data.draw(st.integers(start + 1, length))
    assert start <= head_of(Span(start, end), words, syntax) < end


@pytest.mark.parametrize("complete", [True, False])
def test_a_loss_does_not_depend_on_the_batch(
    complete: bool, documents: list[AnnotatedDocument]
) -> None:
    system = trainable("tiny_b")
    golds = [*documents, row(complete=complete)]
    read = [system.read(gold, "own") for gold in golds]
    model = without_dropout(system.new_model())
    with torch.no_grad():
        alone = [model([one]) for one in read]
        together = model(read)
    for name in ("words", "spans"):
        separate = [float(getattr(one, name)) for one in alone]
        assert getattr(together, name).tolist() == pytest.approx(separate, rel=1e-4)


def test_what_a_row_leaves_open_has_no_loss() -> None:
    system = trainable("tiny_a")
    read = system.read(row(), "own")
    # mentions by their cluster, verbs and punctuation as no mention, and the rest unknown
    assert read.numbers == [1, 0, 2, -1, 1, -1, -1, 0, -1]
    assert read.kept == [0, 2, 4]
    model = without_dropout(system.new_model())
    losses = []
    scored = model.model.scored_pairs  # type: ignore[union-attr]

    def recorded(*given: Any) -> Any:
        pairs = scored(*given)
        pairs.scores.retain_grad()
        losses.append(pairs)
        return pairs

    model.model.scored_pairs = recorded  # type: ignore[union-attr, assignment]
    model([read]).words.sum().backward()
    (pairs,) = losses
    touched = {
        (int(i), int(j))
        for i, j, slope in zip(pairs.current, pairs.antecedent, pairs.scores.grad, strict=True)
        if slope
    }
    assert {(4, 0), (4, 2), (2, 0), (4, 3)} <= touched
    assert not {pair for pair in touched if 1 in pair and read.numbers[pair[0]] >= 0}
    assert not {pair for pair in touched if pair[0] in (1, 7)}


def test_a_right_antecedent_is_scored_however_far_it_is() -> None:
    system = trainable("tiny_b")  # eight antecedents for each word
    between = [word for n in range(12) for word in ("it", "rained", "on", f"day{n}", ".")]
    words = ["Ann", "slept", ".", *between, "Then", "she", "woke", "."]
    she = words.index("she")
    gold = AnnotatedDocument(Document([words]), [[Span(0, 1), Span(she, she + 1)]], complete=False)
    model = without_dropout(system.new_model())
    read = system.read(gold, "own")
    pairs: list[Any] = []
    scored = model.model.scored_pairs  # type: ignore[union-attr]
    model.model.scored_pairs = lambda *given: pairs.append(scored(*given)) or pairs[0]  # type: ignore[union-attr, assignment, func-returns-value]
    with torch.no_grad():
        model([read])
    found = {*zip(pairs[0].current.tolist(), pairs[0].antecedent.tolist(), strict=True)}
    assert (she, 0) in found


def test_what_is_saved_answers_alike(tmp_path: Path) -> None:
    system, english = trainable("tiny_a"), EnglishWords()
    model = system.new_model().eval()
    rows = [json.loads(line) for line in (OWN / "clean.jsonl").read_text("utf-8").splitlines()]
    texts = [one["text"] for one in rows]
    read = [english.read(text) for text in texts]
    documents = [system.read(AnnotatedDocument(one, []), "own") for one, _ in read]
    system.save(model, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelfCheckWarning)
        saved = CAW(str(tmp_path), device="cpu")
    predicted = system.predict(model, documents)
    ours = [
        in_characters(found, places) for found, (_, places) in zip(predicted, read, strict=True)
    ]
    assert any(ours)
    assert saved.cluster(texts) == ours
    again = trainable("tiny_a", checkpoint=str(tmp_path))
    assert again.predict(again.new_model().eval(), documents) == predicted


def test_an_encoder_gets_a_new_head(tmp_path: Path) -> None:
    encoder = str(CHECKPOINT / "roberta-large")
    system = open_caw(CAWTraining(encoder=encoder, head_dropout=0.1))
    assert system._model.settings.bert_window_size <= 512
    with torch.random.fork_rng():
        torch.manual_seed(1)
        first = system.new_model()
        second = system.new_model()
        torch.manual_seed(1)
        third = system.new_model()
    same = [torch.equal(a, b) for a, b in zip(first.parameters(), third.parameters(), strict=True)]
    assert all(same)
    parts = first.model.scorers, second.model.scorers
    drawn = [[*chain.from_iterable(one.parameters() for one in part)] for part in parts]
    assert not any(torch.equal(a, b) for a, b in zip(*drawn, strict=True))
    read = system.read(row(), "own")
    system.learn([(read,)])
    assert math.isfinite(float(system.loss(first.train(), [(read,)], [(read,)]).detach()))


def test_a_mention_across_sentences_has_no_span_to_learn() -> None:
    system = trainable("tiny_a")
    document = Document([["Ann"], ["Lee", "slept"]])
    read = system.read(AnnotatedDocument(document, [[Span(0, 2)]], complete=False), "own")
    assert isinstance(read, WordLevelDocument)
    assert read.spans == [(1, Span(0, 2))]
    assert read.spans_in_sentences == []


def test_texts_that_cannot_be_learnt_say_why() -> None:
    system = trainable("tiny_a")
    short = system.read(AnnotatedDocument(Document([["a"]]), []), "own")
    empty = system.read(AnnotatedDocument(Document([]), []), "own")
    assert system.why_not(short) == system.why_not(empty) == "it is too short to link a word"
    assert system.predict(system.new_model().eval(), [short, empty]) == [[], []]


def test_settings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not said what the training begins with"):
        CAWTraining()
    with pytest.raises(InputError, match="--encoder and --checkpoint cannot both"):
        CAWTraining(encoder="a", checkpoint="b")
    own = tmp_path / "own.toml"
    # spaCy makes two words of it
    forms = dict.fromkeys(("accusative", "possessive"), "cannot")
    lines = [f'{case} = "{form}"' for case, form in {"nominative": "ze", **forms}.items()]
    own.write_text("\n".join(["[ze]", *lines]))
    with pytest.warns(SplitFormWarning, match="caw: 'cannot' is split into 2 words"):
        trainable("tiny_a", pronoun_sets=[str(own)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", SplitFormWarning)
        trainable("tiny_a", pronoun_sets=["xe"])
