"""What every command refuses: an option that is given twice, and two forms of one output."""

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from pronominal.errors import InputError

FORMS = ("as_json", "markdown", "latex")
"""Options without a word, of which each says in what form to print."""


class Command(TyperCommand):
    """A command that refuses what it would pass over: all but the last of an option's words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command's name."""
        if ctx.resilient_parsing:  # a shell asks for completions
            return super().parse_args(ctx, args)
        order: list[Any] = self.make_parser(ctx).parse_args(args=[*args])[2]
        options = Counter(one for one in order if one.param_type_name == "option")
        for one, times in options.items():
            if times > 1 and not (one.multiple or one.is_flag):
                raise InputError(f"{one.opts[0]} is given {times} times", cure="give it once")
        forms = [one.opts[0] for one in options if one.name in FORMS and one.is_flag]
        if len(forms) > 1:
            raise InputError(f"{' and '.join(forms)} are two forms of output", cure="give one")
        return super().parse_args(ctx, args)
