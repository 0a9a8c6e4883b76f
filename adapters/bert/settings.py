"""What a classifier of antecedents is made of, besides its encoder."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from pronominal.errors import InputError, nearest_name

Scorer = Literal["cls", "span"]
Pooling = Literal["cls", "mean", "substituted"]

FORMAT = 1
"""Raised whenever a saved classifier has to be read in another way."""


@dataclass(frozen=True, slots=True)
class Classifier:
    """How a classifier reads and scores an instance.

    Attributes:
        scorer: ``cls`` reads the text once for each candidate, which replaces the
            pronoun (KnowRef, section 3.3); ``span`` reads it once as it is and compares each
            candidate's mention with the pronoun.
        pooling: what represents a copy of the text under ``cls``: the first token's state (the
            paper's), the mean of all, or the mean of the substituted candidate's.
        max_length: most subwords of a sequence, special ones included.
        placeholder_names: whether both candidates are called by fixed names.
        first_prior: share of the training rows whose first mention is right.
        prior_correction: whether the first mention's logit is lowered by that prior's log odds.
    """

    scorer: Scorer = "cls"
    pooling: Pooling = "cls"
    max_length: int = 512
    placeholder_names: bool = False
    first_prior: float = 0.5
    prior_correction: bool = False

    def __post_init__(self) -> None:
        for name, choices in (("scorer", get_args(Scorer)), ("pooling", get_args(Pooling))):
            value = getattr(self, name)
            if value not in choices:
                raise InputError(f"there is no {name} '{value}'", cure=nearest_name(value, choices))
        if self.scorer == "span" and self.pooling != "cls":
            raise InputError(
                "the span scorer pools the mentions it compares",
                cure="leave --pooling out, or use --scorer cls",
            )

    def to_json(self) -> dict[str, Any]:
        """Return the settings as the config of a saved classifier holds them."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, fields: Any, file: str) -> "Classifier":
        """Read what `to_json` returned; `InputError` if a config holds something else."""
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise InputError(
                "it is no classifier of antecedents, or of another version",
                cure="make one with 'pronominal train bert'",
                file=file,
            )
        try:
            return cls(**{name: value for name, value in fields.items() if name != "format"})
        except TypeError as error:
            raise InputError(
                "its settings are not those of a classifier", cure="train it again", file=file
            ) from error
