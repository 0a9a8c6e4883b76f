"""Where a system gets ELMo's vectors from: a cache, the weights, or nowhere."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from pronominal.adapters.c2f.elmo.weights import ElmoCache, read_elmo
from pronominal.errors import InputError
from pronominal.spans import Document


class MissingElmoWarning(UserWarning):
    """A system with ELMo answers without it; its answers are not those of the published system."""


class ElmoVectors:
    """Looks up the vectors of documents whose keys are cached, and computes all others.

    A document without a key, such as a raw text, is in no cache: without weights it has no
    vectors, and a `MissingElmoWarning` says so. A key that is not in the cache is an error, for
    keys are given where there are vectors.

    Args:
        system: what asks, for messages.
        shape: size and layers of the vectors that the system was trained with; a size of 0 for a
            system without ELMo.
        cache: HDF5 file in E2E's layout.
        weights: ELMo's published weights, or their folder.
        device: where ELMo computes.
    """

    def __init__(
        self,
        system: str,
        shape: tuple[int, int],
        *,
        cache: Path | None,
        weights: Path | None,
        device: torch.device,
    ) -> None:
        self._system = system
        self.shape = shape
        if not shape[0]:
            if weights is not None:
                raise InputError(f"{system} was trained without ELMo", cure="drop elmo_weights")
            cache = None
        self._cache = None if cache is None else ElmoCache(cache)
        self._elmo = None if weights is None else read_elmo(weights).to(device)
        if self._elmo is not None and self._elmo.shape != shape:
            cause = f"this ELMo has size and layers {self._elmo.shape}, and {system} needs {shape}"
            cure = "give the ELMo that the system was trained with"
            raise InputError(cause, cure=cure, file=weights)

    def layers(self, documents: Sequence[Document]) -> list[Tensor | None]:
        """Return each document's vectors, [words, size, layers], or None where it has none.

        `InputError` if a key is in no cache, or its vectors are of other words.
        """
        if not self.shape[0]:
            return [None] * len(documents)
        layers = [self._cached(document) for document in documents]
        missing = [index for index, vectors in enumerate(layers) if vectors is None]
        if missing and self._elmo is not None:
            sentences = [sentence for index in missing for sentence in documents[index].words]
            computed = iter(self._elmo(sentences))
            for index in missing:
                layers[index] = torch.cat([next(computed) for _ in documents[index].words])
        elif missing:
            warnings.warn(
                f"{self._system}: texts without cached vectors are answered without ELMo, so "
                "answers are not those of the trained system; give ELMo's published weights "
                "as elmo_weights",
                MissingElmoWarning,
                stacklevel=5,
            )
        return layers

    def _cached(self, document: Document) -> Tensor | None:
        key = document.key
        if key is None or (self._cache is None and self._elmo is None):
            return None
        if self._cache is not None and key in self._cache:
            lengths = [len(sentence) for sentence in document.words]
            return self._cache.vectors(key, lengths, self.shape)
        if self._elmo is None:
            raise InputError(
                f"the document {key} is not in the cache",
                cure="give ELMo's weights (elmo_weights; --elmo-weights in a training), another "
                "elmo_cache, or no key",
                file=None if self._cache is None else self._cache.path,
            )
        return None
