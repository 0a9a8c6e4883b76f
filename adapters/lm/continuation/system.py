"""Two questions about one slot: the likeliest form, and the form that a model writes itself."""

from collections.abc import Sequence
from typing import Literal, get_args

from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.lm.continuation.sampling import ContinuationBatches, Draw
from pronominal.adapters.lm.scoring.memory import Budget
from pronominal.adapters.lm.scoring.system import LanguageModel
from pronominal.errors import InputError
from pronominal.instances import FillingInstance
from pronominal.names import unknown_name

Probability = Literal["mean", "sum"]
Blank = Literal["keep", "strip"]

BATCH_TOKENS = {"cpu": 3_072, "cuda": 65_536}
"""How many tokens go through the model at once when nothing else is asked for."""


class TwoQuestions(LanguageModel):
    """A causal model that scores the forms of a slot, and goes on writing before and after it.

    Defaults are those of the meta-evaluation of RUFF (Subramonian et al., 2025, and its program):
    the mean over tokens, where RUFF itself has the sum, five samples of 50 tokens, the 50 likeliest
    tokens and 95 % of their probability, the checkpoint's temperature. A sample is drawn from a
    generator of its own, made of the seed, its number and the context, so that no other context
    changes it.

    Args:
        checkpoint: as for `LanguageModel`.
        probability: ``"mean"`` log-likelihood of a token, or ``"sum"`` of the text, RUFF's.
        samples: continuations of each context.
        new_tokens: their length.
        blank: ``"keep"`` the white space before the slot at the end of a context, as the paper
            does, or ``"strip"`` it: tokenizers that have it at the beginning of words never saw it.
        temperature: when None the checkpoint's own, 1 where it has none.
        top_k: see `Draw`.
        top_p: see `Draw`.
        seed: see `Draw`.
        dtype: as for `LanguageModel`.
        device: as for `LanguageModel`.
        device_map: as for `LanguageModel`.
        trust_remote_code: as for `LanguageModel`.
        batch_tokens: as for `LanguageModel`.
    """

    name = "lm-two-questions"

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        checkpoint: str,
        *,
        probability: Probability = "mean",
        samples: int = 5,
        new_tokens: int = 50,
        blank: Blank = "keep",
        temperature: float | None = None,
        top_k: int = 50,
        top_p: float = 0.95,
        seed: int = 42,
        dtype: str | None = None,
        device: str | None = None,
        device_map: str | None = None,
        trust_remote_code: bool = False,
        batch_tokens: int | None = None,
    ) -> None:
        _refuse_unknown("probability", probability, get_args(Probability))
        _refuse_unknown("way with blanks", blank, get_args(Blank))
        draw = Draw(samples, new_tokens, temperature, top_k, top_p, seed)
        super().__init__(
            checkpoint,
            scores="sentences",
            dtype=dtype,
            device=device,
            device_map=device_map,
            trust_remote_code=trust_remote_code,
            batch_tokens=batch_tokens,
        )
        if self.objective != "causal":
            cause = f"a {self.objective} model does not go on writing"
            raise InputError(cause, cure="give a causal model", file=checkpoint)
        self.seed, self.chunk = seed, 64
        self.question = f"{probability} log-likelihood, and {samples} continuations"
        self._probability, self._blank = probability, blank
        self._draw = draw.of(self._loaded.model)
        self._budget = Budget(batch_tokens, BATCH_TOKENS, self._loaded.model.device)

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return for each instance, in order, one score in nats for each option."""
        scores = super().loglikelihood(instances)
        if self._probability == "sum" or not instances:
            return scores
        # every token but the first is scored
        counts = iter((self._texts.read(instances).lengths - 1).tolist())
        return [[score / max(next(counts), 1) for score in given] for given in scores]

    def continuations(self, contexts: Sequence[str]) -> list[list[str]]:
        """Return for each context, in order, what was drawn after it."""
        if not contexts:
            return []
        if self._blank == "strip":
            contexts = [context.rstrip() for context in contexts]
        different = list(dict.fromkeys(contexts))
        with silent_transformers():
            batches = ContinuationBatches(self._loaded, different, self._draw)
            self._budget.spend_on(batches)
        drawn = dict(zip(different, batches.texts, strict=True))
        return [drawn[context] for context in contexts]


def _refuse_unknown(kind: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise unknown_name(kind, given, known)
