"""E2E: coarse-to-fine coreference on LSTMs over static embeddings, characters and ELMo.

Lee, He and Zettlemoyer, 2018, "Higher-order Coreference Resolution with Coarse-to-fine Inference".
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pronominal.adapters.c2f.e2e.checkpoint import open_parts
from pronominal.adapters.c2f.e2e.encoder import RAW_TEXT_GENRE, word_units
from pronominal.adapters.c2f.elmo.vectors import ElmoVectors, MissingElmoWarning
from pronominal.adapters.c2f.head.prediction import predicted_clusters
from pronominal.adapters.c2f.head.units import AntecedentScores
from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.transformers_models import torch_device
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import contract_clusters, refuse_bare_string
from pronominal.adapters.words.english import EnglishWords, in_characters
from pronominal.adapters.words.length_batches import require_batch_size
from pronominal.spans import Cluster, Document


class E2E:
    """The system that kentonl/e2e-coref publishes, and what is trained in its form.

    Answers do not depend on what else is in a batch, but for rounding: scores agree to about 1e-5.

    ELMo's vectors of a document with a key are looked up in the cache; for all others they are
    computed, where `elmo_weights` are given. A document without a key, such as a raw text, is
    answered without ELMo where they are not: the system as it is, with zeros for ELMo's vectors.
    A `MissingElmoWarning` says so.

    Args:
        checkpoint: a folder with upstream's config and weights, or what ``pronominal convert e2e``
            wrote, or the Hub id of such a one. See the system's card for the files.
        context_embeddings: text file of the embeddings that the LSTM reads, instead of the one
            that the config names.
        head_embeddings: text file of the embeddings that head attention averages, likewise.
        elmo_cache: HDF5 file of ELMo's vectors of whole documents, instead of the one that the
            config names; needs documents with keys.
        elmo_weights: folder of ELMo's published option file and weights, or the weight file.
        device: a torch device such as ``"cpu"``; the first GPU if there is one when None.
        batch_size: how many documents go through the model at once.
    """

    name = "e2e"
    engine = "torch"

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        checkpoint: str,
        *,
        context_embeddings: str | None = None,
        head_embeddings: str | None = None,
        elmo_cache: str | None = None,
        elmo_weights: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
    ) -> None:
        require_batch_size(batch_size)
        target = torch_device(device)
        parts = open_parts(checkpoint, context_embeddings, head_embeddings)
        self.checkpoint = parts.checkpoint
        self.batch_size = batch_size
        self._model = parts.model.to(target)
        self.dtype, self.device, self.parameters = Computation.of(self._model)
        self._reader = parts.reader
        config = parts.model.encoder.config
        self._elmo = ElmoVectors(
            f"{self.name} ({checkpoint})",
            (config.elmo_size, config.elmo_layers),
            cache=Path(elmo_cache) if elmo_cache else parts.elmo_cache,
            weights=Path(elmo_weights) if elmo_weights else None,
            device=target,
        )
        self._words = EnglishWords()
        with warnings.catch_warnings():
            # the user's first answer will say it
            warnings.simplefilter("ignore", MissingElmoWarning)
            self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans.

        Texts are taken for newswire with one nameless speaker, as upstream's demo takes them; see
        `EnglishWords` for words and sentences.
        """
        refuse_bare_string(texts)
        read = [self._words.read(text) for text in texts]
        documents = [replace(document, genre=RAW_TEXT_GENRE) for document, _ in read]
        in_words = self._cluster(documents, "texts")
        return [
            contract_clusters(in_characters(clusters, places))
            for clusters, (_, places) in zip(in_words, read, strict=True)
        ]

    def cluster_documents(self, documents: Sequence[Document]) -> list[list[Cluster]]:
        """Return for each document, in order, its clusters as half-open spans of words.

        Words are counted over all sentences; clusters are upstream's, nothing is cleaned. A genre
        of None is newswire, speakers of None are one nameless speaker. A key has to be in the
        cache, with vectors of the same words.
        """
        return self._cluster(documents, "documents")

    def _cluster(self, documents: Sequence[Document], among: str) -> list[list[Cluster]]:
        genres = self._model.head.config.genres
        units = [
            word_units(document, genres, f"{among}[{index}]")
            for index, document in enumerate(documents)
        ]

        def score(batch: list[int]) -> list[AntecedentScores]:
            layers = self._elmo.layers([documents[index] for index in batch])
            inputs = [
                self._reader.read(units[index], vectors)
                for index, vectors in zip(batch, layers, strict=True)
            ]
            scores: list[AntecedentScores] = self._model(inputs, [units[index] for index in batch])
            return scores

        lengths = [len(document) for document in units]
        return predicted_clusters(
            score, lengths, most=self.batch_size, checkpoint=self.checkpoint.name, among=among
        )
