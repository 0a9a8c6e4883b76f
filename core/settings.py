"""What a setting says of itself, once, for the command line and for Python."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Help:
    """The meaning of a field: ``rate: Annotated[float, Help("Of AdamW.", least=0.0)] = 0.01``.

    Attributes:
        text: a sentence for the help of a command; a field without a `Help` is no option.
        least: the lowest number allowed.
        most: the highest.
        flag: the option's name without dashes, where it is not that of the field.
    """

    text: str
    least: float | None = None
    most: float | None = None
    flag: str | None = None
