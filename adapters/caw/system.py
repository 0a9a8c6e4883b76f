"""CAW-coref and WL-coref behind the interface of all clustering systems."""

from collections.abc import Iterator, Sequence

from pronominal.adapters.caw.checkpoint import open_parts
from pronominal.adapters.caw.loading import load_model
from pronominal.adapters.caw.tokens import TokenizedDocument
from pronominal.adapters.checkpoints.transformers_models import torch_device
from pronominal.adapters.contract.refusals import NonFiniteScoresError, scores_not_finite
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import (
    OversizedSentenceWarning,
    contract_clusters,
    refuse_bare_string,
)
from pronominal.adapters.layers.encoders import EncoderDtype, compute_in
from pronominal.adapters.words.english import EnglishWords, in_characters
from pronominal.adapters.words.length_batches import length_batches, require_batch_size
from pronominal.adapters.words.windows import oversized
from pronominal.spans import Cluster, Document


class CAW:
    """CAW-coref or WL-coref, whichever the weights are of.

    Answers do not depend on what else is in a batch, but for rounding: scores agree to about 1e-5.

    Args:
        checkpoint: a folder with upstream's ``config.toml`` and ``.pt``, a folder that
            ``pronominal convert caw`` wrote, or the Hub id of such a one.
        section: which section of ``config.toml``; the first whose weights are there when None.
        device: a torch device such as ``"cpu"``; the first GPU if there is one when None.
        batch_size: how many documents, and windows of them, go through the model at once.
        dtype: see `compute_in`.
    """

    name = "caw"
    engine = "torch"

    def __init__(
        self,
        checkpoint: str,
        *,
        section: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
        dtype: EncoderDtype = "float32",
    ) -> None:
        require_batch_size(batch_size)
        target = torch_device(device)
        parts = open_parts(checkpoint, section)
        self.checkpoint = parts.checkpoint
        self.section = parts.section
        self.batch_size = batch_size
        model, self._tokenizer = load_model(parts, batch_size=batch_size)
        self._model = model.to(target)
        self.dtype, self.device, self.parameters = compute_in(
            dtype, self._model, self._model.encoder.transformer
        )
        self._words = EnglishWords()
        self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans.

        Texts are taken for web text with one speaker; see `EnglishWords` for words and sentences.
        """
        refuse_bare_string(texts)
        read = [self._words.read(text) for text in texts]
        in_words = self._cluster([document for document, _ in read], "texts")
        return [
            contract_clusters(in_characters(clusters, places))
            for clusters, (_, places) in zip(in_words, read, strict=True)
        ]

    def cluster_documents(self, documents: Sequence[Document]) -> list[list[Cluster]]:
        """Return for each document, in order, its clusters as half-open spans of words.

        Words are counted over all sentences; clusters are upstream's, nothing is cleaned.
        """
        return self._cluster(documents, "documents")

    def _cluster(self, documents: Sequence[Document], among: str) -> list[list[Cluster]]:
        tokenized = [
            self._tokenizer.read(document, f"{among}[{index}]")
            for index, document in enumerate(documents)
        ]
        capacity = self._model.settings.capacity
        for index, document in enumerate(tokenized):
            sentences = oversized(document.sentence_starts, capacity)
            OversizedSentenceWarning.warn(self.name, index, document.place, sentences, capacity)
        answers: list[list[Cluster]] = [[] for _ in documents]
        for batch in self._batches(tokenized):
            try:
                predicted = self._model([tokenized[index] for index in batch])
            except NonFiniteScoresError as error:
                raise scores_not_finite(
                    batch[error.document], self.checkpoint.name, among
                ) from error
            for index, clusters in zip(batch, predicted, strict=True):
                answers[index] = clusters
        return answers

    def _batches(self, documents: Sequence[TokenizedDocument]) -> Iterator[list[int]]:
        """Put as many subwords into a batch as its windows can hold: it has to fit into memory."""
        lengths = [len(document.subwords) for document in documents]
        room = self.batch_size * self._model.settings.capacity
        return length_batches(lengths, room=room, most=self.batch_size)
