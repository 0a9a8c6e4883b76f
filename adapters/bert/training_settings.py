"""What ``pronominal train bert`` is asked for."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, get_args

from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.training.settings import Precision, TrainingSettings, require_choice
from pronominal.errors import InputError
from pronominal.settings import required, setting


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the weights are learnt."""

    learning_rate: float = setting(
        2e-5, "The highest; small encoders learn better at 1e-4.", least=0.0
    )
    warmup: float = setting(0.1, "Share of the updates in which it rises.", least=0.0, most=1.0)
    weight_decay: float = setting(0.01, "Of AdamW; biases and norms have none.", least=0.0)
    batch_size: int = setting(16, "Instances in a batch.", least=1)
    freeze_embeddings: bool = setting(False, "Leave the encoder's embeddings alone.")
    balanced_loss: bool = setting(False, "Weigh rows by how rare it is which mention is right.")
    consistency_penalty: float = setting(
        0.0, "Weight of disagreement in a pair (--pair-batches).", least=0.0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BertTraining(TrainingSettings):
    """Train a classifier of antecedents (KnowRef, section 3.3) and test it.

    --switching doubles the rows by antecedent switching. What is trained is run by 'evaluate -s
    bert=OUT/seed-N'; OUT/summary.json has mean and spread over the seeds.
    """

    opens: ClassVar[str] = "bert.training:TrainableBERT"
    usual_epochs: ClassVar[int] = 3

    encoder: str = required("Folder or Hub id of a pretrained encoder.")
    classifier: Classifier = field(default_factory=Classifier)
    recipe: Recipe = field(default_factory=Recipe)
    pair_batches: bool = setting(False, "Keep a row and its switched one in one batch.")
    precision: Precision = setting(
        "auto", "no (float32), bf16, fp16 (GPU) or auto: bf16 or fp16 on a GPU."
    )

    def __post_init__(self) -> None:
        # super() knows nothing of a class with slots
        TrainingSettings.__post_init__(self)
        require_choice("--precision", self.precision, get_args(Precision))
        if self.pair_batches:
            self.require_pairs_fit(self.recipe.batch_size)
        if self.recipe.consistency_penalty and not self.pair_batches:
            cause = "the consistency penalty compares the two versions of a row"
            raise InputError(cause, cure="add --switching --pair-batches")

    def identity(self) -> dict[str, Any]:
        """Return what identifies the training apart from its data, its encoder and its seed."""
        return {
            "classifier": asdict(self.classifier),
            "recipe": asdict(self.recipe),
            "switching": self.switching,
            "pair_batches": self.pair_batches,
            **TrainingSettings.identity(self),
            "precision": self.precision,
        }

    @classmethod
    def earlier(cls) -> dict[str, Any]:
        """Return the defaults: each setting was added with one that changes nothing."""
        return cls(encoder="").identity()
