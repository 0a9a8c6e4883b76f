"""The README's picture shows what the demo's report says today."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pronominal
from tests.conftest import ROOT


def test_the_picture_is_of_the_report_of_today(sample: Path, tmp_path: Path) -> None:
    (named,) = re.findall("^DEMO_SYSTEMS = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    runs = tmp_path / "runs"
    results = pronominal.evaluate(sample, named.split(), config="double", out=runs)
    page = results.report(tmp_path / "report.html").read_text(encoding="utf-8")
    spec = spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    picture = module_from_spec(spec)
    spec.loader.exec_module(picture)
    in_picture = (ROOT / "docs" / "report.txt").read_text(encoding="utf-8")
    cure = "make demo, then python docs/picture.py, and look at docs/report.png"
    assert picture.words(page) == in_picture, cure
