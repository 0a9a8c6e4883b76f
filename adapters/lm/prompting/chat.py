"""How a prompt becomes a user's turn in a chat: by a template, as in the paper, or not at all."""

from typing import Any, Literal, get_args

from pronominal.errors import InputError
from pronominal.names import unknown_name

Chat = Literal["none", "llama-2", "template"]


class Turns:
    """Puts prompts into the format in which a model was taught to be asked.

    Args:
        tokenizer: one of transformers' tokenizers.
        chat: ``"llama-2"`` (see `llama_2_turn`), ``"template"``, the tokenizer's own, or
            ``"none"``. When None the tokenizer's own where it has one.
        checkpoint: where the tokenizer is from, for messages.
    """

    def __init__(self, tokenizer: Any, chat: str | None, checkpoint: str) -> None:
        template = getattr(tokenizer, "chat_template", None)
        self._way = chat or ("template" if template else "none")
        self._tokenizer = tokenizer
        if self._way not in get_args(Chat):
            raise unknown_name("chat format", self._way, get_args(Chat))
        if self._way == "template" and not template:
            raise InputError(
                "the tokenizer has no chat template", cure='write chat = "none"', file=checkpoint
            )

    def text(self, prompt: str) -> str:
        """Return what the model reads before its answer."""
        if self._way == "template":
            said: str = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False
            )
            return said
        return llama_2_turn(prompt) if self._way == "llama-2" else prompt

    def tokens(self, text: str) -> list[int]:
        """Return a turn's tokens, special ones included, perhaps with an answer's behind them."""
        # a template writes the special tokens itself
        special = self._way != "template"
        return list(self._tokenizer(text, add_special_tokens=special)["input_ids"])


def llama_2_turn(prompt: str) -> str:
    """Return a prompt as a user's turn of Llama-2-chat (RUFF, Table 4).

    >>> llama_2_turn("Who left?")
    '[INST] Who left? [/INST]'
    """
    return f"[INST] {prompt} [/INST]"
