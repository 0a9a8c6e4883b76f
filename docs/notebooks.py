"""The notebooks, made of the tutorials: ``python docs/notebooks.py`` writes ``docs/notebooks``.

Prose becomes cells of text; a Python tab becomes a cell, and so do commands that have none. What
installs something is a cell of its own. Outputs are empty.
"""

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
TUTORIALS = {
    "first-table": "## On WinoPron",
    "measure-a-model": "## Other ways to ask",
    "training": "## Coreference systems",
}
"""Name of a page -> the heading where its notebook ends."""

BLOCK = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```\n", re.M | re.S)
TAB = re.compile(r'^=== "(Command|Python)"\n', re.M)
LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?:)[^)]+\)")
KEPT_AS_TEXT = ("", "text", "sh", "py")
"""Languages of blocks that are shown, not run."""

POINTER = re.compile(r"^This page is also \[a notebook\].*\n\n", re.M)


def notebook(page: str) -> str:
    """Return a tutorial as a notebook, in JSON."""
    whole_page = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    text = POINTER.sub("", whole_page.split(f"\n{TUTORIALS[page]}")[0])
    cells = [
        {"cell_type": kind, "id": f"{page}-{number}", "metadata": {}, "source": source}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for number, (kind, source) in enumerate(_cells(text))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole: dict[str, Any] = {"cells": cells, "metadata": {"kernelspec": kernel}}
    return json.dumps(whole | {"nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cells(text: str) -> Iterator[tuple[str, str]]:
    prose, end, tab = "", 0, ""
    for block in BLOCK.finditer(text):
        between = text[end : block.start()]
        tabs = TAB.findall(between)
        # a tab ends where text that is not indented follows its block
        tab = tabs[-1] if tabs else tab if block[1] else ""
        prose, end = prose + TAB.sub("", between), block.end()
        source = textwrap.dedent(block[4])
        if block[2] in KEPT_AS_TEXT:
            prose += block[0]
            continue
        code = [*_code(block[2], block[3], source, tab == "Command")]
        if code and prose.strip():
            yield "markdown", _plain(prose)
        prose = "" if code else prose
        yield from (("code", one) for one in code)
    if (prose + text[end:]).strip():
        yield "markdown", _plain(prose + text[end:])


def _code(language: str, about: str, source: str, has_python: bool) -> Iterator[str]:
    """Yield the cells of a block; what the Python tab does is left out of the command's."""
    if title := re.search(r'title="([^"]+)"', about):
        yield f"%%writefile {title[1]}\n{source.rstrip()}"
    elif language == "python":
        yield source.rstrip()
    elif language == "bash":
        installed = [line for line in source.splitlines() if line.startswith("pip install")]
        yield from (f"%{line}" for line in installed)
        rest = "\n".join(line for line in source.splitlines() if line not in installed)
        if rest.strip() and not has_python:
            yield f"%%bash\n{rest}"


def _plain(prose: str) -> str:
    """Return text without pictures and without links that lead to other pages."""
    text = LINK.sub(lambda link: "" if link[1] else link[2], prose)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def main() -> None:
    """Write all notebooks."""
    for page in TUTORIALS:
        file = DOCS / "notebooks" / f"{page}.ipynb"
        file.write_text(notebook(page), encoding="utf-8")


if __name__ == "__main__":
    main()
