"""What ``pronominal train e2e`` and ``pronominal train c2f`` are asked for."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from pronominal.adapters.c2f.learning.optimisers import E2ERates, Recipe, TransformerRates
from pronominal.adapters.c2f.learning.training import Size
from pronominal.errors import InputError, nearest_name


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The fixed word embeddings of an E2E that is trained from the beginning.

    Attributes:
        context: text file of those that the LSTM reads.
        head: text file of those that head attention averages; `context` when None.
        encoder: instead of files, folder or Hub id of an encoder whose word pieces' vectors are
            reduced to `size` numbers.
        size: numbers of a vector; that of a file is told from its first line.
    """

    context: str | None = None
    head: str | None = None
    encoder: str | None = None
    size: int = 50


_OF_THE_OTHER = {"e2e": ("recipe", "transformer_rates"), "c2f": ("embeddings", "e2e_rates")}
"""Settings that have no effect on a system."""


@dataclass(frozen=True, slots=True)
class CoreferenceTraining:
    """What is trained, and how.

    Attributes:
        system: ``"e2e"``, or ``"c2f"`` for BERT and SpanBERT.
        size: of a system that is trained from the beginning.
        checkpoint: a system to train on instead.
        encoder: of ``c2f``: folder or Hub id of a pretrained BERT or SpanBERT.
        embeddings: of ``e2e``.
        elmo_weights: of ``e2e``: ELMo's weight file or folder; None trains without ELMo.
        recipe: of ``c2f``: whose optimisers.
        e2e_rates: how fast E2E learns.
        transformer_rates: how fast a transformer system learns.
        switching: whether the switched version of each row is learnt, too.
        batch_size: documents in a batch.
        epochs: passes over the training set, switched versions included.
        updates: steps of the optimisers instead of `epochs`.
        validate_every: see `LoopSettings`.
        patience: see `LoopSettings`.
        keep: see `LoopSettings`.
        save_every: see `LoopSettings`.
    """

    system: Literal["e2e", "c2f"]
    size: Size = "published"
    checkpoint: str | None = None
    encoder: str | None = None
    embeddings: Embeddings = field(default_factory=Embeddings)
    elmo_weights: str | None = None
    recipe: Recipe = "coref-hoi"
    e2e_rates: E2ERates = field(default_factory=E2ERates)
    transformer_rates: TransformerRates = field(default_factory=TransformerRates)
    switching: bool = False
    batch_size: int = 1
    epochs: int = 20
    updates: int | None = None
    validate_every: int | None = None
    patience: int | None = None
    keep: Literal["best", "last"] = "best"
    save_every: int = 200

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("--keep", self.keep, ("best", "last")),
            ("--size", self.size, get_args(Size)),
            ("--recipe", self.recipe, get_args(Recipe)),
        ):
            if value not in choices:
                raise InputError(f"{name} is '{value}'", cure=nearest_name(value, choices))
        self._require_one_beginning()
        given = self.embeddings
        if given.head is not None and given.context is None:
            raise InputError(
                "--head-embeddings without --context-embeddings", cure="give both, or drop it"
            )

    def settings(self) -> dict[str, Any]:
        """Return what identifies the training beside data, files and seed."""
        fields = asdict(self)
        # how often the state is saved changes no weight; files count by their content
        for name in ("system", "save_every", "checkpoint", "encoder", "elmo_weights"):
            del fields[name]
        for name in _OF_THE_OTHER[self.system]:
            del fields[name]
        if self.embeddings.encoder is None:
            fields.pop("embeddings", None)
        else:
            fields["embeddings"] = {"size": self.embeddings.size}
        return fields

    def load_settings(self) -> dict[str, Any]:
        """Return what the trained system needs, beside its folder, to answer as it learnt."""
        return {} if self.elmo_weights is None else {"elmo_weights": self.elmo_weights}

    def _require_one_beginning(self) -> None:
        beginnings = {
            "e2e": {
                "--context-embeddings": self.embeddings.context,
                "--embeddings-of": self.embeddings.encoder,
                "--checkpoint": self.checkpoint,
            },
            "c2f": {"--encoder": self.encoder, "--checkpoint": self.checkpoint},
        }[self.system]
        given = [option for option, value in beginnings.items() if value is not None]
        if len(given) != 1:
            raise InputError(
                f"{' and '.join(given)} cannot both be what the training begins with"
                if given
                else "it is not said what the training begins with",
                cure=f"give one of {' or '.join(beginnings)}",
            )
