"""Stanza's coreference (Qi et al., 2020): word-level, after Dobrovolskii (2021).

The package's network is called below its pipeline, which would fetch models and give words without
their places. What it is given is what ``stanza/pipeline/coref_processor.py`` gives it.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from stanza.models.coref.model import CorefModel

from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.files import open_checkpoint
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.checkpoints.transformers_models import silent_transformers, torch_device
from pronominal.adapters.contract.refusals import scores_not_finite
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import contract_clusters, refuse_bare_string
from pronominal.adapters.words.english import EnglishWords, in_characters
from pronominal.adapters.words.ontonotes import word_speakers
from pronominal.errors import InputError
from pronominal.spans import Cluster, Document, Span

NO_SPEAKER = "_"
"""The speaker that Stanza gives a word that has none."""

_FOR_TRAINING = {"bert_optimizer", "general_optimizer", "bert_scheduler", "general_scheduler"}


class Stanza:
    """A coreference model of Stanza.

    Args:
        checkpoint: the folder of one model, ``NAME.pt``, as Stanza downloads it into
            ``stanza_resources/en/coref``; the encoder that it names comes from the Hub's cache, or
            from the Hub.
        device: a torch device such as ``"cpu"``; the first GPU if there is one when None.
    """

    name = "stanza"
    engine = "stanza"

    def __init__(self, checkpoint: str, *, device: str | None = None) -> None:
        target = torch_device(device)
        self.checkpoint = open_checkpoint(checkpoint, weights=("*.pt",), config="*.pt", others=())
        models = sorted(self.checkpoint.folder.glob("*.pt"))
        if len(models) > 1:
            raise InputError(
                f"there are {len(models)} models", cure="give a folder with one", file=checkpoint
            )
        with _quiet():
            self._model = _load(str(models[0]), target, checkpoint)
        networks = (self._model.bert, *self._model.trainable.values())
        self.dtype, self.device, self.parameters = Computation.of(*networks)
        self._words = EnglishWords()
        self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans.

        Words and sentences are those of `EnglishWords`, less the white space among them.
        """
        refuse_bare_string(texts)
        answers = []
        for index, text in enumerate(texts):
            document, places = _without_white_space(*self._words.read(text))
            in_words = self._cluster(document, index, "texts")
            answers.append(contract_clusters(in_characters(in_words, places)))
        return answers

    def cluster_documents(self, documents: Sequence[Document]) -> list[list[Cluster]]:
        """Return for each document, in order, its clusters as half-open spans of words."""
        return [self._cluster(one, index, "documents") for index, one in enumerate(documents)]

    def _cluster(self, document: Document, index: int, among: str) -> list[Cluster]:
        words = [word for sentence in document.words for word in sentence]
        if not words:
            return []
        speakers = word_speakers(document, NO_SPEAKER, f"{among}[{index}]")
        sentences = [number for number, sentence in enumerate(document.words) for _ in sentence]
        asked = {
            "document_id": "wb_doc_1",  # web text, as Stanza says of every text
            "cased_words": words,
            "sent_id": sentences,
            "speaker": [speaker or NO_SPEAKER for speaker in speakers],
        }
        with torch.no_grad():
            answer = self._model.run(self._model.build_doc(asked))
        # pairs that are no candidates score minus infinity
        if torch.isnan(answer.coref_scores).any():
            raise scores_not_finite(index, self.checkpoint.name, among)
        return [[Span(*span) for span in cluster] for cluster in answer.span_clusters if cluster]


@contextmanager
def _quiet() -> Iterator[None]:
    logger = logging.getLogger("stanza")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with silent_transformers():
            yield
    finally:
        logger.setLevel(level)


def _load(file: str, device: torch.device, checkpoint: str) -> Any:
    with input_error_on(
        # torch, transformers, peft and the config fail in many ways
        Exception,
        cause="it is no coreference model of Stanza, or its encoder is not available",
        cure="download one with a current version of Stanza, and its encoder while online",
        file=checkpoint,
    ):
        model = CorefModel.load_model(
            file,
            map_location="cpu",
            ignore=_FOR_TRAINING,
            config_update={"log_norms": False, "device": str(device)},
        )
    model.training = False
    return model


def _without_white_space(document: Document, places: Sequence[Span]) -> tuple[Document, list[Span]]:
    flat = [word for sentence in document.words for word in sentence]
    kept = [[word for word in sentence if not word.isspace()] for sentence in document.words]
    return (
        Document([sentence for sentence in kept if sentence], genre=document.genre),
        [place for word, place in zip(flat, places, strict=True) if not word.isspace()],
    )
