"""A trained classifier behind the interface of systems."""

import warnings
from collections.abc import Sequence

import torch

from pronominal.adapters.bert.checkpoint import load_classifier
from pronominal.adapters.bert.encoding import EncodedInstance, InstanceEncoder
from pronominal.adapters.bert.model import AntecedentClassifier, InstanceBatch, corrected
from pronominal.adapters.checkpoints.transformers_models import torch_device
from pronominal.adapters.contract.systems import AnswerWarning
from pronominal.adapters.layers.encoders import EncoderDtype, compute_in
from pronominal.adapters.words.length_batches import length_batches, require_batch_size
from pronominal.instances import ResolutionInstance


class UnreadableInstanceWarning(AnswerWarning):
    """An instance could not be read and got no choice."""


class BERT:
    """Chooses between two candidates with an encoder that was trained for it.

    Make one with ``pronominal train bert``.

    Args:
        checkpoint: the folder of a trained classifier, or its Hub id.
        device: such as ``"cuda"``; a GPU if there is one when None.
        batch_size: instances that are read at once.
        prior_correction: whether the first mention's logit is lowered by the log odds that the
            first mention had in training; as the classifier was saved when None.
        dtype: see `compute_in`.
    """

    name = "bert"
    engine = "torch"

    def __init__(
        self,
        checkpoint: str,
        device: str | None = None,
        batch_size: int = 64,
        prior_correction: bool | None = None,
        dtype: EncoderDtype = "float32",
    ) -> None:
        require_batch_size(batch_size)
        target = torch_device(device)
        model, tokenizer, classifier, self.checkpoint = load_classifier(checkpoint)
        self._model = model.to(target)
        self.dtype, self.device, self.parameters = compute_in(
            dtype, self._model, self._model.encoder
        )
        self._encoder = InstanceEncoder(tokenizer, classifier)
        corrects = classifier.prior_correction if prior_correction is None else prior_correction
        self._prior = classifier.first_prior if corrects else None
        self.classifier = classifier
        self.batch_size = batch_size

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        """Return for each instance, in order, the probability of each candidate.

        A candidate that is not in the text has 0. An instance whose candidates and pronoun do
        not fit into one window has 0 for both, which is no choice, and is named in a warning.
        """
        answers = [[0.0, 0.0] for _ in instances]
        readable: list[tuple[int, EncodedInstance]] = []
        for index, encoded in enumerate(self._encoder.encode(instances)):
            located = [candidate.located for candidate in instances[index].candidates]
            if isinstance(encoded, EncodedInstance):
                readable.append((index, encoded))
            elif not all(located):
                answers[index] = [float(located == [True, False]), float(located == [False, True])]
            else:
                cause = f"bert: id {instances[index].id}: no choice, for {encoded.reason}"
                warnings.warn(cause, UnreadableInstanceWarning, stacklevel=2)
        inputs = [encoded for _, encoded in readable]
        scored = probabilities(self._model, inputs, batch_size=self.batch_size, prior=self._prior)
        for (index, _), answer in zip(readable, scored, strict=True):
            answers[index] = answer
        return answers


def probabilities(
    model: AntecedentClassifier,
    encoded: Sequence[EncodedInstance],
    *,
    batch_size: int,
    prior: float | None = None,
) -> list[list[float]]:
    """Return the probability of each candidate; `prior` is that of `corrected`, if any."""
    device = next(model.parameters()).device
    answers: list[list[float]] = [[] for _ in encoded]
    lengths = [instance.length for instance in encoded]
    with torch.inference_mode():
        for chosen in length_batches(lengths, most=batch_size):
            batch = InstanceBatch.of([encoded[index] for index in chosen], model.padding, device)
            logits = model(batch)
            if prior is not None:
                logits = corrected(logits, batch.first, prior)
            for index, answer in zip(chosen, logits.softmax(-1).tolist(), strict=True):
                answers[index] = answer
    return answers
