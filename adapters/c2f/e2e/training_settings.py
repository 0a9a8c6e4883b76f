"""What ``pronominal train e2e`` is asked for."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from pronominal.adapters.c2f.learning.settings import CoarseToFineTraining, without_effect
from pronominal.errors import InputError
from pronominal.settings import setting


@dataclass(frozen=True, slots=True)
class E2ERates:
    """How fast E2E learns; the values are upstream's ``best``.

    Attributes:
        decay_every: updates after which the learning rate is multiplied by `decay`.
        clip: the norm that the gradients of all parameters together are scaled down to.
    """

    learning_rate: float = setting(1e-3, "Adam's, at first.", least=0.0)
    decay: float = setting(0.999, "What every 100 updates multiply it by.", least=0.0, most=1.0)
    decay_every: int = 100
    clip: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class E2ETraining(CoarseToFineTraining):
    """Train E2E (Lee et al., 2018) as KnowRef's section 4 does, and test it.

    --data knowref --data conll:PATH learns both; --switching doubles the rows by antecedent
    switching. What is trained is run by 'evaluate -s e2e=OUT/seed-N'; OUT/summary.json has mean
    and spread over the seeds.
    """

    opens: ClassVar[str] = "c2f.e2e.training:open_e2e"
    usual_embedding_size: ClassVar[int] = 50

    context_embeddings: str | None = setting(
        None, "Text file of the embeddings that the LSTM reads."
    )
    head_embeddings: str | None = setting(
        None, "Text file of those that heads average; the same without."
    )
    embeddings_of: str | None = setting(
        None, "Instead of files: an encoder whose word pieces' vectors are reduced."
    )
    embedding_size: int | None = setting(
        None, "Numbers of a vector, with --embeddings-of.", least=1
    )
    elmo_weights: str | None = setting(None, "ELMo's published weights; without, there is no ELMo.")
    rates: E2ERates = field(default_factory=E2ERates)

    def __post_init__(self) -> None:
        CoarseToFineTraining.__post_init__(self)
        if self.head_embeddings is not None and self.context_embeddings is None:
            cure = "give both, or drop it"
            raise InputError("--head-embeddings without --context-embeddings", cure=cure)
        if self.embedding_size and not self.embeddings_of:
            raise without_effect("--embedding-size", "--embeddings-of")

    def beginnings(self) -> dict[str, str | None]:
        """Return what a training may begin with instead of a checkpoint, by option."""
        return {
            "--context-embeddings": self.context_embeddings,
            "--embeddings-of": self.embeddings_of,
        }

    def identity(self) -> dict[str, Any]:
        """Return what identifies the training apart from its data, its files and its seed."""
        reduced = {"embeddings": {"size": self.embedding_size or self.usual_embedding_size}}
        return {
            "size": self.drawn_size,
            **(reduced if self.embeddings_of else {}),
            "e2e_rates": asdict(self.rates),
            **CoarseToFineTraining.identity(self),
        }

    def load_settings(self) -> dict[str, Any]:
        """Return the ELMo that the trained system goes on needing."""
        return {} if self.elmo_weights is None else {"elmo_weights": self.elmo_weights}
