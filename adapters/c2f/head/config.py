"""What the coarse-to-fine systems differ in, and nothing else.

================================  ======================  ====================  ================
item                              E2E                     BERT, SpanBERT (TF)   coref-hoi
================================  ======================  ====================  ================
``head_value_size``               embeddings, characters  ``boundary_size``     ``boundary_size``
``width_prior``                   no                      yes                   yes
``distance_prior``                no                      yes                   yes
``segment_distances``             0                       3 or 11               3 or 11
``ffnn_depth`` x ``ffnn_size``    2 x 150                 1 x 3000              1 x 3000
``preselection``                  coarse or nearest       coarse                coarse
``max_spans``                     None                    3900                  3900
``gate``                          yes                     yes                   if ``depth`` > 1
``max_speakers``                  None                    20                    None
``dropout``                       0.2                     0.3                   0.3
``initialisation``                glorot                  truncated normal      normal
================================  ======================  ====================  ================
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.words.ontonotes import GENRES
from pronominal.errors import InputError

Preselection = Literal["coarse", "nearest"]
Initialisation = Literal["normal", "truncated normal", "glorot"]

COUNTS = ("coref_depth", "max_num_extracted_spans", "max_top_antecedents")
"""Keys of upstream's configurations that are 1 or more and that no tensor has the shape of."""

DROPOUTS = ("dropout_rate", "lexical_dropout_rate", "lstm_dropout_rate")
"""Keys that are shares of what training hides."""


@contextmanager
def reading(table: Mapping[str, Any], always: Sequence[str], file: Path | None) -> Iterator[None]:
    """Refuse a config that no such system can have: before it is read, and where it cannot be.

    Args:
        table: the keys of the config.
        always: those that every published configuration has switched on.
        file: the config, for messages.
    """
    for key in always:
        if not table.get(key, True):
            cause = f"{key} is false, which no published configuration has"
            raise InputError(cause, cure="drop it", file=file)
    cause = "a value is missing or of the wrong kind"
    cure = "write the keys of upstream's experiments.conf"
    with input_error_on(LookupError, TypeError, ValueError, cause=cause, cure=cure, file=file):
        _refuse_impossible(table)
        yield


def _refuse_impossible(table: Mapping[str, Any]) -> None:
    for key in COUNTS:
        count = table.get(key)
        if count is not None and int(count) < 1:
            raise ValueError(f"{key} is {count}, and has to be 1 or more")
    for key in DROPOUTS:
        share = float(table.get(key, 0))
        if not 0 <= share < 1:
            raise ValueError(f"{key} is {share}, and has to be 0 or more and below 1")
    ratio = float(table["top_span_ratio"])
    if not 0 < ratio <= 1:
        raise ValueError(f"top_span_ratio is {ratio}, and has to be above 0 and up to 1")


@dataclass(frozen=True, slots=True)
class HeadConfig:
    """Sizes and choices of a `CoarseToFineHead`.

    Attributes:
        boundary_size: of the encoder's vectors (H).
        head_value_size: of the vectors that head attention averages (Hd).
        feature_size: of each feature's embedding (F).
        ffnn_size: of every hidden layer.
        ffnn_depth: hidden layers of the mention and pair scorers.
        max_span_width: in units.
        top_span_ratio: top spans for each unit.
        max_spans: top spans at most, for any length; None for no limit.
        max_antecedents: antecedents of a span that get a fine score.
        depth: how often fine scores are computed, spans being refined in between.
        gate: whether the refinement gate exists; depths above 1 need it.
        width_prior: whether a span's width has a mention score of its own.
        distance_prior: whether the number of spans in between has a coarse score of its own.
        segment_distances: rows of the segment distance feature; 0 for no such feature.
        preselection: antecedents by coarse score, or the nearest ones (without coarse scores).
        genres: those with an embedding; another one, or none, counts as the first.
        max_speakers: how many numbers of speakers there are, UNK and [SPL] included, before all
            further ones share the second speaker's; None for no limit.
        dropout: share of features and hidden layers that training hides.
        initialisation: how weights are drawn before training.
    """

    boundary_size: int
    head_value_size: int
    feature_size: int = 20
    ffnn_size: int = 3000
    ffnn_depth: int = 1
    max_span_width: int = 30
    top_span_ratio: float = 0.4
    max_spans: int | None = 3900
    max_antecedents: int = 50
    depth: int = 2
    gate: bool = True
    width_prior: bool = True
    distance_prior: bool = True
    segment_distances: int = 3
    preselection: Preselection = "coarse"
    genres: tuple[str, ...] = GENRES
    max_speakers: int | None = None
    dropout: float = 0.3
    initialisation: Initialisation = "normal"

    @classmethod
    def of(cls, table: Mapping[str, Any], **own: Any) -> "HeadConfig":
        """Return what a table says under the keys of all upstream's configurations, and `own`."""
        return cls(
            ffnn_size=int(table["ffnn_size"]),
            ffnn_depth=int(table["ffnn_depth"]),
            max_span_width=int(table["max_span_width"]),
            top_span_ratio=float(table["top_span_ratio"]),
            max_antecedents=int(table["max_top_antecedents"]),
            depth=int(table["coref_depth"]),
            genres=tuple(map(str, table["genres"])),
            dropout=float(table["dropout_rate"]),
            **own,
        )

    @property
    def span_size(self) -> int:
        """Size of a span's vector: first unit, last unit, width, head attention."""
        return 2 * self.boundary_size + self.feature_size + self.head_value_size

    @property
    def pair_size(self) -> int:
        """Size of a pair's vector: both spans, their product, and the embedded features."""
        features = 4 if self.segment_distances else 3  # speaker, genre, segments if any, distance
        return 3 * self.span_size + features * self.feature_size
