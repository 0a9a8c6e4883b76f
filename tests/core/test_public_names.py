"""`import pronominal` gives the public names, and loads what they need when they are used."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import pronominal


def test_the_import_loads_nothing_heavy() -> None:
    check = "import sys, pronominal; print({'numpy', 'pyarrow', 'datasets'} & set(sys.modules))"
    command = [sys.executable, "-c", check]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "set()\n"


def test_every_public_name_is_listed() -> None:
    assert {*pronominal.__all__, "__version__"} == {*dir(pronominal)}
    assert pronominal.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        _ = pronominal.evalute


@pytest.mark.parametrize("name", ["evaluate", "score", "report"])
def test_help_writes_types_as_the_docs_do(name: str) -> None:
    signature = str(inspect.signature(getattr(pronominal, name)))
    assert "pronominal." not in signature
    assert "pathlib." not in signature


def test_a_dataset_is_built_and_read(tmp_path: Path) -> None:
    folder = pronominal.build("sample", tmp_path)
    assert folder == tmp_path / "sample"
    split = pronominal.load_split(folder, "single")
    first = next(iter(split))
    assert len(split) == 576
    assert first.candidates[first.label].stands_in(first.text)
    assert first.columns["pronoun_set"] == "he"


def test_options_are_given_by_keyword(tmp_path: Path) -> None:
    sets = (*pronominal.PRONOUN_SETS, pronominal.PronounSet("ze", "ze", "zir", "zir"))
    (tmp_path / "ze.toml").write_text('[ze]\nnominative="ze"\naccusative="zir"\npossessive="zir"\n')
    digests = {
        pronominal.load_split(pronominal.build("sample", tmp_path / out, pronouns=given)).digest
        for out, given in (("value", sets), ("file", tmp_path / "ze.toml"))
    }
    assert len(digests) == 1
    with pytest.raises(pronominal.InputError, match="sample has no option 'repair_case'"):
        pronominal.build("sample", tmp_path, repair_case=True)
