"""What a training is asked for, and what the loop makes of it; light enough for a command's help.

A trainable system extends `TrainingSettings` by its own fields.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pronominal.errors import InputError
from pronominal.names import nearest_name
from pronominal.settings import setting

Kind = Literal["choosing", "clustering"]
Keep = Literal["best", "last"]
Precision = Literal["auto", "no", "bf16", "fp16"]
"""What a training multiplies with; auto is bf16 or fp16 on a GPU, and no (float32) elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """When a training is measured and saved, when it stops early, and what it keeps.

    The state is saved at each epoch's end, too, and the last update is always validated.
    """

    validate_every: int | None = setting(
        None, "Updates between validations; an epoch without it.", least=1
    )
    patience: int | None = setting(None, "Stop after so many validations without a gain.", least=1)
    keep: Keep = setting("best", "Weights to keep: best (by validation) or last.")
    save_every: int = setting(200, "Updates between saved states.", least=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings(LoopSettings):
    """What every training is asked for.

    Attributes:
        kind: how the trained system answers.
        opens: where what opens the `TrainableSystem` is, as ``module:attribute`` below
            ``pronominal.adapters``.
        usual_epochs: passes over the data where neither epochs nor updates are given.
        packages: what the training imports in addition to the packages of every training.
        several_processes: whether processes may share each batch.
        precision: what the training multiplies with.
    """

    kind: ClassVar[Kind]
    opens: ClassVar[str]
    usual_epochs: ClassVar[int]
    packages: ClassVar[tuple[str, ...]] = ()
    several_processes: ClassVar[bool] = False

    switching: bool = setting(False, "Learn every row with its candidates switched, too.")
    epochs: int | None = setting(None, "Passes over the data, switched rows included.", least=1)
    updates: int | None = setting(None, "Steps of the optimiser instead of epochs.", least=1)
    precision: Precision = "no"

    def __post_init__(self) -> None:
        require_choice("--keep", self.keep, ("best", "last"))
        if self.epochs is not None and self.updates is not None:
            raise InputError(
                f"--epochs {self.epochs} and --updates {self.updates} both say how long a "
                "training lasts",
                cure="give one of them",
            )

    def length(self, updates_in_epoch: int) -> int:
        """Return the updates of one training, given the batches of one pass over the data."""
        return self.updates or (self.epochs or self.usual_epochs) * updates_in_epoch

    def identity(self) -> dict[str, Any]:
        """Return what identifies the training apart from its data, its files and its seed.

        How often the state is saved changes no weight; files count by their content.
        """
        return {
            "epochs": self.epochs or self.usual_epochs,
            "updates": self.updates,
            "validate_every": self.validate_every,
            "patience": self.patience,
            "keep": self.keep,
        }

    @classmethod
    def earlier(cls) -> dict[str, Any]:
        """Return the identity that a training has whose version did not write a setting down."""
        return {}

    def load_settings(self) -> dict[str, Any]:
        """Return what the trained system needs besides its folder, to answer as it learnt."""
        return {}


def require_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices; `InputError` names the nearest one."""
    if value not in choices:
        raise InputError(f"{option} is '{value}'", cure=nearest_name(value, choices))
