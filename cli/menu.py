"""The commands by what one wants, each imported when it is called: the help of all imports none."""

from collections.abc import Iterator, MutableMapping
from functools import cache
from importlib import import_module
from inspect import cleandoc
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from pronominal.cli.command import Command


class Entry(NamedTuple):
    """A command of the menu.

    Attributes:
        place: of its function or `typer.Typer`, as ``module:attribute`` below ``pronominal.cli``.
        summary: what it does, in a line of the menu.
        kind: the place of the class that the command is of, where it is one of ours.
    """

    place: str
    summary: str
    kind: str | None = None


MENU: dict[str, dict[str, Entry]] = {
    "Data": {
        "build": Entry("building:build", "Build a dataset: tables, card and checksums."),
        "datasets": Entry("building:datasets", "List the datasets that can be built."),
        "validate": Entry("building:validate", "Check a dataset's upstream files."),
        "switch": Entry("switching:switch", "Let the candidates of rows change places."),
        "construct": Entry("constructing:construct", "Make a corpus from text of your own."),
        "annotate": Entry("annotating:annotate", "Ask people: sheets, answers, agreement."),
        "hydrate": Entry("switching:hydrate", "Fill in KnowRef's text from posts you hold."),
    },
    "Evaluate": {
        "evaluate": Entry("evaluating:evaluate", "Run, score and compare systems on a split."),
        "score": Entry("scoring:score", "Score a run, or a file of predictions.",
                       "declared_options:TaskCommand"),
        "systems": Entry("diagnosing:systems", "List the systems and what each needs."),
        "run": Entry("running:run", "Let one system predict, without scores."),
        "plan": Entry("planning:plan", "Fix what will be compared before there are numbers."),
        "reread": Entry("running:reread", "Read a run's clusters by another decision rule."),
        "merge": Entry("running:merge", "Put the shards of a run together."),
    },
    "Report and papers": {
        "report": Entry("reporting:report", "Write one page about runs, with tables and charts."),
        "leaderboard": Entry("leaderboard:leaderboard", "Write pages with the places of runs."),
        "check-run": Entry("leaderboard:check_run", "Check runs that were submitted."),
        "reproduce": Entry("reporting:reproduce", "Print a paper's figures beside yours."),
        "replicate": Entry("replicating:replicate", "Run what a paper's table needs; compare."),
    },
    "Train": {
        "train": Entry("training:train", "Train a system, once for each seed."),
        "distil": Entry("distilling:distil", "Train a small system on a large one's answers."),
        "fetch": Entry("fetching:fetch", "Download a system's published weights."),
        "convert": Entry("converting:convert", "Rewrite an upstream checkpoint without pickles."),
    },
    "Publish": {
        "publish": Entry("publishing:publish", "Publish a dataset behind a gate that was tried."),
        "access": Entry("publishing:access", "Answer requests for access to a dataset."),
        "leakcheck": Entry("leakcheck:leakcheck", "Find evaluation sentences where none may be."),
        "ids": Entry("opaque_ids:app", "Opaque ids for what is published: key, resolve."),
        "overlap": Entry("leakcheck:overlap", "Say how much of a dataset a corpus holds."),
    },
    "Exchange": {
        "export": Entry("exporting:export", "Write a dataset for another program."),
        "import": Entry("importing:import_predictions", "Score what another program wrote."),
        "score-conll": Entry("importing:score_conll", "Score clusters by CoNLL's metrics."),
    },
    "Look after": {
        "doctor": Entry("diagnosing:doctor", "Say what runs here, and what is missing."),
        "check-system": Entry("diagnosing:check_system", "Check the promises of a system."),
        "env": Entry("diagnosing:env", "Environments for systems with old dependencies."),
    },
}  # fmt: skip
"""What one wants -> its commands, the most used first."""


class MenuCommands(MutableMapping[str, Any]):
    """The commands by their names; one is made when it is asked for."""

    def __init__(self) -> None:
        self._entries = {name: one for group in MENU.values() for name, one in group.items()}
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self._made.get(name) or _command(name, self._entries[name])

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


HELP = ["-h", "--help"]
"""What shows a command's help."""


class Menu(TyperGroup):
    """The group of all commands, whose help is the menu."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "commands": {}})
        self.commands = MenuCommands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in the order of the menu."""
        return [*self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the menu, a section for each thing that one may want."""
        width = max(map(len, self.commands))
        for title, entries in MENU.items():
            with formatter.section(title):
                rows = [(name.ljust(width), one.summary) for name, one in entries.items()]
                formatter.write_dl(rows)


@cache
def _command(name: str, entry: Entry) -> Any:
    """Import a command and make it, once in a process, with a help that is easily read."""
    found, app = _at(entry.place), typer.Typer(add_completion=False)
    if isinstance(found, typer.Typer):
        _make_careful(found)
        app.add_typer(found, name=name, short_help=entry.summary)
    else:
        kind = Command if entry.kind is None else _at(entry.kind)
        app.command(name, cls=kind, short_help=entry.summary)(found)
    command = get_group(app).commands[name]
    _make_readable(command)
    return command


def _make_careful(app: typer.Typer) -> None:
    """Let the commands of a group refuse what `Command` does."""
    for one in app.registered_commands:
        one.cls = Command if one.cls is TyperCommand else one.cls


def _make_readable(command: Any) -> None:
    """Let each paragraph of a help be one line, and show no type of what takes no value.

    Else lines are broken where the source has them, and ``--full <bool>`` seems to want a word.
    """
    paragraphs = cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(one.replace("\n", " ") for one in paragraphs)
    context = typer.Context(command, help_option_names=HELP)
    for parameter in (*command.params, command.get_help_option(context)):
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _make_readable(below)


def _at(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"pronominal.cli.{module}"), attribute)
