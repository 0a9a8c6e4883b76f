"""What ``pronominal train bert`` is asked for."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.bert.training import Recipe
from pronominal.adapters.training.devices import PRECISIONS
from pronominal.errors import InputError, nearest_name


@dataclass(frozen=True, slots=True)
class BertTraining:
    """What is trained, and how.

    Attributes:
        encoder: folder or Hub id of a pretrained encoder.
        classifier: how instances are read and scored; `max_length` is cut to the encoder's.
        recipe: how the weights are learnt.
        switching: whether the switched version of each row is learnt, too.
        pair_batches: whether it is learnt in the batch of its original.
        epochs: passes over the training set, switched versions included.
        updates: steps of the optimiser instead of `epochs`.
        validate_every: see `LoopSettings`.
        patience: see `LoopSettings`.
        keep: see `LoopSettings`.
        save_every: see `LoopSettings`.
        precision: one of `PRECISIONS`.
    """

    encoder: str
    classifier: Classifier = field(default_factory=Classifier)
    recipe: Recipe = field(default_factory=Recipe)
    switching: bool = False
    pair_batches: bool = False
    epochs: int = 3
    updates: int | None = None
    validate_every: int | None = None
    patience: int | None = None
    keep: Literal["best", "last"] = "best"
    save_every: int = 200
    precision: str = "auto"

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("--keep", self.keep, ("best", "last")),
            ("--precision", self.precision, PRECISIONS),
        ):
            if value not in choices:
                raise InputError(f"{name} is '{value}'", cure=nearest_name(value, choices))
        if self.pair_batches and not self.switching:
            raise InputError("there are no pairs without switching", cure="add --switching")
        if self.pair_batches and self.recipe.batch_size % 2:
            raise InputError(
                f"a batch of {self.recipe.batch_size} instances holds no whole pairs",
                cure="give --pair-batches an even --batch-size",
            )
        if self.recipe.consistency_penalty and not self.pair_batches:
            raise InputError(
                "the consistency penalty compares the two versions of a row",
                cure="add --switching --pair-batches",
            )

    def settings(self) -> dict[str, Any]:
        """Return what identifies the training beside its data, its encoder and its seed."""
        fields = asdict(self)
        # how often the state is saved changes no weight
        for name in ("encoder", "save_every"):
            del fields[name]
        return fields
