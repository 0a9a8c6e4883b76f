"""The pages of the site that are made from others: cards, commands, gallery, changes."""

import re
import tempfile
from pathlib import Path

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.cli import get_docs_for_click
from typer.testing import CliRunner

from pronominal.adapters import SYSTEMS
from pronominal.cli.main import app
from pronominal.dataset_scripts import DATASETS

ROOT = Path(__file__).resolve().parent.parent
CARDS = {path.stem: path for path in sorted((ROOT / "cards").glob("*.md"))}
SHARED_CARDS = {
    "toy": "toy-",
    "corenlp": "corenlp-",
    "lm": "lm-",
    "gap-parallelism": "gap-parallelism-",
}
GALLERY = """# Gallery

[The report on the embedded sample](gallery/report.html) is what these commands write. Each of its
systems has one fault that was planted ([which](systems/toy.md)), and the first screen names it: no
*xe*, stereotypes with *he* and *she*, one mention for both endings of a sentence. All of its
sentences are our own, so the rows can be read in it, too.
[How to read it](report.md).

```
{commands}
```

[A leaderboard](gallery/leaderboard/index.html) has the same runs and the papers' published figures.
[How to make one](leaderboard.md).

```
{leaderboard}
```
"""
GALLERY_COMMANDS = (
    "pronominal build sample --out out",
    "pronominal evaluate --dataset out/sample --config double --out runs "
    "--system toy-nine-in-ten --system toy-blind-to-xe --system toy-stereotypes "
    "--system first-mention --system random",
    "pronominal report runs --out report.html --dataset out/sample --include-text",
)
LEADERBOARD = "pronominal leaderboard runs --out leaderboard --dataset out/sample"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    pages = {
        "changes.md": _changes(),
        "commands.md": _commands(),
        "gallery.md": GALLERY.format(commands="\n".join(GALLERY_COMMANDS), leaderboard=LEADERBOARD),
        **_gallery(),
    }
    for name in {_card(system) for system in SYSTEMS} - {None}:
        pages[f"systems/{name}.md"] = CARDS[str(name)].read_text(encoding="utf-8")
    for place, content in pages.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Take the citations from the datasets' cards, and link systems to theirs on the site."""
    markdown = markdown.replace("](../cards/", "](systems/")
    if page.file.src_uri == "compatibility.md":
        return re.sub(r"^\| `(\S+)` \|", _linked, markdown, flags=re.M)
    return markdown.replace("{citations}", _citations())


def on_post_page(output: str, **_: object) -> str:
    """Name the theme's search, which is a dialog without a name."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_template(output: str, **_: object) -> str:
    """Do the same on the page for addresses that there are not."""
    return on_post_page(output)


def _changes() -> str:
    """The changelog; its links start at the repository's root, those of the site at `docs`."""
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")


def _card(system: str) -> str | None:
    """Return the card of a system: its own, or the one that it shares with its family."""
    family = (card for card, start in SHARED_CARDS.items() if system.startswith(start))
    name = system if system in CARDS else next(family, None)
    return name if name in CARDS else None


def _linked(system: re.Match[str]) -> str:
    card = _card(system[1])
    return f"| [`{system[1]}`](systems/{card}.md) |" if card else system[0]


def _commands() -> str:
    command = typer.main.get_command(app)
    return get_docs_for_click(obj=command, ctx=typer.Context(command), name="pronominal")


def _gallery() -> dict[str, str]:
    """Return the files that the gallery's commands write, by their places on the site."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = ("leaderboard", "out", "out/sample", "report.html", "runs")
        for line in (*GALLERY_COMMANDS, LEADERBOARD):
            words = [str(folder / word) if word in written else word for word in line.split()[2:]]
            result = CliRunner().invoke(app, [line.split()[1], *words], catch_exceptions=False)
            if result.exit_code:
                raise RuntimeError(f"{line}: {result.output}")
        files = [folder / "report.html", *(folder / "leaderboard").rglob("*.*")]
        return {
            f"gallery/{file.relative_to(folder).as_posix()}": file.read_text(encoding="utf-8")
            for file in files
            if file.suffix in (".css", ".html", ".jsonl")
        }


def _citations() -> str:
    sections = []
    for name in DATASETS:
        found = re.search(r"^## Cite\n(.*?)(?=^## |\Z)", CARDS[name].read_text(), re.M | re.S)
        if found:
            sections.append(f"## {name}\n{found[1]}")
    return "\n".join(sections)
