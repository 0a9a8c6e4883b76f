"""What the trainings of coarse-to-fine systems are asked for."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from pronominal.adapters.training.settings import ClusteringTraining, require_choice
from pronominal.errors import InputError
from pronominal.settings import setting

Size = Literal["published", "small"]
"""Sizes of a system that is trained from the beginning: upstream's, or some for one CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoarseToFineTraining(ClusteringTraining):
    """What a training of a coarse-to-fine system is asked for."""

    usual_batch_size: ClassVar[int] = 1
    usual_epochs: ClassVar[int] = 20
    usual_size: ClassVar[Size] = "published"
    packages: ClassVar[tuple[str, ...]] = ("spacy", "scipy", "tokenizers", "crc32c", "h5py")

    size: Size | None = setting(
        None, "published: upstream's sizes; small: for short texts and one CPU."
    )

    def __post_init__(self) -> None:
        ClusteringTraining.__post_init__(self)
        require_choice("--size", self.drawn_size, get_args(Size))
        if self.size and self.checkpoint:
            raise without_effect("--size", "a training from the beginning")

    @property
    def drawn_size(self) -> Size:
        """The size of a system that is trained from the beginning."""
        return self.size or self.usual_size


def without_effect(option: str, what: str) -> InputError:
    """Return the refusal of an option that was given without what it has an effect on."""
    return InputError(f"{option} has no effect without {what}", cure="leave it out")
