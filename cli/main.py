"""The command ``pronominal``: one app, one line for each error."""

import io
import os
import sys
import traceback
import warnings
from typing import Annotated, Any, cast

import typer

from pronominal.cli.menu import HELP, Menu
from pronominal.errors import InputError, printable

# newer versions of typer carry their own click: this is the base of usage errors in every one
USAGE_ERROR = cast(type[Exception], typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="pronominal",
    cls=Menu,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the help of all commands is printed without what draws boxes
    context_settings={"help_option_names": HELP},
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Measure how coreference systems and language models handle English pronouns."""
    if show_version:
        from importlib.metadata import version

        print(version("pronominal"))
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the command line; exit with 0 (done), 1 (a check found something) or 2 (wrong input)."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_plainly(
            message: Warning | str, category: type[Warning], *where: Any, **others: Any
        ) -> None:
            if issubclass(category, UserWarning):
                told = printable(" ".join(str(message).split()))
                print(f"pronominal: {told}", file=sys.stderr)
            else:
                show(message, category, *where, **others)

        warnings.showwarning = show_plainly
        _run()


def _run() -> None:
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that has no arrows shows a question mark
            stream.reconfigure(errors="replace")
    # a shell's `>&-` closes it, and then Python has none
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    try:
        status = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as end:
        # typer and rich turn the first one into an exit of their own
        if not isinstance(end, BrokenPipeError) and not isinstance(
            end.__context__, BrokenPipeError
        ):
            raise
        # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (InputError, OSError, USAGE_ERROR) as error:
        if debug:
            traceback.print_exc()
        message = _message(error)
        if message:  # a group of commands without one has printed its help instead
            print(f"pronominal: {printable(' '.join(message.split()))}", file=sys.stderr)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
    sys.exit(status or 0)


def _message(error: Exception) -> str:
    """Say what is wrong and what to do; empty of a group of commands without one."""
    if isinstance(error, OSError):
        named = error.filename2 or error.filename  # of a move, where to and not what
        cause, cure = error.strerror or str(error), "give a place that can be used"
        return str(InputError(cause, cure=cure, file=named))
    message: str = getattr(error, "format_message", error.__str__)()
    context = getattr(error, "ctx", None)
    if context is None or not message or message.endswith("?"):
        return message
    return f"{message.rstrip('.')}; see '{context.command_path} --help'"
