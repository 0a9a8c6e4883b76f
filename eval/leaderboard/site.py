"""The pages of a leaderboard: static files that any web server shows, or a Space of the Hub."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup

from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.eval.leaderboard import sentences
from pronominal.eval.leaderboard.boards import Board, Leaderboard
from pronominal.eval.leaderboard.entries import Entry, Ranked
from pronominal.eval.leaderboard.records import records
from pronominal.eval.leaderboard.row_files import write_rows
from pronominal.eval.report.charts.svg import palette
from pronominal.eval.report.page import page_templates
from pronominal.eval.tables.table import slug
from pronominal.opaque_ids import IdKey

MARK = "<!-- written by pronominal leaderboard -->"
"""The first line of ``index.html``, by which a later leaderboard may replace the folder."""

OURS = ("README.md", "datasets", "index.html", "leaderboard.jsonl", "rows", "style.css", "systems")
"""What the folder of a leaderboard holds."""

SPACE = """---
title: {title}
emoji: 🏆
sdk: static
app_file: index.html
short_description: How well systems handle English pronouns
---

Static pages, made by `pronominal leaderboard`. `leaderboard.jsonl` has one line for each entry.
"""


@dataclass(frozen=True)
class Site:
    """What the pages show.

    Attributes:
        name: of the leaderboard.
        leaderboards: dataset -> its boards.
    """

    name: str
    leaderboards: Mapping[str, Leaderboard]

    @cached_property
    def by_label(self) -> dict[str, list[tuple[Board, Ranked | None, Entry]]]:
        """Label -> the boards that it is on, with its place where it is a run."""
        found: dict[str, list[tuple[Board, Ranked | None, Entry]]] = {}
        for board in self.boards:
            for one in board.ranked:
                found.setdefault(one.entry.label, []).append((board, one, one.entry))
            for entry in board.published:
                found.setdefault(entry.label, []).append((board, None, entry))
        return found

    @property
    def boards(self) -> list[Board]:
        """All boards."""
        return [board for one in self.leaderboards.values() for board in one.boards]

    def write(self, out: Path, key: IdKey | None = None) -> None:
        """Write all pages, in place of an earlier leaderboard.

        Args:
            out: the folder.
            key: where given, what each run answered to each row is written, too, with opaque ids.

        Raises:
            InputError: the folder holds something that no leaderboard wrote.
        """
        refuse_other_folder(out)
        with new_folder(out) as beside:
            for place, content in self._files():
                (beside / place).parent.mkdir(exist_ok=True)
                (beside / place).write_text(content, encoding="utf-8", newline="\n")
            if key is not None:
                write_rows(self.boards, beside / "rows", key)

    def _files(self) -> Iterator[tuple[str, str]]:
        pages = _environment(self)
        runs = sum(len(board.ranked) for board in self.boards)
        published = sum(len(board.published) for board in self.boards)
        yield "README.md", SPACE.format(title=json.dumps(self.name))
        style = (files(__package__) / "style.css").read_text(encoding="utf-8")
        yield "style.css", palette() + style
        yield "leaderboard.jsonl", "".join(f"{json.dumps(one)}\n" for one in records(self.boards))
        index = pages.get_template("index.html")
        of_all = {"title": self.name, "here": "", "runs": runs, "published": published}
        yield "index.html", index.render(up="", **of_all)
        dataset = pages.get_template("dataset.html")
        for name, leaderboard in self.leaderboards.items():
            shown = dataset.render(up="../", title=name, here=name, leaderboard=leaderboard)
            yield f"datasets/{name}.html", shown
        system = pages.get_template("system.html")
        for label, entries in self.by_label.items():
            shown = system.render(up="../", title=label, here=None, entries=entries)
            yield f"systems/{label}.html", shown


def refuse_other_folder(out: Path) -> None:
    """Raise `InputError` for a folder that holds something that no leaderboard wrote."""
    if not out.exists():
        return
    cure = "give a new folder, or that of an earlier leaderboard"
    if not out.is_dir():
        raise InputError("it is a file", cure=cure, file=out)
    names = sorted(file.name for file in out.iterdir())
    index = out / "index.html"
    earlier = index.is_file() and index.read_bytes().startswith(MARK.encode())
    other = next((name for name in names if name not in OURS or not earlier), None)
    if other is not None:
        cause = f"the folder would be replaced, and it holds {other}, of no leaderboard"
        raise InputError(cause, cure=cure, file=out)


def _environment(site: Site) -> jinja2.Environment:
    environment = page_templates("pronominal.eval.leaderboard")
    environment.filters |= {"of_100": lambda share: f"{100 * share:.1f}%", "slug": slug}
    environment.globals |= {
        "mark": Markup(MARK),
        "name": site.name,
        "version": version("pronominal"),
        "leaderboards": site.leaderboards,
        "labels": site.by_label.keys(),
        "answer_of": sentences.answer_of,
        "place_of": sentences.place_of,
        "notes_of": sentences.notes_of,
        "notes_on": sentences.notes_on,
        "parts_of": sentences.parts_with_figures,
        "weakest_of": sentences.weakest_of,
        "facts_of": sentences.facts_of,
        "weights_of": sentences.weights_of,
    }
    return environment
