"""The page about speed has the figures that its benchmarks printed, and no others."""

import json
import runpy
from typing import Any

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def performance() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "performance.py"))


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return dict(json.loads((ROOT / "docs" / "performance.json").read_text("utf-8")))


def test_the_page_has_what_was_measured(performance: dict[str, Any], kept: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    again = performance["written"](page, "waiting", [*performance["lines_of"](kept)])
    growth = performance["growth_of"](kept)
    again = performance["written"](again, "growth", [*performance["growth_lines"](growth)])
    assert again == page, "python benchmarks/performance.py writes the page"


def test_what_was_not_measured_stands_in_no_table(
    performance: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert kept.keys() <= {*performance["MEASURED"]}
    few = {"optional_stopping": kept["optional_stopping"]}
    assert len([*performance["lines_of"](few)]) == 3
