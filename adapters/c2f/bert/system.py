"""BERT and SpanBERT below the coarse-to-fine head, behind the clustering interface."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, get_args

from pronominal.adapters.c2f.bert.checkpoint import SPANBERT_SEGMENTS, Form, open_parts
from pronominal.adapters.c2f.bert.pieces import (
    FRAME,
    PieceText,
    character_span,
    framed,
    is_widened,
    oversized_sentences,
    read_as_winopron,
    segments,
)
from pronominal.adapters.c2f.head.prediction import predicted_clusters
from pronominal.adapters.c2f.head.units import Units, word_span
from pronominal.adapters.checkpoints.transformers_models import torch_device
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import (
    OversizedSentenceWarning,
    contract_clusters,
    refuse_bare_string,
)
from pronominal.adapters.layers.encoders import EncoderDtype, compute_in
from pronominal.adapters.words.english import EnglishWords
from pronominal.adapters.words.length_batches import require_batch_size
from pronominal.names import unknown_name
from pronominal.spans import Cluster, Document

TextInput = Literal["words", "winopron"]


class TransformerCoreference:
    """A published system that is BERT or SpanBERT below the coarse-to-fine head.

    Answers do not depend on what else is in a batch, but for rounding: scores agree to about 1e-5.

    Args:
        checkpoint: a folder with upstream's files, or what ``pronominal convert c2f`` wrote, or
            the Hub id of such a one. See the system's card for the files.
        weights: ``"torch"`` (coref-hoi), ``"tensorflow"`` (mandarjoshi90/coref) or
            ``"safetensors"``, for a folder with several; the converted ones before coref-hoi's
            before TensorFlow's when None.
        text_input: what `cluster` reads. ``"words"``: spaCy's words in sentences and segments, as
            in CoNLL-2012; ``"winopron"``: word pieces of the whole text in one segment, as the
            WinoPron authors had it.
        device: a torch device such as ``"cpu"``; the first GPU if there is one when None.
        batch_size: how many documents go through the model at once.
        dtype: see `compute_in`.

    Attributes:
        checkpoint: the weights in use.
        widened_spans: how many spans have begun or ended inside a word so far; answers hold the
            whole word.
        self_check: what is wrong with the weights, one line each; also warned of on load.
    """

    name: str
    engine = "torch"
    segment_lengths: Mapping[int, int]
    """The published length of segments for each size of the encoder, in word pieces."""

    def __init__(
        self,
        checkpoint: str,
        *,
        weights: Form | None = None,
        text_input: TextInput = "words",
        device: str | None = None,
        batch_size: int = 32,
        dtype: EncoderDtype = "float32",
    ) -> None:
        require_batch_size(batch_size)
        if text_input not in get_args(TextInput):
            raise unknown_name("text_input", text_input, get_args(TextInput))
        target = torch_device(device)
        parts = open_parts(checkpoint, weights, self.segment_lengths)
        self.checkpoint = parts.checkpoint
        self.batch_size = batch_size
        self.text_input = text_input
        self._capacity = parts.settings.max_segment_len - FRAME
        self._tokenizer = parts.tokenizer
        self._model = parts.model.to(target)
        self.dtype, self.device, self.parameters = compute_in(
            dtype, self._model, self._model.encoder.bert
        )
        self._words = EnglishWords()
        self.widened_spans = 0
        self.self_check = announce(check_clusters(self))
        self.widened_spans = 0

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans.

        Texts have one nameless speaker and no genre, which counts as the first one.
        """
        refuse_bare_string(texts)
        read = [self._read(text, index) for index, text in enumerate(texts)]
        in_pieces = self._cluster([text.units for text in read], "texts")
        return [
            contract_clusters([[character_span(text, span) for span in c] for c in clusters])
            for clusters, text in zip(in_pieces, read, strict=True)
        ]

    def cluster_documents(self, documents: Sequence[Document]) -> list[list[Cluster]]:
        """Return for each document, in order, its clusters as half-open spans of words.

        Words are counted over all sentences; clusters are upstream's, nothing is cleaned. A genre
        that upstream does not know, or none, counts as the first one.
        """
        units = [self._units(one, index, "documents") for index, one in enumerate(documents)]
        in_pieces = self._cluster(units, "documents")
        return [
            [[word_span(document, span) for span in cluster] for cluster in clusters]
            for clusters, document in zip(in_pieces, units, strict=True)
        ]

    def _read(self, text: str, index: int) -> PieceText:
        if self.text_input == "words":
            document, places = self._words.read(text)
            units = self._units(replace(document, genre=None), index, "texts")
            return PieceText(units, places)
        read = read_as_winopron(text, self._tokenizer)
        longest = self._model.encoder.bert.config.max_position_embeddings
        if len(read.units) > longest:
            cause = f"it has {len(read.units)} word pieces, and the encoder reads {longest} at once"
            cure = 'cut it, or leave out text_input = "winopron", which knows no segments'
            raise RefusedTextError(cause, cure=cure, index=index)
        return read

    def _units(self, document: Document, index: int, among: str) -> Units:
        place = f"{among}[{index}]"
        pieces = self._tokenizer.read(document, place)
        cut = segments(pieces, self._capacity)
        sentences = oversized_sentences(pieces, self._capacity)
        OversizedSentenceWarning.warn(self.name, index, place, sentences, self._capacity)
        return framed(pieces, cut, document.genre, document.key)

    def _cluster(self, documents: Sequence[Units], among: str) -> list[list[Cluster]]:
        answers = predicted_clusters(
            lambda batch: self._model([documents[index] for index in batch]),
            [len(units) for units in documents],
            most=self.batch_size,
            checkpoint=self.checkpoint.name,
            among=among,
        )
        self.widened_spans += sum(
            is_widened(document, span)
            for document, clusters in zip(documents, answers, strict=True)
            for cluster in clusters
            for span in cluster
        )
        return answers


class BERTCoref(TransformerCoreference):
    """BERT's coreference system, base or large. See `TransformerCoreference` for arguments.

    Joshi et al., 2019, "BERT for Coreference Resolution: Baselines and Analysis".
    """

    name = "bert-coref"
    segment_lengths = MappingProxyType({768: 128, 1024: 384})


class SpanBERT(TransformerCoreference):
    """SpanBERT's coreference system, base or large. See `TransformerCoreference` for arguments.

    Joshi et al., 2020, "SpanBERT: Improving Pre-training by Representing and Predicting Spans".
    """

    name = "spanbert"
    segment_lengths = SPANBERT_SEGMENTS
