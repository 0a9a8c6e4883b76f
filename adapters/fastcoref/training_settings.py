"""What ``pronominal train lingmess`` and ``train fcoref`` are asked for."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, get_args

from pronominal.adapters.training.settings import ClusteringTraining, Precision, require_choice
from pronominal.settings import setting


@dataclass(frozen=True, slots=True)
class FastcorefRates:
    """How fast LingMess and FCoref learn; the values are fastcoref's (``trainer.py``).

    Attributes:
        betas: of AdamW.
        epsilon: of AdamW.
    """

    encoder: float = setting(
        1e-5, "The encoder's highest.", least=0.0, name="encoder_learning_rate"
    )
    task: float = setting(3e-4, "The head's highest.", least=0.0, name="task_learning_rate")
    warmup: float = setting(0.1, "Share of the updates in which it rises.", least=0.0, most=1.0)
    weight_decay: float = setting(0.01, "Of AdamW; biases have none.", least=0.0)
    freeze_embeddings: bool = setting(False, "Leave the encoder's embeddings alone.")
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-6


@dataclass(frozen=True, slots=True)
class NewHead:
    """Sizes of a head that is drawn anew; the values are fastcoref's.

    Attributes:
        dropout_prob: share of the head's units that are hidden in training.
        max_segment_len: subtokens that FCoref encodes together.
    """

    ffnn_size: int = setting(1024, "Width of a new head.", least=1)
    max_span_length: int = setting(30, "Subtokens of a mention, in a new head.", least=1)
    top_lambda: float = setting(0.4, "Spans for each subtoken, in a new head.", least=0.01)
    dropout_prob: float = setting(
        0.3, "Dropout of a new head.", least=0.0, most=0.9, name="head_dropout"
    )
    max_segment_len: int = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class FastcorefTraining(ClusteringTraining):
    """What the trainings of LingMess and FCoref have in common."""

    usual_batch_size: ClassVar[int] = 16
    usual_epochs: ClassVar[int] = 3
    packages: ClassVar[tuple[str, ...]] = ("fastcoref", "spacy")

    encoder: str | None = setting(None, "Folder or Hub id of an encoder to put a new head on.")
    rates: FastcorefRates = field(default_factory=FastcorefRates)
    head: NewHead = field(default_factory=NewHead)
    precision: Precision = setting(
        "auto", "no (float32), bf16, fp16 (GPU) or auto: bf16 or fp16 on a GPU."
    )

    def __post_init__(self) -> None:
        ClusteringTraining.__post_init__(self)
        require_choice("--precision", self.precision, get_args(Precision))

    def beginnings(self) -> dict[str, str | None]:
        """Return what a training may begin with instead of a checkpoint, by option."""
        return {"--encoder": self.encoder}

    def identity(self) -> dict[str, Any]:
        """Return what identifies the training apart from its data, its files and its seed."""
        rates = asdict(self.rates)
        return {
            **({} if self.encoder is None else {"head": asdict(self.head)}),
            "rates": {**rates, "betas": list(rates["betas"])},
            "precision": self.precision,
            **ClusteringTraining.identity(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LingMessTraining(FastcorefTraining):
    """Train LingMess (Otmazgin et al., 2023) and test it.

    --switching doubles the rows by antecedent switching; the forms of --pronoun-sets become
    pronouns to its categories. What is trained is run by 'evaluate -s lingmess=OUT/seed-N' and by
    fastcoref; OUT/summary.json has mean and spread over the seeds.
    """

    opens: ClassVar[str] = "fastcoref.training:open_lingmess"


@dataclass(frozen=True, slots=True, kw_only=True)
class FCorefTraining(FastcorefTraining):
    """Train FCoref (Otmazgin et al., 2022) and test it.

    --switching doubles the rows by antecedent switching. What is trained is run by 'evaluate -s
    fcoref=OUT/seed-N' and by fastcoref; OUT/summary.json has mean and spread over the seeds.
    """

    opens: ClassVar[str] = "fastcoref.training:open_fcoref"
