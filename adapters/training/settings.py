"""What a training is asked for, and what the loop makes of it; light enough for a command's help.

A trainable system extends `TrainingSettings` by its own fields.
"""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

from pronominal.errors import InputError
from pronominal.names import nearest_name
from pronominal.pronouns import PronounSet, asked_pronoun_sets
from pronominal.settings import setting

Keep = Literal["best", "last"]
Unannotated = Literal["ignored", "negative"]
Criterion = Literal["right-in-both", "accuracy"]
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
        opens: where what opens the `TrainableSystem` is, as ``module:attribute`` below
            ``pronominal.adapters``.
        usual_epochs: passes over the data where neither epochs nor updates are given.
        packages: what the training imports in addition to the packages of every training.
        precision: what the training multiplies with.
    """

    opens: ClassVar[str]
    usual_epochs: ClassVar[int]
    packages: ClassVar[tuple[str, ...]] = ()

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

    def require_pairs_fit(self, batch_size: int) -> None:
        """Refuse pairs in a batch where there are none, or where a batch would cut one."""
        if not self.switching:
            raise InputError("there are no pairs without switching", cure="add --switching")
        if batch_size % 2:
            cause = f"a batch of {batch_size} texts holds no whole pairs"
            raise InputError(cause, cure="give --pair-batches an even --batch-size")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringTraining(TrainingSettings):
    """What every training of a system is asked for that clusters the mentions of a text."""

    usual_batch_size: ClassVar[int]

    checkpoint: str | None = setting(None, "A system to train on: a folder or a Hub id.")
    batch_size: int | None = setting(None, "Texts in a batch.", least=1)
    pair_batches: bool = setting(False, "Keep a row and its switched one in one batch.")
    pronoun_sets: list[str] | None = setting(
        None, "Learn texts with these pronouns, too: they, xe, ..., or a TOML file of sets."
    )
    unannotated: Unannotated = setting(
        "ignored", "What a row says nothing of: ignored, or negative (in no cluster)."
    )
    validate_by: Criterion = setting(
        "right-in-both", "What rows are stopped by: right-in-both (versions) or accuracy."
    )

    def __post_init__(self) -> None:
        # super() knows nothing of a class with slots
        TrainingSettings.__post_init__(self)
        require_choice("--unannotated", self.unannotated, get_args(Unannotated))
        require_choice("--validate-by", self.validate_by, get_args(Criterion))
        if self.pair_batches:
            self.require_pairs_fit(self.texts_in_batch)
        beginnings = {**self.beginnings(), "--checkpoint": self.checkpoint}
        given = [option for option, value in beginnings.items() if value is not None]
        if len(given) != 1:
            raise InputError(
                f"{' and '.join(given)} cannot both be what the training begins with"
                if given
                else "it is not said what the training begins with",
                cure=f"give one of {' or '.join(beginnings)}",
            )

    def beginnings(self) -> dict[str, str | None]:
        """Return what a training may begin with instead of a checkpoint, by option."""
        return {}

    @property
    def texts_in_batch(self) -> int:
        """Texts of a batch."""
        return self.batch_size or self.usual_batch_size

    @property
    def further_pronouns(self) -> tuple[PronounSet, ...]:
        """The pronoun sets that texts are learnt with besides their own."""
        return asked_pronoun_sets(self.pronoun_sets or ())

    def identity(self) -> dict[str, Any]:
        """Return what identifies the training apart from its data, its files and its seed."""
        return {
            "switching": self.switching,
            "batch_size": self.texts_in_batch,
            "pair_batches": self.pair_batches,
            "pronoun_sets": [asdict(one) for one in self.further_pronouns],
            "unannotated": self.unannotated,
            "validate_by": self.validate_by,
            **TrainingSettings.identity(self),
        }

    @classmethod
    def earlier(cls) -> dict[str, Any]:
        """Return what trainings did before these settings were there."""
        return {
            "pair_batches": False,
            "pronoun_sets": [],
            "unannotated": "negative",
            "validate_by": "accuracy",
        }


def require_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices; `InputError` names the nearest one."""
    if value not in choices:
        raise InputError(f"{option} is '{value}'", cure=nearest_name(value, choices))
