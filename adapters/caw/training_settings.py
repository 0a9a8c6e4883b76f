"""What ``pronominal train caw`` is asked for."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, get_args

from pronominal.adapters.training.settings import ClusteringTraining, Precision, require_choice
from pronominal.settings import setting


@dataclass(frozen=True, slots=True)
class WordLevelRates:
    """How fast CAW learns; the values are upstream's (``config.toml``, ``coref_model.py``)."""

    encoder: float = setting(
        1e-5, "The encoder's highest.", least=0.0, name="encoder_learning_rate"
    )
    task: float = setting(3e-4, "The head's highest.", least=0.0, name="task_learning_rate")
    warmup: float = setting(
        0.05, "Share of the updates in which the encoder's rises.", least=0.0, most=1.0
    )
    freeze_embeddings: bool = setting(False, "Leave the encoder's embeddings alone.")


@dataclass(frozen=True, slots=True)
class NewHead:
    """Sizes of a head that is drawn anew; the values are upstream's.

    Attributes:
        embedding_size: of each of the three features of a pair.
        n_hidden_layers: of the scorer of pairs.
        bert_window_size: subwords that are encoded together, where the encoder can read so many.
    """

    hidden_size: int = setting(1024, "Width of a new head.", least=1, name="ffnn_size")
    rough_k: int = setting(50, "Antecedents that a new head scores for each word.", least=1)
    embedding_size: int = 20
    n_hidden_layers: int = 1
    bert_window_size: int = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class CAWTraining(ClusteringTraining):
    """Train CAW-coref (D'Oosterlinck et al., 2023) and test it.

    --switching doubles the rows by antecedent switching. What is trained is run by 'evaluate -s
    caw=OUT/seed-N'; OUT/summary.json has mean and spread over the seeds.
    """

    opens: ClassVar[str] = "caw.training:open_caw"
    usual_batch_size: ClassVar[int] = 16
    usual_epochs: ClassVar[int] = 20
    packages: ClassVar[tuple[str, ...]] = ("spacy",)

    encoder: str | None = setting(None, "Folder or Hub id of an encoder to put a new head on.")
    rates: WordLevelRates = field(default_factory=WordLevelRates)
    head: NewHead = field(default_factory=NewHead)
    head_dropout: float = setting(0.3, "Dropout of words, features and pairs.", least=0.0, most=0.9)
    bce_loss_weight: float = setting(
        0.5, "Weight of the binary cross entropy of each pair.", least=0.0, most=1.0
    )
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
        return {
            **({} if self.encoder is None else {"head": asdict(self.head)}),
            "head_dropout": self.head_dropout,
            "bce_loss_weight": self.bce_loss_weight,
            "rates": asdict(self.rates),
            "precision": self.precision,
            **ClusteringTraining.identity(self),
        }
