"""Any model that writes, asked in words what one pronoun refers to, without any options.

This is another question than that of a coreference system: the pronoun is pointed out, and the
answer need not be found in the text (Le and Ritter, 2023, have both).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pronominal.adapters.lm.coreference.asked_model import asked_model, asks, generated
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, Prompt
from pronominal.errors import InputError
from pronominal.instances import FillingInstance, ResolutionInstance

QUESTION = """\
One pronoun of the text stands between asterisks. Whom or what does it refer to? Answer with an \
expression of the text and nothing else, or with "nobody" if the text does not say it.

Text: {text}
Answer:"""


@dataclass(frozen=True, slots=True)
class MarkedPronoun:
    """The one prompt of this question; see `pronominal.adapters.lm.prompting.prompts.Prompting`."""

    chain_of_thought: None = None

    def of(self, instance: FillingInstance | ResolutionInstance) -> list[Prompt]:
        """Return the question about an instance's pronoun; `InputError` for a slot."""
        if isinstance(instance, FillingInstance):
            cause = "the question is what a pronoun refers to, and the dataset asks for a pronoun"
            raise InputError(cause, cure="run lm or lm-prompts")
        start, end = instance.pronoun.span
        text = instance.text
        pointed = f"{text[:start]}*{text[start:end]}*{text[end:]}"
        return [Prompt("marked-pronoun", QUESTION.replace("{text}", pointed), "")]


class QuestionModel:
    """Asks a model what the pronoun of each instance refers to.

    What it writes is read as the answers of ``lm-prompts`` are: one candidate's words are a choice,
    those of none or several are an abstention.

    Args:
        model: a folder or a Hub id, the URL of a server of your own, or an object with a method
            ``generate``.
        settings: those of ``lm-prompts`` or, for a URL, of ``lm-server``.
    """

    name = "lm-coref-questions"
    chunk = 64
    asks = staticmethod(asks)

    def __init__(self, model: Any, **settings: Any) -> None:
        self._model = asked_model(model, settings)
        self.checkpoint = getattr(self._model, "checkpoint", None)
        asked = getattr(self._model, "question", None) or "generation"
        self.question = f"what the pronoun pointed out refers to, {asked}"
        self.prompting = MarkedPronoun()
        self._limit: int = settings.get("max_new_tokens", ANSWER_TOKENS)

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> Sequence[str]:
        """Return what the model writes after each prompt, in order."""
        return generated(self._model, prompts, max_new_tokens or self._limit)
