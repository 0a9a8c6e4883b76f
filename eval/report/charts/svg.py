"""Pieces of SVG: elements, and the frame that every chart with a scale in percent stands in."""

from collections.abc import Iterable
from importlib.resources import files

from markupsafe import Markup, escape

WIDTH = 344
"""Of every chart, in its own units: a phone of 360 px shows one of them without scaling."""

LETTER = 6.6
"""Mean width of a letter of the charts' 12-unit font; names are cut to fit by it."""


def element(name: str, /, *inside: str, **attributes: object) -> Markup:
    """Write an element; ``class_`` and ``data_x`` stand for ``class`` and ``data-x``.

    Text inside is escaped unless it is markup. Attributes that are None are left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(map(escape, inside))
    return Markup(f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>")


def text(x: float, y: float, content: str, class_: str | None = None) -> Markup:
    """Write text that begins, or is anchored by its class, at a point."""
    return element("text", content, x=x, y=y, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Draw a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def row(system: str | None, y: float, height: float, inside: Iterable[str]) -> Markup:
    """Group what belongs to one system; the page hides such rows and moves the others up.

    What belongs to none is not hidden.
    """
    return element(
        *("g", *inside),
        class_="row",
        transform=f"translate(0 {_plain(y)})",
        data_height=height,
        data_system=system,
    )


def drawing(
    label: str, height: float, inside: Iterable[str], width: float = WIDTH, **facts: object
) -> Markup:
    """Put elements together to one drawing with a text alternative, and what the page asks it."""
    return element(
        *("svg", *inside),
        class_="chart",
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
        **facts,
    )


def cut(name: str, letters: int) -> str:
    """Shorten a name to so many letters; its end stays, by which checkpoints and seeds differ.

    >>> cut("spanbert-large-seed-2", 15)
    'spanbert-l…ed-2'
    """
    end = (letters - 1) // 3
    return (
        name if len(name) <= letters else f"{name[: letters - 1 - end]}…{name[len(name) - end :]}"
    )


def scale(left: float, right: float, bottom: float, chance: float | None = None) -> list[Markup]:
    """Draw the percent scale from `left` to `right`, and where chance is."""
    drawn = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + tick * (right - left)
        drawn += [line(x, 30, x, bottom, "grid"), text(x, 24, f"{100 * tick:g}", "tick")]
    if chance is not None:
        x = left + chance * (right - left)
        drawn.append(line(x, 30, x, bottom, "chance"))
    return drawn


def standalone(drawn: str) -> str:
    """Return a drawing as a file of its own, with the light colours of the page."""
    css = "".join(_sheet(name) for name in ("palette.css", "chart.css"))
    head, close, rest = str(drawn).partition(">")
    head = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return f"{head}{close}<style>{css}</style>{rest}\n"


def palette() -> str:
    """Return the colours, dark where the reader's system is: for pages that have no button."""
    chosen, asked = ' { :root[data-theme="dark"] {', " and (prefers-color-scheme: dark) { :root {"
    return _sheet("palette.css").replace(chosen, asked)


def _sheet(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _plain(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
