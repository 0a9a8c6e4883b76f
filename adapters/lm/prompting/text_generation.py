"""Any text-generation pipeline of transformers, asked in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformers import pipeline as pipeline_of

from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.contract.refusals import FailedCallError
from pronominal.adapters.lm.models.loading import load_language_model
from pronominal.adapters.lm.prompting.budgets import THINKING_TOKENS, refuse_budgets, with_room
from pronominal.adapters.lm.prompting.chat import PROMPT_DATE, Turns, template_arguments
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.adapters.lm.thoughts.delimiters import described_delimiters, parse_thoughts
from pronominal.adapters.lm.thoughts.reading import Reply, read_reply
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
        refuse_budgets(max_new_tokens, thinking_tokens)
        delimiters = parse_thoughts(thoughts)
        arguments = template_arguments(chat_template_kwargs, enable_thinking)
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
        if (model := getattr(self._pipeline, "model", None)) is not None:
            self.dtype, self.device, self.parameters = Computation.of(model)
        tokenizer = self._pipeline.tokenizer
        template = getattr(tokenizer, "chat_template", None)
        self._chat = template is not None if chat is None else chat
        rendered = self._chat and hasattr(tokenizer, "apply_chat_template")
        way, name = "template" if rendered else "none", getattr(tokenizer, "name_or_path", "")
        self._turns = Turns(tokenizer, way, str(name), arguments, date)
        described = described_delimiters(tokenizer) if thoughts is None else ()
        self._delimiters = described or delimiters
        self._thinking_tokens = thinking_tokens if self._delimiters else 0
        self.inference = {
            "max_new_tokens": max_new_tokens,
            "thinking_tokens": self._thinking_tokens,
            **self._turns.described,
        }

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[Reply]:
        """Return what the pipeline answers to each prompt, in order, greedily."""
        if not prompts:
            return []
        with silent_transformers():
            return with_room(
                lambda chosen, limit: self._written([prompts[one] for one in chosen], limit),
                len(prompts),
                max_new_tokens or self.max_new_tokens,
                self._thinking_tokens,
            )

    def _written(self, prompts: Sequence[str], limit: int) -> list[Reply]:
        turns: list[Any] = [
            [{"role": "user", "content": prompt}] if self._chat else prompt for prompt in prompts
        ]
        told = {"tokenizer_encode_kwargs": self._turns.arguments} if self._chat else {}
        written = self._pipeline(
            turns,
            max_new_tokens=limit,
            do_sample=False,
            return_full_text=False,
            skip_special_tokens=False,  # they may be what ends a thought
            **told,
        )
        try:
            return [self._reply(str(one[0]["generated_text"])) for one in written]
        except (LookupError, TypeError) as error:
            raise FailedCallError(
                "the pipeline's output has no generated_text", cure="give a text-generation one"
            ) from error

    def _reply(self, text: str) -> Reply:
        reply = read_reply(text, prompt_end=self._turns.end, delimiters=self._delimiters)
        if reply.thought is not None:
            return reply
        for token in getattr(self._pipeline.tokenizer, "all_special_tokens", ()):
            text = text.replace(token, "")
        return Reply(text, state=reply.state)


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
