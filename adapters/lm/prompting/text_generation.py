"""Any text-generation pipeline of transformers, asked in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformers import pipeline as pipeline_of

from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.contract.refusals import FailedCallError
from pronominal.adapters.lm.models.loading import load_language_model
from pronominal.adapters.lm.prompting.budgets import THINKING_TOKENS
from pronominal.adapters.lm.prompting.chat import PROMPT_DATE
from pronominal.adapters.lm.prompting.conversation import ConversationSettings
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.adapters.lm.thoughts.reading import Reply
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
        thinking_tokens: as for `PromptedModel`.
        thoughts: as for `PromptedModel`.
        enable_thinking: as for `PromptedModel`.
        chat_template_kwargs: as for `PromptedModel`.
        date: as for `PromptedModel`.
    """

    name = "text-generation"
    engine = "transformers"
    question = "generation"
    chunk = 64

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        pipeline: Any,
        *,
        prompts: Sequence[str] | None = None,
        chain_of_thought: str | None = None,
        slot: str | None = None,
        chat: bool | None = None,
        max_new_tokens: int = ANSWER_TOKENS,
        thinking_tokens: int = THINKING_TOKENS,
        thoughts: str | Sequence[str] | None = None,
        enable_thinking: bool | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        date: str = PROMPT_DATE,
    ) -> None:
        settings = ConversationSettings(
            max_new_tokens, thinking_tokens, thoughts, enable_thinking, chat_template_kwargs, date
        )
        self.prompting = parse_prompts(prompts, chain_of_thought, slot)
        self.checkpoint, self._pipeline = _opened(pipeline)
        if (model := getattr(self._pipeline, "model", None)) is not None:
            self.dtype, self.device, self.parameters = Computation.of(model)
        tokenizer = self._pipeline.tokenizer
        template = getattr(tokenizer, "chat_template", None)
        self._chat = template is not None if chat is None else chat
        rendered = self._chat and hasattr(tokenizer, "apply_chat_template")
        way, name = "template" if rendered else "none", getattr(tokenizer, "name_or_path", "")
        self._conversation = settings.begin(tokenizer, way, str(name))
        self.max_new_tokens = self._conversation.max_new_tokens
        self.inference = self._conversation.described

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[Reply]:
        """Return what the pipeline answers to each prompt, in order, greedily."""
        if not prompts:
            return []
        with silent_transformers():
            return self._conversation.replies(
                lambda chosen, limit: self._written([prompts[one] for one in chosen], limit),
                len(prompts),
                max_new_tokens or self.max_new_tokens,
            )

    def _written(self, prompts: Sequence[str], limit: int) -> list[Reply]:
        turns: list[Any] = [
            [{"role": "user", "content": prompt}] if self._chat else prompt for prompt in prompts
        ]
        told = {"tokenizer_encode_kwargs": self._conversation.turns.arguments} if self._chat else {}
        written = self._pipeline(
            turns,
            max_new_tokens=limit,
            do_sample=False,
            return_full_text=False,
            skip_special_tokens=False,  # they may be what ends a thought
            **told,
        )
        try:
            return [self._conversation.reply_in(str(one[0]["generated_text"])) for one in written]
        except (LookupError, TypeError) as error:
            raise FailedCallError(
                "the pipeline's output has no generated_text", cure="give a text-generation one"
            ) from error


def _opened(pipeline: Any) -> tuple[Checkpoint | None, Any]:
    """Return a pipeline, and where it is from if it has to be made."""
    checkpoint, opened = _made(pipeline) if isinstance(pipeline, str) else (None, pipeline)
    if getattr(opened, "task", None) != "text-generation":
        raise InputError(
            f"a {type(opened).__name__} does not generate text",
            cure='give transformers.pipeline("text-generation", ...)',
        )
    return checkpoint, opened


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
