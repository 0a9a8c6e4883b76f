"""One command trains a classifier that both doors open, and nothing is lost or left out unseen."""

import json
import re
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("matplotlib")

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from pronominal import InputError, ResolutionInstance
from pronominal.adapters import SYSTEMS, kind_of, load
from pronominal.adapters.bert.encoding import EncodedInstance, InstanceEncoder, Unencodable
from pronominal.adapters.bert.mentions import nearest_mention, with_placeholders
from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.bert.system import BERT, UnreadableInstanceWarning
from pronominal.adapters.checkpoints import tensors as weight_files
from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.atomic import held_folder
from pronominal.cli import training
from pronominal.spans import Mention, Span
from pronominal.switching import locate_candidates, switch
from tests.processes import command_line_until_loss, started

pytestmark = pytest.mark.usefixtures("blank_pictures")

NAMES = ("Anna", "Bella", "Clara", "Dora", "Emma", "Fiona")
CLAUSES = (
    ("thanked", "because she had helped", 1),
    ("helped", "because she was kind", 0),
    ("scolded", "because she was late", 1),
    ("called", "because she was lonely", 0),
)
WORDS = sorted({word for verb, rest, _ in CLAUSES for word in (verb, *rest.split())} | {"her", "."})


def row(number: int, **changes: Any) -> dict[str, Any]:
    first, second = NAMES[number % 6], NAMES[(number + 1 + number // 6 % 5) % 6]
    verb, rest, label = CLAUSES[number * 7 % 4]
    swapped = number % 3 == 0
    fields = {
        "id": f"own-{number}",
        "text": f"{first} {verb} {second} {rest} .",
        "pronoun": "she",
        "candidates": [second, first] if swapped else [first, second],
        "label": 1 - label if swapped else label,
    }
    return {**fields, **changes}


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def instance(number: int) -> ResolutionInstance:
    fields = row(number)
    text = fields["text"]
    places = {name: text.index(name) for name in ("she", *fields["candidates"])}
    mentions = {name: Mention(name, at, at + len(name)) for name, at in places.items()}
    first, second = fields["candidates"]
    return ResolutionInstance(
        fields["id"], text, mentions["she"], (mentions[first], mentions[second]), fields["label"]
    )


def tokenizer(kind: str, folder: Path) -> None:
    """Write a tokenizer of whole words, and of letters for all others."""
    letters = [
        f"{prefix}{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789" for prefix in ("", "##")
    ]
    special = {
        "bert": ("[CLS]", "[SEP]", "[PAD]", "[UNK]"),
        "roberta": ("<s>", "</s>", "<pad>", "<unk>"),
    }
    cls, sep, pad, unk = special[kind]
    # RoBERTa's padding has the id 1, behind which its positions begin
    start = [pad, unk, cls, sep] if kind == "bert" else [cls, pad, sep, unk]
    words = [*start, *letters, *map(str.lower, NAMES), "jordan", "taylor", *WORDS]
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys(words))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token=unk))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.BertProcessing((sep, vocabulary[sep]), (cls, vocabulary[cls]))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        cls_token=cls,
        sep_token=sep,
        pad_token=pad,
        unk_token=unk,
        model_max_length=32,
    ).save_pretrained(folder)


def write_encoder(kind: str, folder: Path) -> Path:
    sizes = {
        "vocab_size": 150,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 24,
    }
    with torch.random.fork_rng():
        torch.manual_seed(3)
        if kind == "bert":
            config: Any = transformers.BertConfig(**sizes, max_position_embeddings=32)
            transformers.BertModel(config).save_pretrained(folder)
        else:
            config = transformers.RobertaConfig(
                **sizes, max_position_embeddings=34, pad_token_id=1, type_vocab_size=1
            )
            transformers.RobertaModel(config).save_pretrained(folder)
    tokenizer(kind, folder)
    return folder


@pytest.fixture(scope="module", params=["bert", "roberta"])
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def bert_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder("bert", tmp_path_factory.mktemp("encoder"))


def command(encoder: Path, data: Path, out: Path, *options: str) -> list[str]:
    rows = () if "--data" in options else ("--data", data)
    encoders = () if "--encoder" in options else ("--encoder", encoder)
    given = (*encoders, *rows, "--out", out, "--learning-rate", "0.01")
    return [str(part) for part in ("train", "bert", *given, *options)]


def run(*arguments: str) -> int:
    """Run the command line in this process."""
    from pronominal.cli.main import main

    before, sys.argv = sys.argv, ["pronominal", *arguments]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("rows") / "own.jsonl", [row(n) for n in range(40)])


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("many") / "own.jsonl", [row(n) for n in range(120)])


SCORERS = [("cls", "cls"), ("cls", "mean"), ("cls", "substituted"), ("span", "cls")]


READINGS = [(), ("--placeholder-names",), ("--prior-correction", "--placeholder-names")]


@pytest.mark.parametrize("reading", READINGS, ids=len)
@pytest.mark.parametrize(("scorer", "pooling"), SCORERS)
def test_both_doors_give_the_same_probabilities(
    encoder: Path,
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scorer: str,
    pooling: str,
    reading: tuple[str, ...],
) -> None:
    options = ("--scorer", scorer, "--pooling", pooling, "--updates", "1", "--batch-size", "8")
    assert run(*command(encoder, rows, tmp_path / "out", *options, *reading)) == 0
    folder = tmp_path / "out" / "seed-1"
    system = load("bert", checkpoint=str(folder))
    asked = [*(instance(n) for n in range(4)), *repeated()]
    found = system.choose(asked)
    assert all(sum(pair) == pytest.approx(1) for pair in found)
    card = (folder / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall("```python\n(import.*?)```", card, flags=re.DOTALL)
    for opened in (transformers.AutoModel, transformers.AutoTokenizer):
        # once, and not for each text
        monkeypatch.setattr(opened, "from_pretrained", cache(opened.from_pretrained))
    plain = [in_plain_transformers(code, folder, one) for one in asked]
    torch.testing.assert_close(torch.tensor(found), torch.stack(plain), atol=1e-6, rtol=1e-5)


def repeated() -> Iterator[ResolutionInstance]:
    """Yield instances whose names stand there more than once, one of them in the other."""
    for text, names in (
        ("Anna met Bella . Anna thanked Bella because she had helped Anna .", ("Anna", "Bella")),
        ("Clara helped Dora because she was kind , Dora said .", ("Dora", "Clara")),
        ("Emma Anna called Anna because she was lonely .", ("Anna", "Emma Anna")),
        ("Anna helped Jordan and Bella because she was kind .", ("Bella", "Anna")),
    ):
        start = text.index("she")
        places = locate_candidates(text, names, Span(start, start + 3))
        yield ResolutionInstance("own", text, Mention("she", start, start + 3), places, 0)


def in_plain_transformers(code: str, folder: Path, asked: ResolutionInstance) -> torch.Tensor:
    """Run the lines of the model card, which print the probabilities."""
    printed: list[torch.Tensor] = []
    names: dict[str, Any] = {"text": asked.text, "print": printed.append}
    names["candidates"] = [candidate.text for candidate in asked.candidates]
    names["start"], names["end"] = asked.pronoun.span
    names["first"] = int(asked.candidates[0].start > asked.candidates[1].start)
    exec(code.replace("FOLDER", str(folder)), names)
    return printed[0].detach()


def test_the_saved_folder_is_whole_and_says_nothing_of_this_machine(
    bert_encoder: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--updates", "3", "--seeds", "2", "--switching", "--test", str(rows))
    assert run(*command(bert_encoder, rows, tmp_path / "out", *options)) == 0
    assert "\nNo " not in capsys.readouterr().out.partition("No interval for mean")[2]
    for seed in (1, 2):
        folder = tmp_path / "out" / f"seed-{seed}"
        wanted = {"README.md", "config.json", "curves.jsonl", "curves.svg", "model.safetensors"}
        names = {path.name for path in folder.iterdir()}
        assert wanted | {"runs", "tokenizer.json", "training.json"} <= names
        assert not names & {"state.pt", "best.pt", "checkpoint"}
        for name in ("README.md", "config.json", "training.json", "tokenizer_config.json"):
            assert str(bert_encoder) not in (folder / name).read_text(encoding="utf-8"), name
        written = [*folder.glob("runs/*/*"), *folder.glob("*.json*"), folder / "README.md"]
        texts = [
            path.read_text(encoding="utf-8") for path in written if path.name != "tokenizer.json"
        ]
        assert not any(clause in text for text in texts for _, clause, _ in CLAUSES)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["seeds"] == [1, 2]
    assert summary["counts"]["train_instances"] == 2 * 36  # a tenth is held out
    spread = summary["scores"]["as_given"]["switching"]["consistency"]
    assert len(spread["values"]) == 2
    assert spread["mean"] == pytest.approx(sum(spread["values"]) / 2)
    assert summary["scores"]["as_given"]["original"]["n"]["mean"] == 40


def test_it_learns_what_can_be_learnt(bert_encoder: Path, many_rows: Path, tmp_path: Path) -> None:
    options = ("--scorer", "span", "--epochs", "12", "--switching", "--batch-size", "8")
    assert run(*command(bert_encoder, many_rows, tmp_path, *options, "--test", str(many_rows))) == 0
    scores = json.loads((tmp_path / "summary.json").read_text())["scores"]["as_given"]
    assert scores["original"]["accuracy"]["mean"] > 0.95
    assert scores["switching"]["consistently_correct"]["mean"] > 0.9


def test_placeholder_names_are_consistent_by_construction(
    bert_encoder: Path, many_rows: Path, tmp_path: Path
) -> None:
    options = ("--placeholder-names", "--updates", "3", "--test", str(many_rows))
    assert run(*command(bert_encoder, many_rows, tmp_path, *options)) == 0
    scores = json.loads((tmp_path / "summary.json").read_text())["scores"]["as_given"]
    assert scores["switching"]["consistency"]["mean"] == 1


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_a_killed_command_ends_with_the_same_weights(
    bert_encoder: Path, many_rows: Path, tmp_path: Path, precision: str
) -> None:
    options = (
        *("--precision", precision),
        *("--epochs", "4", "--switching", "--pair-batches"),
        *("--consistency-penalty", "0.5", "--balanced-loss", "--save-every", "7"),
        *("--validate-every", "20", "--freeze-embeddings"),
    )
    whole = command(bert_encoder, many_rows, tmp_path / "whole", *options)
    assert run(*whole) == 0
    killed = command(bert_encoder, many_rows, tmp_path / "killed", *options)
    process = started(command_line_until_loss, 24, *killed)  # after a validation, and a saved state
    process.join()
    assert process.exitcode == -signal.SIGKILL
    left = {path.name for path in (tmp_path / "killed" / "seed-1").iterdir()}
    assert "state.pt" in left
    assert "model.safetensors" not in left
    assert run(*killed) == 0
    files = [tmp_path / name / "seed-1" for name in ("whole", "killed")]
    for name in ("model.safetensors", "curves.jsonl"):
        assert (files[0] / name).read_bytes() == (files[1] / name).read_bytes(), name


def test_bf16_is_near_full_precision(bert_encoder: Path, many_rows: Path, tmp_path: Path) -> None:
    losses = {}
    for precision in ("no", "bf16"):
        options = ("--updates", "12", "--precision", precision)
        assert run(*command(bert_encoder, many_rows, tmp_path / precision, *options)) == 0
        curves = (tmp_path / precision / "seed-1" / "curves.jsonl").open()
        losses[precision] = [one["loss"] for one in map(json.loads, curves) if "loss" in one]
    assert losses["bf16"] != losses["no"]
    assert losses["bf16"] == pytest.approx(losses["no"], abs=2e-3)


def test_two_processes_do_not_train_one_seed(
    bert_encoder: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with held_folder(tmp_path / "out" / "seed-1"):
        assert run(*command(bert_encoder, rows, tmp_path / "out", "--updates", "3")) == 2
    said = "another process is writing there; wait until it is done, or choose another --out"
    assert said in capsys.readouterr().err
    assert not any((tmp_path / "out" / "seed-1").iterdir())


def test_fp16_needs_a_gpu(
    bert_encoder: Path,
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run(*command(bert_encoder, rows, tmp_path / "out", "--precision", "fp16")) == 2
    assert "--precision fp16 needs a GPU; leave it out, or give bf16" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_another_training_is_not_gone_on_with(
    bert_encoder: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*command(bert_encoder, rows, tmp_path, "--updates", "2")) == 0
    assert run(*command(bert_encoder, rows, tmp_path, "--updates", "3")) == 2
    assert "with another settings.updates; choose another --out" in capsys.readouterr().err
    assert run(*command(bert_encoder, rows, tmp_path, "--updates", "2", "--save-every", "9")) == 0


def remove_until_run(folder: Path, remove: Any = shutil.rmtree, **how: bool) -> None:
    for file in Path(folder).rglob("run.json"):
        file.unlink()
        raise KeyboardInterrupt
    remove(folder, **how)


def test_tests_may_be_added_to_a_finished_training(
    bert_encoder: Path, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def n(summary: dict[str, Any]) -> Any:
        return summary["scores"].get("as_given", {}).get("original", {}).get("n", {}).get("values")

    out = tmp_path / "out"
    plain = [*command(bert_encoder, rows, out, "--updates", "2"), "--seeds"]
    assert run(*plain, "2") == 0
    weights = (out / "seed-1" / "model.safetensors").stat().st_mtime_ns
    assert n(json.loads((out / "summary.json").read_text())) is None
    # the second seed has no scores yet
    assert run(*plain, "1", "--test", str(rows)) == 0
    assert n(json.loads((out / "summary.json").read_text())) == [40]
    assert run(*plain, "2", "--test", str(rows)) == 0
    assert n(json.loads((out / "summary.json").read_text())) == [40, 40]
    assert (out / "seed-1" / "model.safetensors").stat().st_mtime_ns == weights
    # a command without tests leaves those that were made; one killed at its end left its state
    (out / "seed-1" / "state.pt").touch()
    assert run(*plain, "2") == 0
    assert n(json.loads((out / "summary.json").read_text())) == [40, 40]
    assert not (out / "seed-1" / "state.pt").exists()
    # other rows take their place, also where the earlier run was being removed by a killed command
    other = write_rows(tmp_path / "other.jsonl", [row(number) for number in range(30)])
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", remove_until_run)
        assert run(*plain, "2", "--test", str(other)) == 130
    assert run(*plain, "2", "--test", str(other)) == 0
    assert n(json.loads((out / "summary.json").read_text())) == [30, 30]


def test_a_training_of_an_earlier_version_is_summed_up(
    bert_encoder: Path, rows: Path, tmp_path: Path
) -> None:
    asked = command(bert_encoder, rows, tmp_path, "--updates", "2")
    assert run(*asked) == 0
    file = tmp_path / "seed-1" / "training.json"
    described = json.loads(file.read_text())
    del described["settings"]["pair_batches"]  # as if there had been no such setting
    file.write_text(json.dumps(described))
    (tmp_path / "summary.json").unlink()
    assert run(*asked) == 0
    assert json.loads((tmp_path / "summary.json").read_text())["seeds"] == [1]


@pytest.mark.parametrize("option", ["--validation", "--validation-share", "--test"])
def test_published_data_brings_its_own_rows(
    option: str, bert_encoder: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = "0.5" if option == "--validation-share" else str(rows)
    asked = command(bert_encoder, Path("knowref"), tmp_path / "out", option, value)
    assert run(*asked) == 2
    assert f"{option} {value} has no effect on a training on knowref" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["gap", "knowref", "winopron"])
def test_own_rows_do_not_become_a_dataset_s_by_the_name_of_their_file(
    name: str, bert_encoder: Path, rows: Path, tmp_path: Path
) -> None:
    own = tmp_path / f"{name}.jsonl"
    own.write_bytes(rows.read_bytes())
    asked = command(bert_encoder, own, tmp_path / "out", "--updates", "2", "--test", str(own))
    assert run(*asked) == 0
    scores = json.loads((tmp_path / "out" / "summary.json").read_text())["scores"]
    assert scores.keys() == {"as_given", "prior_corrected"}


def test_rows_that_cannot_be_learnt_are_listed(
    bert_encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "x " * 40
    odd = [
        row(0, candidates=["Anna", "Zoe"]),
        row(1, label=2),
        row(2, text=f"Clara met Dora {long}she left .", candidates=["Clara", "Dora"]),
        row(3, candidates=["Dora", "Dora"]),
        row(4, pronoun={"text": "she", "start": -1, "end": -1}),
    ]
    train = write_rows(tmp_path / "train.jsonl", [*odd, *(row(n) for n in range(5, 21))])
    stop = write_rows(tmp_path / "stop.jsonl", [row(n, id=f"v{n}") for n in range(9)])
    options = ("--validation", str(stop), "--switching", "--updates", "2")
    assert run(*command(bert_encoder, train, tmp_path / "out", *options)) == 0
    lines = (tmp_path / "out" / "left-out.jsonl").read_text().splitlines()
    assert [(one["id"], one["reason"][:34]) for one in map(json.loads, lines)] == [
        ("own-0", "candidate 1 is not in the text"),
        ("own-1", "neither candidate is right"),
        ("own-2", "the candidates and the pronoun lie"),
        ("own-3", "both candidates have the same name"),
        ("own-4", "the pronoun is not in the text"),
    ]
    assert (
        "32 instances from 21 rows, stopped by 9 of 9 rows; 5 left out" in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"label": 7}, "line 2: the label is outside 0, 1 and 2"),
        ({"label": True}, "line 2: the label is outside 0, 1 and 2"),
        ({"id": "own-0"}, "line 2: its id is also that of line 1"),
        ({"pronoun": "xe"}, "line 2: the pronoun does not occur"),
        ({"candidates": ["Anna"]}, "line 2: there are not two candidates"),
    ],
)
def test_a_malformed_row_is_an_error(
    bert_encoder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    fault: str,
) -> None:
    own = write_rows(tmp_path / "own.jsonl", [row(0), row(1, **changes), *map(row, range(2, 30))])
    assert run(*command(bert_encoder, own, tmp_path / "out")) == 2
    error = capsys.readouterr().err
    assert fault in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--pair-batches"], "no pairs without switching; add --switching"),
        (["--consistency-penalty", "1", "--switching"], "add --switching --pair-batches"),
        (["--scorer", "spam"], "there is no scorer 'spam'; did you mean 'span'?"),
        (["--pooling", "mean", "--scorer", "span"], "leave --pooling out"),
        (["--keep", "all"], "--keep is 'all'; choose one of best, last"),
        (["--precision", "fp8"], "--precision is 'fp8'; choose one of auto"),
        (["--data", "knowrev"], "there is no training data 'knowrev'; did you mean 'knowref'?"),
        (["--data", "missing.jsonl"], "missing.jsonl: cannot be read"),
        (["--dataset", "out/gap"], "--dataset out/gap has no effect on a training on"),
        (["--sources", "upstream"], "--sources upstream has no effect on a training on"),
        (["--encoder", "missing"], "missing: there is no such folder"),
        (["--validation-share", "0"], "0 to stop by"),
        (["--validation-share", "0.5", "--validation", "held.jsonl"], "0.5 has no effect"),
        (["--epochs", "3", "--updates", "9"], "--epochs 3 and --updates 9 both say how long"),
        (
            ["--switching", "--pair-batches", "--batch-size", "5"],
            "5 texts holds no whole pairs",
        ),
    ],
)
def test_a_wrong_option_is_an_error(
    bert_encoder: Path,
    rows: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    fault: str,
) -> None:
    assert run(*command(bert_encoder, rows, tmp_path / "out", *options)) == 2
    assert fault in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_encoder_without_a_tokenizer_is_an_error(bert_encoder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((bert_encoder / name).read_bytes())
    with pytest.raises(InputError, match="tokenizer"):
        open_encoder(str(tmp_path))


def test_a_decoder_s_first_token_cannot_stand_for_a_text(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = transformers.GPT2Config(
        vocab_size=150, n_embd=16, n_layer=1, n_head=2, n_positions=32, bos_token_id=0
    )
    transformers.GPT2Model(config).save_pretrained(tmp_path / "decoder")
    tokenizer("bert", tmp_path / "decoder")
    asked = command(tmp_path / "decoder", rows, tmp_path / "out", "--updates", "1")
    assert run(*asked) == 2
    assert "its first token does not see the text" in capsys.readouterr().err
    assert run(*asked, "--pooling", "mean") == 0


def test_what_is_no_classifier_is_an_error(bert_encoder: Path) -> None:
    with pytest.raises(InputError, match=r"no classifier of antecedents.*pronominal train bert"):
        load("bert", checkpoint=str(bert_encoder))
    with pytest.raises(InputError, match="bert needs a checkpoint, for you train it yourself"):
        load("bert")


# what a classifier reads


def test_the_system_keeps_the_contract(bert_encoder: Path, rows: Path, tmp_path: Path) -> None:
    assert run(*command(bert_encoder, rows, tmp_path, "--updates", "2", "--scorer", "span")) == 0
    system = BERT(str(tmp_path / "seed-1"), device="cpu", batch_size=3)
    assert (kind_of(system), SYSTEMS["bert"].kind) == ("choosing", "choosing")
    asked = [instance(n) for n in range(20)]
    alone = [system.choose([one])[0] for one in asked]
    together = system.choose(asked[::-1])[::-1]
    torch.testing.assert_close(torch.tensor(alone), torch.tensor(together), atol=1e-6, rtol=1e-5)
    assert system.choose([]) == []
    absent = Mention("Zoe", -1, -1)
    half = ResolutionInstance(
        "half", asked[0].text, asked[0].pronoun, (absent, asked[0].candidates[1]), 1
    )
    none = ResolutionInstance("none", asked[0].text, asked[0].pronoun, (absent, absent), 1)
    assert system.choose([half, none]) == [[0, 1], [0, 0]]


def lengthened(one: ResolutionInstance, before: int, between: int) -> ResolutionInstance:
    """Put words before the text, and between the names and the pronoun."""
    head, middle = "her " * before, "her " * between
    cut = one.pronoun.start

    def moved(mention: Mention) -> Mention:
        shift = len(head) + (len(middle) if mention.start >= cut else 0)
        return Mention(mention.text, mention.start + shift, mention.end + shift)

    return ResolutionInstance(
        one.id,
        head + one.text[:cut] + middle + one.text[cut:] + " her" * 30,
        moved(one.pronoun),
        (moved(one.candidates[0]), moved(one.candidates[1])),
        one.label,
    )


@pytest.mark.parametrize("scorer", ["cls", "span"])
@pytest.mark.parametrize("before", [0, 5, 60])
def test_a_window_keeps_candidates_and_pronoun(
    bert_encoder: Path, scorer: str, before: int
) -> None:
    _, words, _ = open_encoder(str(bert_encoder))
    reader = InstanceEncoder(words, Classifier(scorer=scorer, max_length=32))  # type: ignore[arg-type]
    for number in range(6):
        one = lengthened(instance(number), before, between=8)
        (found,) = reader.encode([one])
        assert isinstance(found, EncodedInstance)
        assert found.length == 32
        read = [
            words.decode(found.sequences[min(i, len(found.sequences) - 1)][span.start : span.end])
            for i, span in enumerate(found.spans)
        ]
        names = [candidate.text.lower() for candidate in one.candidates]
        assert read == ([*names, "she"] if scorer == "span" else names)
    too_long = lengthened(instance(0), before, between=40)
    (refused,) = reader.encode([too_long])
    assert isinstance(refused, Unencodable)


def test_a_text_that_does_not_fit_is_named_and_gets_no_choice(
    bert_encoder: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = row(1, id="long", text=f"Anna met Bella {'her ' * 40}she left .")
    long["candidates"] = ["Anna", "Bella"]
    tests = write_rows(tmp_path / "tests.jsonl", [row(0), long])
    options = ("--updates", "2", "--scorer", "span", "--test", str(tests))
    assert run(*command(bert_encoder, rows, tmp_path, *options)) == 0
    printed = capsys.readouterr()
    assert re.search(r"original \(2\) +none +50\.0", printed.out)
    card = (tmp_path / "seed-1" / "README.md").read_text(encoding="utf-8")
    assert "| test, original | 2 | 50.0 [" in card
    named = [line for line in printed.err.splitlines() if "no choice" in line]
    assert {line[:37] for line in named} == {"pronominal: bert: id long: no choice,"}
    system = load("bert", checkpoint=str(tmp_path / "seed-1"))
    asked = [instance(0), lengthened(instance(1), 0, between=40)]
    with pytest.warns(UnreadableInstanceWarning, match="id own-1: no choice"):
        found = system.choose(asked)
    assert found[1] == [0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert system.choose(asked[:1]) == [pytest.approx(found[0])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna met Dora , and Anna said she left .", 20),  # the last one before the pronoun
        ("Anna met Dora , and she saw Anna .", 0),
        ("Dora knew that she saw Anna , and Anna left .", 23),  # else the first one after it
    ],
)
def test_the_mention_that_is_read(text: str, expected: int) -> None:
    first, second, she = text.index("Anna"), text.index("Dora"), text.index("she")
    one = ResolutionInstance(
        "own",
        text,
        Mention("she", she, she + 3),
        (Mention("Anna", first, first + 4), Mention("Dora", second, second + 4)),
        0,
    )
    assert nearest_mention(one, 0).start == expected
    renamed, other = with_placeholders(one), with_placeholders(switch(one))
    assert renamed
    assert other
    assert renamed.text == other.text
    assert all(m.stands_in(renamed.text) for m in (renamed.pronoun, *renamed.candidates))


@pytest.mark.parametrize(
    ("names", "rest", "called"),
    [
        (("Anna", "Dora"), "she is kind.", ("Jordan", "Taylor")),
        (("Anna", "Dora"), "she knows Jordan.", ("Taylor", "Morgan")),
        (("Anna", "Dora"), "she knows Taylor and Jordanna.", ("Jordan", "Morgan")),
        (("Taylor", "Jordan"), "she is kind to Jordan.", ("Jordan", "Taylor")),
        (("Jordan Lee", "Dora"), "she is kind.", ("Jordan", "Taylor")),
        (("Anna", "Dora"), "she has read Jordan, Taylor, Morgan and Casey.", ("Riley", "Jamie")),
    ],
)
def test_a_bystander_keeps_a_name_of_their_own(
    names: tuple[str, str], rest: str, called: tuple[str, str]
) -> None:
    text = f"{names[0]} asked {names[1]} why {rest}"
    places = [text.index(name) for name in (*names, " she ")]
    marked = [Mention(name, at, at + len(name)) for name, at in zip(names, places, strict=False)]
    she = Mention("she", places[2] + 1, places[2] + 4)
    one = ResolutionInstance("own", text, she, tuple(marked), 0)
    renamed, other = with_placeholders(one), with_placeholders(switch(one))
    assert renamed
    assert other
    assert tuple(name.text for name in renamed.candidates) == called
    assert renamed.text == other.text
    if names == ("Anna", "Dora"):
        assert renamed.text == f"{called[0]} asked {called[1]} why {rest}"
    for index in (0, 1):
        assert nearest_mention(renamed, index) == renamed.candidates[index].span


def test_a_name_that_cannot_be_replaced_is_not_read(bert_encoder: Path) -> None:
    one = instance(1)
    inside = Mention("Ann", one.candidates[0].start, one.candidates[0].start + 3)
    longer = replace(one, text=one.text.replace(one.candidates[0].text, "Annabelle"))
    she = longer.text.index("she")
    longer = replace(longer, pronoun=Mention("she", she, she + 3))
    second = longer.text.index(one.candidates[1].text)
    other = Mention(one.candidates[1].text, second, second + len(one.candidates[1].text))
    _, words, _ = open_encoder(str(bert_encoder))
    reader = InstanceEncoder(words, Classifier("span", max_length=32, placeholder_names=True))
    (refused,) = reader.encode([replace(longer, candidates=(inside, other))])
    assert isinstance(refused, Unencodable)
    assert "inside a longer word" in refused.reason


def test_a_prior_that_is_left_out_is_not_left_out_twice(
    bert_encoder: Path, many_rows: Path, tmp_path: Path
) -> None:
    options = ("--updates", "2", "--test", str(many_rows))
    for name, extra in (("plain", ()), ("corrected", ("--prior-correction",))):
        assert run(*command(bert_encoder, many_rows, tmp_path / name, *options, *extra)) == 0
    plain, corrected = (
        json.loads((tmp_path / name / "summary.json").read_text())["scores"]
        for name in ("plain", "corrected")
    )
    assert corrected["as_given"] == corrected["prior_corrected"] == plain["prior_corrected"]
    assert plain["as_given"] != plain["prior_corrected"]


def test_a_full_disk_while_the_classifier_is_saved_costs_nothing(
    bert_encoder: Path,
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object, **__: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    whole = command(bert_encoder, rows, tmp_path / "whole", "--updates", "3")
    assert run(*whole) == 0
    asked = command(bert_encoder, rows, tmp_path / "out", "--updates", "3")
    with monkeypatch.context() as patched:
        patched.setattr(weight_files, "save_file", full)
        assert run(*asked) == 2
    error = capsys.readouterr().err
    assert "cannot be saved (I/O error: No space left on device (os error 28))" in error
    assert error.count("\n") == 1
    assert {path.name for path in (tmp_path / "out" / "seed-1").iterdir()} >= {"state.pt"}
    assert not (tmp_path / "out" / "seed-1" / "model.safetensors").exists()
    assert run(*asked) == 0
    weights = [tmp_path / name / "seed-1" / "model.safetensors" for name in ("whole", "out")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_test_rows_without_a_switched_version_are_listed(
    bert_encoder: Path, rows: Path, tmp_path: Path
) -> None:
    alike = row(1, id="alike", candidates=["Bella", "Bella"])
    tests = write_rows(tmp_path / "tests.jsonl", [row(0), alike, row(2)])
    assert run(*command(bert_encoder, rows, tmp_path, "--updates", "2", "--test", str(tests))) == 0
    (line,) = (tmp_path / "left-out.jsonl").read_text().splitlines()
    reason = "both candidates have the same name"
    assert json.loads(line) == {
        "split": "test",
        "id": "alike",
        "version": "switched",
        "reason": reason,
    }
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["counts"]["left_out"] == 1
    assert summary["scores"]["as_given"]["switching"]["pairs"]["mean"] == 2


def test_two_trainings_do_not_share_a_folder(
    bert_encoder: Path, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = write_rows(tmp_path / "odd.jsonl", [row(n, label=2 if n < 3 else 0) for n in range(40)])
    out = tmp_path / "out"
    assert run(*command(bert_encoder, odd, out, "--updates", "2")) == 0
    left_out = (out / "left-out.jsonl").read_bytes()
    assert left_out.count(b"\n") == 3
    other = (*("--updates", "2"), *("--scorer", "span"), *("--first-seed", "2"))
    assert run(*command(bert_encoder, odd, out, *other)) == 2
    assert "another settings.classifier.scorer; choose another --out" in capsys.readouterr().err
    assert run(*command(bert_encoder, rows, out, "--updates", "2")) == 2
    assert (out / "left-out.jsonl").read_bytes() == left_out
    assert not (out / "seed-2").exists()


@pytest.mark.parametrize("missing", ["torch", "accelerate", "matplotlib"])
def test_a_missing_package_is_named_before_anything_is_trained(
    bert_encoder: Path,
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    missing: str,
) -> None:
    found = training.find_spec
    monkeypatch.setattr(
        training, "find_spec", lambda name: None if name == missing else found(name)
    )
    assert run(*command(bert_encoder, rows, tmp_path / "out")) == 2
    assert (
        f'needs the package {missing}; pip install "pronominal[train]"' in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


def test_the_weights_are_safe_tensors_that_plain_transformers_takes(
    bert_encoder: Path, rows: Path, tmp_path: Path
) -> None:
    assert run(*command(bert_encoder, rows, tmp_path, "--updates", "2")) == 0
    tensors = load_file(tmp_path / "seed-1" / "model.safetensors")
    _, report = transformers.AutoModel.from_pretrained(
        tmp_path / "seed-1", output_loading_info=True
    )
    assert not report["missing_keys"]
    assert set(report["unexpected_keys"]) == {n for n in tensors if n.startswith("antecedent_head")}
