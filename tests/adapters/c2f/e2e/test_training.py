"""E2E learns as upstream's program makes it learn, from rows and from documents."""

import json
import math
import warnings
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

import torch
from torch import nn

from pronominal import Document, ResolutionInstance, Span
from pronominal.adapters import load
from pronominal.adapters.c2f.e2e.checkpoint import E2EModel
from pronominal.adapters.c2f.e2e.coupled_lstm import CoupledLSTM
from pronominal.adapters.c2f.e2e.training import TrainableE2E, open_e2e
from pronominal.adapters.c2f.e2e.training_settings import E2ERates, E2ETraining
from pronominal.adapters.c2f.e2e.variables import sources
from pronominal.adapters.c2f.learning.documents import TrainingDocument, window
from pronominal.adapters.training.trainable import Corpus
from pronominal.eval.training.data.row_documents import RowReader
from pronominal.eval.training.data.versions import originals_first, versions
from pronominal.spans import AnnotatedDocument, Mention
from tests.eval.training.coreference_rows import run, write_conll, write_rows, write_vectors

pytestmark = pytest.mark.usefixtures("blank_pictures")

OWN = ROOT / "tests" / "goldens" / "e2e"
SHARED = ROOT.parent / "shared" / "goldens" / "e2e"
FILES = {"clean": OWN / "train-clean.json", "public": SHARED / "train-goldens.json"}
CHECKPOINTS = {"clean": OWN / "checkpoint", "public": SHARED}


@pytest.fixture(scope="module", params=FILES)
def file(request: pytest.FixtureRequest) -> str:
    if not FILES[request.param].exists():
        pytest.skip(f"{FILES[request.param].name} is not beside the repository")
    return str(request.param)


def recorded(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILES[file].read_text(encoding="utf-8"))
    return found


def trainable(file: str, records: list[dict[str, Any]]) -> TrainableE2E:
    words = sorted({word for record in records for word in chain(*record["sentences"])})
    rates = E2ERates(learning_rate=5e-4, decay=0.9, decay_every=4, clip=5.0)
    asked = E2ETraining(checkpoint=str(CHECKPOINTS[file]), rates=rates)
    return open_e2e(asked, Corpus([], words, Path()))


def whole(system: TrainableE2E, record: dict[str, Any]) -> TrainingDocument:
    key = record["doc_key"]
    document = Document(record["sentences"], record["speakers"], key[:2], key)
    clusters = [[Span(a, b + 1) for a, b in cluster] for cluster in record["clusters"]]
    return TrainingDocument.of(AnnotatedDocument(document, clusters), system.units(document, key))


def without_dropout(model: E2EModel) -> E2EModel:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0
        if isinstance(module, CoupledLSTM):
            module.dropout = 0
    return model.train()


def test_a_trajectory(file: str) -> None:
    given = recorded(file)
    system = trainable(file, [one["input"] for one in given["documents"]])
    documents = [whole(system, one["input"]) for one in given["documents"]]
    model = without_dropout(system.new_model())
    (optimiser,), (schedule,) = system.optimisation(model, updates=12)
    found = []
    for number in range(len(given["trajectory"]["losses"])):
        loss = system.loss(model, [documents[number % len(documents)]], 1)
        loss.backward()  # type: ignore[no-untyped-call]
        found.append(float(loss.detach()))
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
    wanted = [one if isinstance(one, float) else one[1] for one in given["trajectory"]["losses"]]
    assert found == pytest.approx(wanted, rel=2e-5)
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    # its gradient is nothing but rounding errors, which Adam follows as far as any other
    del weights["head.mention_token_attn.bias"]
    compare_norms(model, weights, given["trajectory"]["final_parameter_norms"], rel=1e-4)


def test_losses_and_gradients(file: str) -> None:
    given = recorded(file)
    system = trainable(file, [one["input"] for one in given["documents"]])
    model = system.new_model().eval()
    documents = {one["id"]: whole(system, one["input"]) for one in given["documents"]}
    for name, wanted in given["loss_eval_mode"].items():
        assert float(system.loss(model, [documents[name]], 1).detach()) == pytest.approx(
            wanted, rel=1e-5
        )
    for name, norms in given["gradient_norms_unclipped"].items():
        model.zero_grad()
        system.loss(model, [documents[name]], 1).backward()  # type: ignore[no-untyped-call]
        gradients = {key: weight.grad for key, weight in model.named_parameters()}
        # biases that shift all scores alike have a gradient of rounding errors alone
        compare_norms(model, gradients, norms, rel=1e-4, abs=1e-6 * max(norms.values()))


def compare_norms(
    model: E2EModel, ours: dict[str, Any], theirs: dict[str, float], **tolerance: float
) -> None:
    """Compare the norms of tensors with those of the variables that they are made of."""
    head = [name for name, _ in model.head.named_parameters()]
    of_tensors = sources(model.encoder.config, model.head.config.ffnn_depth, head)
    compared = [source for source in of_tensors if source.ours in ours]
    assert len(compared) == len(ours)
    for source in compared:
        wanted = math.hypot(*(theirs[variable] for variable in source.theirs))
        found = float(ours[source.ours].norm())
        assert found == pytest.approx(wanted, **tolerance), source.ours


def test_windows_are_upstreams(file: str) -> None:
    given = recorded(file)["truncation"]
    system = trainable(file, [one["input"] for one in given])
    for one in given:
        document = whole(system, one["input"])
        part = window(document, one["sentence_offset"], system.window)
        sentences = one["kept_sentences"]
        assert [*part.units.strings] == [*chain(*sentences)], one["id"]
        found = sorted((s.start, s.end - 1) for cluster in part.clusters for s in cluster)
        assert found == sorted(zip(one["gold_starts"], one["gold_ends"], strict=True)), one["id"]
        longest = model_padding(system, part)
        assert longest == one["char_index_shape"][2], one["id"]


def model_padding(system: TrainableE2E, part: TrainingDocument) -> int:
    (inputs,) = system.inputs([part])
    return system.new_model().encoder.characters.padded_length(inputs.longest)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_rows(folder / "own.jsonl", 60)
    write_conll(folder / "own_conll", 6)
    write_vectors(folder / "vectors.txt")
    return folder


def command(data: Path, out: Path, *options: str) -> list[str]:
    given = ("--context-embeddings", data / "vectors.txt", "--out", out)
    size = () if "--size" in options else ("--size", "small")
    batch = () if "--batch-size" in options else ("--batch-size", "4")
    return [str(part) for part in ("train", "e2e", *given, *size, *batch, *options)]


def test_it_learns_what_can_be_learnt(data: Path, tmp_path: Path) -> None:
    rows = str(data / "own.jsonl")
    data_options = ("--data", rows, "--validation", rows, "--test", rows, "--switching")
    options = (*data_options, "--unannotated", "negative")
    # nine of nine seeds have learnt it after 225 updates; at a rate of 0.005 one of four has not
    learnt = ("--updates", "250", "--learning-rate", "0.003", "--batch-size", "8")
    assert run(command(data, tmp_path, *options, *learnt, "--validate-every", "50")) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["counts"]["train_documents"] == 120
    scores = summary["scores"]["as_given"]
    # whoever answers by position or by name is right in both versions of half of the rows at most
    assert scores["original"]["correct"]["mean"] > 0.9
    assert scores["switching"]["consistently_correct"]["mean"] >= 0.9
    # what it says of itself at the end is what the saved folder answers
    validation = summary["validation"]["rows"]
    assert validation["correct"] == scores["original"]["correct"]


@pytest.mark.parametrize(
    ("options", "what"),
    [((), "the loss of update 2"), (("--validate-every", "1"), "a score of the validation at")],
)
def test_a_training_that_diverges_is_one_line(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    what: str,
) -> None:
    rate = ("--data", str(data / "own.jsonl"), "--learning-rate", "1e30", "--updates", "4")
    assert run(command(data, tmp_path, *rate, *options)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert what in line
    assert line.endswith("is no finite number; lower the learning rate")


def test_rows_and_documents_are_one_set(data: Path, tmp_path: Path) -> None:
    both = ("--data", str(data / "own.jsonl"), "--data", f"conll:{data / 'own_conll'}")
    held = ("--validation", f"conll:{data / 'own_conll'}", "--updates", "2")
    assert run(command(data, tmp_path, *both, *held)) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["data"]["name"] == "own+conll"
    assert summary["counts"]["train_documents"] == 54 + 6
    assert {*summary["validation"]} == {"rows", "switching", "documents"}
    assert summary["validation"]["documents"]["conll"]["f1"]["mean"] >= 0
    folder = tmp_path / "seed-1"
    names = {"README.md", "config.json", "curves.jsonl", "curves.svg", "model.safetensors"}
    assert names <= {path.name for path in folder.iterdir()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert load("e2e", checkpoint=str(folder)).name == "e2e"
    onward = ("--checkpoint", folder, *both, *held, "--out", tmp_path / "on")
    assert run(("train", "e2e", *onward)) == 0


def test_documents_alone_hold_a_share_out(data: Path, tmp_path: Path) -> None:
    options = ("--data", f"conll:{data / 'own_conll'}", "--validation-share", "0.5")
    assert run(command(data, tmp_path, *options, "--updates", "2")) == 0
    counts = json.loads((tmp_path / "summary.json").read_text())["counts"]
    assert (counts["train_documents"], counts["validation_documents"]) == (3, 3)


MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "two beginnings": (
        ("--checkpoint", "x"),
        "--context-embeddings and --checkpoint cannot both be what the training begins with; give "
        "one of --context-embeddings or --embeddings-of or --checkpoint",
    ),
    "size": (("--size", "large"), "--size is 'large'"),
    "two files of rows": (
        ("--data", "x.jsonl"),
        "--data names 2 files of own rows; put them into one",
    ),
    "two sets to stop by": (
        ("--validation", "one.jsonl", "--validation", "other.jsonl"),
        "--validation names 2 files of rows; put them into one",
    ),
    "a place of no dataset": (
        ("--dataset", "out/knowref"),
        "--dataset out/knowref has no effect on a training on",
    ),
    "two ways to hold rows out": (
        ("--validation", "held.jsonl", "--validation-share", "0.5"),
        "--validation-share 0.5 has no effect on a training on",
    ),
    "switching without rows": (
        ("--data", "conll:{data}/own_conll", "--switching"),
        "--switching has no effect without rows to switch; leave it out",
    ),
    "a size of vectors in a file": (
        ("--embedding-size", "7"),
        "--embedding-size has no effect without --embeddings-of; leave it out",
    ),
    "two lengths": (
        ("--epochs", "3", "--updates", "9"),
        "--epochs 3 and --updates 9 both say how long a training lasts; give one of them",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], mistake: str
) -> None:
    options, wanted = MISTAKES[mistake]
    options = tuple(option.format(data=data) for option in options)
    rows = () if any("conll:" in option for option in options) else (str(data / "own.jsonl"),)
    given = command(data, tmp_path / "out", *(("--data", *rows) if rows else ()), *options)
    assert run(given) == 2
    assert wanted in capsys.readouterr().err
    assert not (tmp_path / "out" / "seed-1").exists()


def instance(text: str, pronoun: tuple[int, int], candidates: tuple[str, str], label: int) -> Any:
    mentions = tuple(
        Mention(name, text.find(name), text.find(name) + len(name) if name in text else -1)
        for name in candidates
    )
    shown = Mention(text[slice(*pronoun)], *pronoun)
    return ResolutionInstance("one", text, shown, mentions, label)


TEXT = "Ann met Eve , and Ann said she left Ann ."
ROWS: dict[str, tuple[Any, Any]] = {
    "nearest before": (instance(TEXT, (27, 30), ("Ann", "Eve"), 0), [(5, 6), (7, 8)]),
    "other label": (instance(TEXT, (27, 30), ("Ann", "Eve"), 1), [(2, 3), (7, 8)]),
    "first after": (
        instance("When she left , Ann and Eve slept .", (5, 8), ("Ann", "Eve"), 0),
        [(1, 2), (4, 5)],
    ),
    "absent": (
        instance("Ann said she left .", (9, 12), ("Ann", "Eve"), 1),
        "the right candidate is not in the text",
    ),
    "neither": (instance(TEXT, (27, 30), ("Ann", "Eve"), 2), "neither candidate is right"),
    "inside a word": (
        instance("Ann said heshe left Eve .", (11, 14), ("Ann", "Eve"), 0),
        "the pronoun does not begin and end with a word",
    ),
}


@pytest.mark.parametrize("case", ROWS)
def test_a_row_becomes_a_document_or_is_listed(case: str) -> None:
    given, wanted = ROWS[case]
    found, left_out = versions([given], "train", RowReader().read)
    if isinstance(wanted, str):
        assert (found, [one.reason for one in left_out]) == ([], [wanted])
    else:
        cluster = found[0][0].content.gold.clusters[0]
        assert [tuple(span) for span in cluster] == wanted
        assert left_out == []


def test_switched_documents_know_that_they_are() -> None:
    given, _ = ROWS["nearest before"]
    found, _ = versions([given], "train", RowReader().read, switching=True)
    assert [one.name for one in originals_first(found)] == ["original", "switched"]


def test_a_new_model_is_drawn_as_upstreams_is(data: Path) -> None:
    asked = E2ETraining(size="small", context_embeddings=str(data / "vectors.txt"))
    system = open_e2e(asked, Corpus(["Anna"], ["Anna"], data))
    model = system.new_model()
    layer = model.encoder.lstm.layers[0]
    assert isinstance(layer, CoupledLSTM)
    for block in layer.weights[0].detach().split(layer.size, dim=1):
        torch.testing.assert_close(block.T @ block, torch.eye(layer.size), atol=1e-5, rtol=0)
    assert float(layer.bias.detach().abs().max()) <= (6 / (6 * layer.size)) ** 0.5
    assert all(bool(weight.isfinite().all()) for weight in model.parameters())
    assert any(
        bool((weight != 0).any()) for name, weight in model.named_parameters() if "bias" in name
    )
