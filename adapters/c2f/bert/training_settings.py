"""What ``pronominal train spanbert`` is asked for."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal, get_args

from pronominal.adapters.c2f.learning.settings import CoarseToFineTraining
from pronominal.adapters.training.settings import require_choice
from pronominal.settings import setting

Recipe = Literal["tensorflow", "coref-hoi"]
"""Whose optimisers a transformer system learns with."""


@dataclass(frozen=True, slots=True)
class TransformerRates:
    """How fast a transformer system learns; the values are those of SpanBERT base.

    Attributes:
        warmup: share of the updates over which the encoder's rate rises from 0.
        weight_decay: of the encoder's matrices and embeddings.
        clip: the norm that the gradients of encoder and head, each, are scaled down to.
    """

    encoder: float = setting(
        2e-5,
        "The encoder's highest; SpanBERT large has 1e-5.",
        least=0.0,
        name="encoder_learning_rate",
    )
    task: float = setting(
        1e-4, "The head's highest; SpanBERT large has 3e-4.", least=0.0, name="task_learning_rate"
    )
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerTraining(CoarseToFineTraining):
    """Train BERT or SpanBERT with the coarse-to-fine head, and test it.

    --data knowref --data conll:PATH learns both; --switching doubles the rows by antecedent
    switching. What is trained is run by 'evaluate -s spanbert=OUT/seed-N'; OUT/summary.json has
    mean and spread over the seeds.
    """

    opens: ClassVar[str] = "c2f.bert.training:open_transformer"

    encoder: str | None = setting(None, "Folder or Hub id of a pretrained BERT or SpanBERT.")
    recipe: Recipe = setting(
        "coref-hoi", "Whose optimisers: coref-hoi or tensorflow (mandarjoshi90)."
    )
    rates: TransformerRates = field(default_factory=TransformerRates)

    def __post_init__(self) -> None:
        CoarseToFineTraining.__post_init__(self)
        require_choice("--recipe", self.recipe, get_args(Recipe))

    def beginnings(self) -> dict[str, str | None]:
        """Return what a training may begin with instead of a checkpoint, by option."""
        return {"--encoder": self.encoder}

    def identity(self) -> dict[str, Any]:
        """Return what identifies the training apart from its data, its files and its seed."""
        return {
            "size": self.drawn_size,
            "recipe": self.recipe,
            "transformer_rates": asdict(self.rates),
            **CoarseToFineTraining.identity(self),
        }
