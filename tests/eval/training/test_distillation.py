"""A small system learns what a large one finds in text that nobody has annotated."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from pronominal import InputError, Span
from pronominal.eval.training import distillation
from pronominal.eval.training.data.request import DistillationRequest
from pronominal.eval.training.distillation import LABELS, STATE, label_texts
from tests.conftest import ROOT
from tests.eval.training.coreference_rows import row, run

PLACE = f"{__name__}:FirstName"


class FirstName:
    """Links *she* with the name that begins the text, and a name with a part of a word."""

    name = "first-name"

    def cluster(self, texts: Sequence[str]) -> list[list[list[Span]]]:
        if any("refused" in text for text in texts):
            raise ValueError("no such text")
        return [
            [
                [Span(0, text.index(" ")), Span(text.index(" she ") + 1, text.index(" she ") + 4)],
                [Span(0, 2), Span(1, 3)],
            ]
            for text in texts
        ]


def asked(file: Path, **given: object) -> DistillationRequest:
    return DistillationRequest(teacher=PLACE, text=[file], **given)  # type: ignore[arg-type]


def no_progress(task: str) -> object:
    from contextlib import nullcontext

    return nullcontext(lambda done: None)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("texts") / "texts.txt"
    lines = [row(number)["text"] for number in range(40)]
    lines[7] = "Anna said that she was refused ."
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_labels_are_what_the_teacher_says_of_whole_words(texts: Path, tmp_path: Path) -> None:
    counts = label_texts(asked(texts), tmp_path, no_progress)  # type: ignore[arg-type]
    assert counts == {
        "texts": 40,
        "failed": 1,
        "with_clusters": 39,
        "mentions": 78,
        "mentions_in_words": 78,
    }
    first, *others = [json.loads(line) for line in (tmp_path / LABELS).open(encoding="utf-8")]
    assert len(others) == 38
    [[name, pronoun]] = first["clusters"]
    assert first["text"][slice(*name)] == first["text"].split()[0]
    assert first["text"][slice(*pronoun)] == "she"


def test_a_teacher_that_was_stopped_goes_on(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distillation, "CHUNK", 9)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    label_texts(asked(texts), whole, no_progress)  # type: ignore[arg-type]
    cluster, calls = FirstName.cluster, []

    def stop(self: FirstName, given: Sequence[str]) -> list[list[list[Span]]]:
        calls.append(len(given))
        if len(given) == 9 and calls.count(9) == 3:
            raise KeyboardInterrupt
        return cluster(self, given)

    monkeypatch.setattr(FirstName, "cluster", stop)
    with pytest.raises(KeyboardInterrupt):
        label_texts(asked(texts), stopped, no_progress)  # type: ignore[arg-type]
    with (stopped / LABELS).open("ab") as file:
        file.write(b'{"text": "half a li')
    monkeypatch.setattr(FirstName, "cluster", cluster)
    label_texts(asked(texts), stopped, no_progress)  # type: ignore[arg-type]
    assert (stopped / LABELS).read_bytes() == (whole / LABELS).read_bytes()
    assert (stopped / STATE).read_bytes() == (whole / STATE).read_bytes()


def test_labels_of_other_texts_are_not_mixed(texts: Path, tmp_path: Path) -> None:
    label_texts(asked(texts), tmp_path / "out", no_progress)  # type: ignore[arg-type]
    other = tmp_path / "other.txt"
    other.write_text("Anna said that she was tired .\n", encoding="utf-8")
    with pytest.raises(InputError, match="another texts"):
        label_texts(asked(other), tmp_path / "out", no_progress)  # type: ignore[arg-type]


def test_a_teacher_without_clusters_is_refused(texts: Path, tmp_path: Path) -> None:
    request = DistillationRequest(teacher="random", text=[texts])
    with pytest.raises(InputError, match="gives no clusters"):
        label_texts(request, tmp_path, no_progress)  # type: ignore[arg-type]


@pytest.mark.usefixtures("blank_pictures")
def test_a_student_learns_what_its_teacher_says(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begins = ("--checkpoint", ROOT / "tests" / "goldens" / "caw" / "checkpoint")
    length = ("--updates", 60, "--validate-every", 30, "--batch-size", 16)
    rates = ("--task-learning-rate", 3e-3, "--encoder-learning-rate", 2e-3)
    command = ["distil", "caw", "--teacher", PLACE, "--text", texts]
    assert run([*command, *begins, *length, *rates, "--out", tmp_path / "out"]) == 0
    assert "39 with clusters" in capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["validation"]["documents"]["conll"]["f1"]["mean"] > 0.9
