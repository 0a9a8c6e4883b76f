"""What a classifier of antecedents is made of, apart from its encoder."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from pronominal.errors import InputError
from pronominal.names import nearest_name
from pronominal.settings import setting

Scorer = Literal["cls", "span"]
Pooling = Literal["cls", "mean", "substituted"]

FORMAT = 1
"""Raised whenever a saved classifier has to be read in another way."""


@dataclass(frozen=True, slots=True)
class Classifier:
    """How a classifier reads and scores an instance.

    ``cls``, KnowRef's section 3.3, reads a copy of the text for each candidate, with the candidate
    instead of the pronoun. `pooling` says what represents a copy: the state of the first token (the
    paper's), the mean of all states, or the mean of the substituted candidate's.

    Attributes:
        first_prior: share of the training rows whose first mention is right, in (0, 1).
    """

    scorer: Scorer = setting(
        "cls",
        "cls: one copy of the text for each candidate (KnowRef's); span: the mentions' own "
        "states, which costs half and learns sooner.",
    )
    pooling: Pooling = setting("cls", "With cls: cls, mean or substituted.")
    max_length: int = setting(512, "Most subwords of a text, special ones included.", least=8)
    placeholder_names: bool = setting(False, "Read fixed names instead of the real ones.")
    first_prior: float = 0.5
    prior_correction: bool = setting(
        False, "Take how often the first mention was right in training out of answers."
    )

    def __post_init__(self) -> None:
        for name, choices in (("scorer", get_args(Scorer)), ("pooling", get_args(Pooling))):
            value = getattr(self, name)
            if value not in choices:
                raise InputError(f"there is no {name} '{value}'", cure=nearest_name(value, choices))
        if self.scorer == "span" and self.pooling != "cls":
            cure = "leave --pooling out, or use --scorer cls"
            raise InputError("the span scorer pools the mentions it compares", cure=cure)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as the config of a saved classifier holds them."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, fields: Any, file: str) -> "Classifier":
        """Read what `to_json` returned; `InputError` if a config holds something else."""
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            cause = "it is no classifier of antecedents, or of another version"
            raise InputError(cause, cure="make one with 'pronominal train bert'", file=file)
        try:
            return cls(**{name: value for name, value in fields.items() if name != "format"})
        except TypeError as error:
            cause = "its settings are not those of a classifier"
            raise InputError(cause, cure="train it again", file=file) from error
