"""What every command refuses: an option that is given twice, and two forms of one output."""

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from pronominal.errors import InputError

FORMS = ("as_json", "markdown", "latex")
"""Options of which each says in what form to print."""


class Command(TyperCommand):
    """A command that takes the last of two words for one option for a mistake."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command's name."""
        order: list[Any] = self.make_parser(ctx).parse_args(args=[*args])[2]
        for one, times in Counter(order).items():
            single = one.param_type_name == "option" and not (one.multiple or one.is_flag)
            if times > 1 and single:
                raise InputError(f"{one.opts[0]} is given {times} times", cure="give it once")
        rest = super().parse_args(ctx, args)
        forms = [one.opts[0] for one in self.params if one.name in FORMS and ctx.params[one.name]]
        if len(forms) > 1:
            raise InputError(f"{' and '.join(forms)} are two forms of output", cure="give one")
        return rest
