"""Any language model behind one interface: how well each form fills a slot."""

from collections.abc import Sequence
from typing import Any, Literal, Self, get_args

import numpy as np

from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.contract.self_check import announce
from pronominal.adapters.lm.models.loading import LoadedModel, Objective, load_language_model
from pronominal.adapters.lm.scoring.decoder import CausalScorer
from pronominal.adapters.lm.scoring.encoder import MaskedScorer
from pronominal.adapters.lm.scoring.infilling import AnswerScorer
from pronominal.adapters.lm.scoring.logits import Scores
from pronominal.adapters.lm.scoring.tokens import (
    IntArray,
    Sequences,
    TextTokenizer,
    form_tokens,
    unknown_forms,
)
from pronominal.errors import InputError
from pronominal.instances import FillingInstance
from pronominal.names import unknown_name
from pronominal.pronouns import CASES, PRONOUN_SETS

Scored = Literal["options", "sentences", "best"]

QUESTIONS: dict[Objective, str] = {
    "causal": "log-likelihood",
    "masked": "pseudo-log-likelihood",
    "sequence-to-sequence": "log-likelihood as the missing piece (infilling)",
}
"""What the scores are, by what a model was trained to predict; the last compares to no other."""

CHUNKS: dict[Objective, int] = {"causal": 1024, "masked": 240, "sequence-to-sequence": 240}
"""How many instances a call should have: a thousand neighbours share what a whole file shares."""


class LanguageModel:
    """A causal, masked or sequence-to-sequence model of transformers, asked to fill slots.

    A causal model's score of a filled text is its log-likelihood as upstream defines it
    (RUFF, ``score_models.py``): the text as the tokenizer cuts it by default, with its special
    tokens, and every token but the first. Only tokens from the first one on in which the options
    differ can change the order of options; nothing else is computed unless whole sentences are
    asked for. A masked model's is the pseudo-log-likelihood (see `MaskedScorer`), always of the
    whole sentence, unless the best option alone is asked for: then others are given up as soon as
    they are certainly worse. A sequence-to-sequence model is asked another question, see
    `AnswerScorer`.

    Args:
        checkpoint: a folder or a Hub id.
        scores: ``"options"``, for a causal model from the first different token on;
            ``"sentences"``, upstream's numbers; or for a masked model ``"best"``, the whole number
            of the best option, and for the others one that theirs does not exceed.
        dtype: ``"bfloat16"``, ``"float16"`` or ``"float32"``, or on a CPU ``"int16"`` or
            ``"int8"``; when None the checkpoint's own on a GPU and float32 on a CPU.
        device: a torch device such as ``"cpu"``; the first GPU if there is one when None.
        device_map: how accelerate spreads a model over GPUs, such as ``"auto"``; no `device` then.
        trust_remote_code: run the Python files that the checkpoint brings, as models do that
            transformers does not have itself (MosaicBERT). They can do all that you can.
        tokenizer: a folder or a Hub id whose tokenizer is used instead of the checkpoint's.
        config_class: the class of transformers that reads the config, such as ``"BertConfig"``.
        batch_tokens: how many tokens go through the model at once; halved where they do not fit
            into memory.

    Attributes:
        checkpoint: the weights in use.
        objective: what the model was trained to predict.
        question: what the scores are.
        chunk: how many instances a call should have.
        form_tokens: how the tokenizer splits each pronoun form inside a sentence.
        self_check: forms that the tokenizer does not know, one line each; also warned of.

    Raises:
        InputError: the checkpoint or a setting cannot be used.
    """

    name = "lm"
    engine = "transformers"

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        checkpoint: str,
        *,
        scores: Scored = "options",
        dtype: str | None = None,
        device: str | None = None,
        device_map: str | None = None,
        trust_remote_code: bool = False,
        tokenizer: str | None = None,
        config_class: str | None = None,
        batch_tokens: int | None = None,
    ) -> None:
        if scores not in get_args(Scored):
            raise unknown_name("kind of scores", scores, get_args(Scored))
        loaded = load_language_model(
            *(checkpoint, dtype, device, device_map, trust_remote_code),
            tokenizer=tokenizer,
            config_class=config_class,
        )
        self._use(loaded, scores, batch_tokens)

    @classmethod
    def in_memory(cls, model: Any, tokenizer: Any) -> Self:
        """Return a model of transformers that is in memory and may be learning, as a system.

        Nothing of it is changed; it should be in evaluation mode when it is asked.
        """
        system = cls.__new__(cls)
        system._use(LoadedModel.in_memory(model, tokenizer), "options", None)
        return system

    def _use(self, loaded: LoadedModel, scores: Scored, batch_tokens: int | None) -> None:
        self.checkpoint = loaded.checkpoint
        self.dtype, self.device, self.parameters = loaded.computation
        self.objective = loaded.objective
        self.question = QUESTIONS[loaded.objective]
        if scores == "best":
            _refuse_unless_masked(loaded)
        self.chunk = CHUNKS[loaded.objective]
        self.scores = scores
        self._loaded = loaded
        self.inference = loaded.described or None
        self._texts = TextTokenizer(loaded.tokenizer)
        self._scorer = self._make_scorer(loaded, batch_tokens)
        self.form_tokens: dict[str, tuple[str, ...]] = {}
        forms = {pronouns.form(case) for pronouns in PRONOUN_SETS for case in CASES}
        self.self_check = announce(self._learn_forms(forms))

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return for each instance, in order, one score in nats for each option.

        Scores do not depend on the other instances but for rounding, in float32 about 1e-5.

        Raises:
            InputError: a text is longer than the model reads (nothing is computed then), scores
                are no finite numbers, or a single text does not fit into memory.
        """
        if not instances:
            return []
        announce(self._learn_forms({form for i in instances for form in i.options}))
        with silent_transformers():
            if isinstance(self._scorer, AnswerScorer):
                answers = self._scorer.infill(instances)
            else:
                scores = self._score(self._scorer, instances)
                ends = np.cumsum([len(instance.options) for instance in instances])
                answers = [part.tolist() for part in np.split(scores, ends[:-1])]
        for instance, given in zip(instances, answers, strict=True):
            if not np.isfinite(given).all():
                raise InputError(
                    f"{self.checkpoint.name} gives scores that are no finite numbers",
                    cure="give undamaged weights, or compute in bfloat16 or float32",
                    row=f"id {instance.id}",
                )
        return answers

    def _score(
        self, scorer: CausalScorer | MaskedScorer, instances: Sequence[FillingInstance]
    ) -> Scores:
        sequences = self._texts.read(instances)
        self._refuse_unreadable(instances, sequences)
        if isinstance(scorer, MaskedScorer):
            return scorer.best(sequences) if self.scores == "best" else scorer.score(sequences)
        first: IntArray = np.ones(len(sequences.lengths), np.int32)
        if self.scores == "options":
            first = np.maximum(first, sequences.common_prefixes())
        return scorer.score(sequences, first)

    def _make_scorer(
        self, loaded: LoadedModel, batch_tokens: int | None
    ) -> CausalScorer | MaskedScorer | AnswerScorer:
        model, tokenizer = loaded.model, loaded.tokenizer
        if loaded.objective == "causal":
            return CausalScorer(model, batch_tokens=batch_tokens)
        if loaded.objective == "sequence-to-sequence":
            return AnswerScorer(model, tokenizer, batch_tokens=batch_tokens)
        if not tokenizer.is_fast or tokenizer.mask_token_id is None:
            raise InputError(
                "the tokenizer has no mask, or does not say which tokens make up a word",
                cure="give a masked model with one of transformers' fast tokenizers",
                file=loaded.checkpoint.name,
            )
        mask, frame = tokenizer.mask_token_id, self._texts.frame
        return MaskedScorer(model, frame=frame, mask=mask, batch_tokens=batch_tokens)

    def _learn_forms(self, forms: set[str]) -> tuple[str, ...]:
        """Note how new forms are split, and say which are unknown."""
        tokenizer = self._loaded.tokenizer
        new = form_tokens(tokenizer, sorted(forms - self.form_tokens.keys()))
        self.form_tokens |= new
        unknown = unknown_forms(tokenizer, new)
        return tuple(
            f"{self.checkpoint.name}: the tokenizer does not know '{form}' (it reads "
            f"{' '.join(new[form]) or 'nothing'}), so its scores are those of any unknown word"
            for form in unknown
        )

    def _refuse_unreadable(
        self, instances: Sequence[FillingInstance], sequences: Sequences
    ) -> None:
        """Refuse texts that are longer than the model, and tokens that it has no embedding for."""
        longest, embeddings = self._loaded.longest, self._loaded.model.get_input_embeddings()
        row = int(sequences.lengths.argmax())
        if longest is not None and sequences.lengths[row] > longest:
            raise InputError(
                f"{sequences.lengths[row]} tokens, and {self.checkpoint.name} reads {longest}",
                cure="shorten the text, or choose a model that reads more",
                row=f"id {instances[sequences.owners[row]].id}",
            )
        if sequences.ids.max() >= embeddings.num_embeddings:
            raise InputError(
                f"the tokenizer has a token {sequences.ids.max()}, and the model "
                f"{embeddings.num_embeddings} of them",
                cure="give a tokenizer and a model that belong together",
                file=self.checkpoint.name,
            )


def _refuse_unless_masked(loaded: LoadedModel) -> None:
    if loaded.objective != "masked":
        raise InputError(
            f'scores = "best" is for masked models, and this one is {loaded.objective}',
            cure="leave out scores",
            file=loaded.checkpoint.name,
        )
