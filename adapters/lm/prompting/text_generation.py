"""Any text-generation pipeline of transformers, asked in words."""

from collections.abc import Sequence
from typing import Any

from transformers import pipeline as pipeline_of

from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.contract.refusals import FailedCallError
from pronominal.adapters.lm.models.loading import load_language_model
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.errors import InputError


class TextGeneration:
    """A pipeline as its maker set it up: with its own tokenizer, batches and settings.

    Args:
        pipeline: what ``transformers.pipeline("text-generation", ...)`` returned; or a folder or a
            Hub id, from which it is made.
        prompts: names of the prompts to ask (see `lm.prompting.prompts`); all of them when None.
        chain_of_thought: ``"kojima"`` or ``"zhou"``; None asks for the answer at once.
        slot: how a slot is drawn, ``"_______"`` as in RUFF's Table 4; None as its program does.
        chat: ask as a user's turn; when None, where the tokenizer has a chat template.
        max_new_tokens: the longest answer.
    """

    name = "text-generation"
    engine = "transformers"
    question = "generation"
    chunk = 64

    def __init__(
        self,
        pipeline: Any,
        *,
        prompts: Sequence[str] | None = None,
        chain_of_thought: str | None = None,
        slot: str | None = None,
        chat: bool | None = None,
        max_new_tokens: int = ANSWER_TOKENS,
    ) -> None:
        if max_new_tokens < 1:
            raise InputError("nothing is answered", cure="give max_new_tokens above 0")
        self.prompting = parse_prompts(prompts, chain_of_thought, slot)
        self.max_new_tokens = max_new_tokens
        self.checkpoint: Checkpoint | None = None
        if isinstance(pipeline, str):
            self.checkpoint, pipeline = _made(pipeline)
        self._pipeline = pipeline
        if getattr(self._pipeline, "task", None) != "text-generation":
            raise InputError(
                f"a {type(self._pipeline).__name__} does not generate text",
                cure='give transformers.pipeline("text-generation", ...)',
            )
        self.dtype, self.device, self.parameters = Computation.of(self._pipeline.model)
        template = getattr(self._pipeline.tokenizer, "chat_template", None)
        self._chat = template is not None if chat is None else chat

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[str]:
        """Return what the pipeline writes after each prompt, in order, greedily."""
        if not prompts:
            return []
        turns: list[Any] = [
            [{"role": "user", "content": prompt}] if self._chat else prompt for prompt in prompts
        ]
        with silent_transformers():
            written = self._pipeline(
                turns,
                max_new_tokens=max_new_tokens or self.max_new_tokens,
                do_sample=False,
                return_full_text=False,
            )
        try:
            return [str(one[0]["generated_text"]) for one in written]
        except (LookupError, TypeError) as error:
            raise FailedCallError(
                "the pipeline's output has no generated_text", cure="give a text-generation one"
            ) from error


def _made(checkpoint: str) -> tuple[Checkpoint, Any]:
    # the pipeline's own loading draws missing tensors at random, and makes up a tokenizer
    loaded = load_language_model(checkpoint)
    if loaded.objective != "causal":
        raise InputError(
            f"a {loaded.objective} model makes no text-generation pipeline",
            cure="give a causal model, or another as the system lm-prompts or lm",
            file=checkpoint,
        )
    with silent_transformers():
        made = pipeline_of(
            "text-generation",
            model=loaded.model,
            tokenizer=loaded.tokenizer,
            device=loaded.model.device,
        )
    return loaded.checkpoint, made
