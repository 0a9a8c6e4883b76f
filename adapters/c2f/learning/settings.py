"""What the trainings of coarse-to-fine systems are asked for."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from pronominal.adapters.training.settings import Kind, TrainingSettings, require_choice
from pronominal.errors import InputError
from pronominal.settings import setting

Size = Literal["published", "small"]
"""Sizes of a system that is trained from the beginning: upstream's, or some for one CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoarseToFineTraining(TrainingSettings):
    """What a training of a coarse-to-fine system is asked for."""

    kind: ClassVar[Kind] = "clustering"
    usual_epochs: ClassVar[int] = 20
    usual_size: ClassVar[Size] = "published"
    packages: ClassVar[tuple[str, ...]] = ("spacy", "scipy", "tokenizers", "crc32c", "h5py")

    checkpoint: str | None = setting(None, "A system to train on.")
    size: Size | None = setting(
        None, "published: upstream's sizes; small: for short texts and one CPU."
    )
    batch_size: int = setting(1, "Documents in a batch; upstream has one.", least=1)

    def __post_init__(self) -> None:
        TrainingSettings.__post_init__(self)
        require_choice("--size", self.drawn_size, get_args(Size))
        beginnings = {**self.beginnings(), "--checkpoint": self.checkpoint}
        given = [option for option, value in beginnings.items() if value is not None]
        if len(given) != 1:
            raise InputError(
                f"{' and '.join(given)} cannot both be what the training begins with"
                if given
                else "it is not said what the training begins with",
                cure=f"give one of {' or '.join(beginnings)}",
            )
        if self.size and self.checkpoint:
            raise without_effect("--size", "a training from the beginning")

    @property
    def drawn_size(self) -> Size:
        """The size of a system that is trained from the beginning."""
        return self.size or self.usual_size

    def beginnings(self) -> dict[str, str | None]:
        """Return what a training may begin with instead of a checkpoint, by option."""
        return {}

    def identity(self) -> dict[str, Any]:
        """Return what identifies the training apart from its data, its files and its seed."""
        return {
            "switching": self.switching,
            "batch_size": self.batch_size,
            **TrainingSettings.identity(self),
        }


def without_effect(option: str, what: str) -> InputError:
    """Return the refusal of an option that was given without what it has an effect on."""
    return InputError(f"{option} has no effect without {what}", cure="leave it out")
