"""The pages name files and folders that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULE = re.compile(r"`([\w./-]+/[\w.-]+\.py)`")
FOLDER = re.compile(r"`((?:adapters|benchmarks|cli|core|dataset_scripts|eval|tests)/[\w./-]*)`")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
OF_A_NEW_PART = re.compile(r"\bNAME\b|_NAME\.")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_in_the_pages_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = {*MODULE.findall(text), *FOLDER.findall(text)}
    missing = {path for path in named if not (ROOT / path).exists()}
    assert not {path for path in missing if not OF_A_NEW_PART.search(path)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_in_a_clone(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
