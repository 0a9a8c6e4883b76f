"""The command ``pronominal``: one app, one line for each error."""

import sys
from importlib.metadata import version
from typing import Annotated, cast

import typer

from pronominal.cli import (
    building,
    converting,
    leakcheck,
    publishing,
    reporting,
    running,
    switching,
)
from pronominal.errors import InputError

# newer versions of typer carry their own click: this is the base of usage errors in every one
USAGE_ERROR = cast(type[Exception], typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="pronominal",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Measure how coreference systems and language models handle English pronouns."""
    if show_version:
        print(version("pronominal"))
    elif context.invoked_subcommand is None:
        print(context.get_help())


app.command("datasets")(building.datasets)
app.command("build")(building.build)
app.command("validate")(building.validate)
app.command("publish")(publishing.publish)
app.command("access")(publishing.access)
app.command("leakcheck")(leakcheck.leakcheck)
app.command("switch")(switching.switch)
app.command("hydrate")(switching.hydrate)
app.command("convert")(converting.convert)
app.command("systems")(running.systems)
app.command("run")(running.run)
app.command("score")(running.score)
app.command("evaluate")(running.evaluate)
app.command("report")(reporting.report)


def main() -> None:
    """Run the command line; exit with 0 (done), 1 (a check found something) or 2 (wrong input)."""
    try:
        status = app(standalone_mode=False)
    except (InputError, USAGE_ERROR) as error:
        if "--debug" in sys.argv:
            raise
        message: str = getattr(error, "format_message", error.__str__)()
        print(f"pronominal: {' '.join(message.split())}", file=sys.stderr)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
    sys.exit(status or 0)
