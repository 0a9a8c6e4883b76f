"""The programs of environments: started as they are there, with stand-ins for what they import."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pronominal import Span
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.remote.command import command
from tests.conftest import ROOT

PROGRAMS = ROOT / "adapters" / "remote" / "programs"

TEXT = "Ann slept.  She \n dreamt of 🐌 Bo, and she smiled."

# each links the first word of a text with every "she"
ALLENNLP = """
import spacy

class CorefPredictor:
    @classmethod
    def from_path(cls, archive):
        assert archive.endswith(".tar.gz"), archive
        print("loading", archive)
        made = cls()
        made._spacy = spacy.blank("en")
        return made

    def predict_tokenized(self, words):
        print("noise on standard output")
        if "poison" in words:
            raise ValueError("cannot read the secret sentence")
        chain = [[0, 0]] + [[i, i] for i, w in enumerate(words) if w.lower() == "she"]
        return {"document": words, "clusters": [chain]}
"""
MAVERICK = """
class Maverick:
    def __init__(self, hf_name_or_path, device):
        print(hf_name_or_path, "loading on", device)

    def predict(self, sentences):
        print("noise on standard output")
        assert all(sentences) and not any(w.isspace() for s in sentences for w in s)
        words = [word for sentence in sentences for word in sentence]
        if "poison" in words:
            raise ValueError("cannot read the secret sentence")
        chain = [(0, 0)] + [(i, i) for i, w in enumerate(words) if w.lower() == "she"]
        return {"tokens": words, "clusters_token_offsets": [chain], "clusters_char_offsets": None}
"""
STAND_INS = {
    "allennlp_coreference.py": ("allennlp_models/coref/predictors/coref.py", ALLENNLP),
    "maverick_coreference.py": ("maverick/__init__.py", MAVERICK),
}


@pytest.fixture(scope="module", params=STAND_INS)
def system(
    request: pytest.FixtureRequest, without_torch: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    path, code = STAND_INS[request.param]
    environment = tmp_path_factory.mktemp("environment")
    (environment / path).parent.mkdir(parents=True)
    (environment / path).write_text(code)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", f"{environment}{os.pathsep}{without_torch}")
        yield command([sys.executable, str(PROGRAMS / request.param)])


def test_every_text_is_answered_with_its_offsets(system: Any) -> None:
    answers = system.cluster([TEXT, "", " ", "Bo and she slept."])
    words = [[TEXT[start:end] for start, end in cluster] for cluster in answers[0]]
    assert words == [["Ann", "She", "she"]]
    assert answers[1:3] == [[], []]
    assert [[Span(*span) for span in cluster] for cluster in answers[3]] == [
        [Span(0, 2), Span(7, 10)]
    ]


def test_a_text_at_fault_is_named_without_quoting_it(
    system: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RefusedTextError, match=r"inputs\[1\].*an error: 'ValueError'") as caught:
        system.cluster(["Ann slept.", "Ann ate poison."])
    assert "secret" not in str(caught.value) + "".join(capfd.readouterr())
