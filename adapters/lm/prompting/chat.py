"""How a prompt becomes a user's turn in a chat: by a template, as in the paper, or not at all."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, get_args

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.lm.thoughts.delimiters import Delimiters
from pronominal.adapters.lm.thoughts.reading import closes_thought, mentions_thoughts
from pronominal.errors import InputError
from pronominal.names import unknown_name

Chat = Literal["none", "llama-2", "template"]

PLACE = "{prompt}"
"""What stands for a prompt in the frame around it."""

PROMPT_DATE = "2025-01-01"
"""The day that templates print which print one: another day would be another prompt."""


_DIRECTIVES = "aAwdbBmyYHIMSpjUWcxX"
"""What a template may ask of a day: C's directives, each also with ``-`` between ``%`` and it."""


class Turns:
    """Puts prompts into the format in which a model was taught to be asked.

    Args:
        tokenizer: one of transformers' tokenizers.
        chat: ``"llama-2"`` (see `llama_2_turn`), ``"template"``, the tokenizer's own, or
            ``"none"``. When None the tokenizer's own where it has one.
        checkpoint: where the tokenizer is from, for messages.
        arguments: what the template is told besides the prompt, such as ``enable_thinking``.
        today: the day that a template prints, if it prints one: ``"2025-01-01"``.

    Attributes:
        frame: what stands around a prompt, with `PLACE` for the prompt itself.
        end: what stands behind it.
        arguments: what `apply_chat_template` of the tokenizer is told.
        described: what a run records of it.

    Raises:
        InputError: there is no such format or template, or an argument changes nothing.
    """

    def __init__(
        self,
        tokenizer: Any,
        chat: str | None,
        checkpoint: str,
        arguments: Mapping[str, Any] | None = None,
        today: str = PROMPT_DATE,
    ) -> None:
        template = getattr(tokenizer, "chat_template", None)
        self._way = chat or ("template" if template else "none")
        self._tokenizer, self._checkpoint = tokenizer, checkpoint
        if self._way not in get_args(Chat):
            raise unknown_name("chat format", self._way, get_args(Chat))
        if self._way == "template" and not template:
            raise InputError(
                "the tokenizer has no chat template", cure='write chat = "none"', file=checkpoint
            )
        day = parse_day(today)
        self._arguments = dict(arguments or {})
        own = getattr(tokenizer, "get_chat_template", lambda: template)
        given = self._arguments.get("chat_template")
        self._template = str(given or own()) if self._way == "template" else ""
        self.arguments = self._arguments | self._on(day)
        self._refuse_idle()
        self.frame = self.text(PLACE)
        self.end = self.frame.rpartition(PLACE)[2]
        self.described: dict[str, Any] = {"frame": self.frame}
        if self._arguments:
            self.described["chat_template_kwargs"] = self._arguments
        # of another year, month, weekday and day of the month
        another = self._on(date.fromordinal(day.toordinal() % 3_000_000 + 400))
        if another and self._rendered(PLACE, self._arguments | another) != self.frame:
            self.described["date"] = day.isoformat()

    def text(self, prompt: str) -> str:
        """Return what the model reads before its answer."""
        if self._way == "template":
            return self._rendered(prompt, self.arguments)
        return llama_2_turn(prompt) if self._way == "llama-2" else prompt

    def tokens(self, text: str) -> list[int]:
        """Return a turn's tokens, special ones included, perhaps with an answer's behind them."""
        # a template writes the special tokens itself
        special = self._way != "template"
        return list(self._tokenizer(text, add_special_tokens=special)["input_ids"])

    def refuse_thinking(self, delimiters: Sequence[Delimiters]) -> None:
        """Raise `InputError` where what follows the prompt would be a thought, or may be one."""
        may_think = self._way == "template" and mentions_thoughts(self._template, delimiters)
        if may_think and not closes_thought(self.end, delimiters):
            raise InputError(
                "the model thinks before it answers, so that options behind its prompt would be "
                "scored as the beginning of a thought",
                cure="switch its thoughts off, as with --set enable_thinking=false, say with "
                "--set thoughts=none that it has none, or ask it as lm-prompts",
                file=self._checkpoint,
            )

    def _rendered(self, prompt: str, arguments: Mapping[str, Any]) -> str:
        with input_error_on(
            Exception,
            cause="the chat template makes no prompt",
            cure='give it other arguments, or write chat = "none"',
            file=self._checkpoint,
            quoted=False,  # it may quote the prompt
        ):
            said: str = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": prompt}],
                add_generation_prompt=True,
                tokenize=False,
                **arguments,
            )
        return said

    def _on(self, day: date) -> dict[str, str]:
        """Return the template that prints a day, for `apply_chat_template`, if this one does."""
        dated = "strftime_now" in self._template
        return {"chat_template": on_day(self._template, day)} if dated else {}

    def _refuse_idle(self) -> None:
        """Refuse arguments that the template does not look at, which it would take in silence."""
        for name, value in self._arguments.items():
            if self._way == "template" and self._is_looked_at(name, value):
                continue
            raise InputError(
                f"the prompts are the same whatever {name} is",
                cure="leave it out: this model has no such switch in its chat template",
                file=self._checkpoint,
            )

    def _is_looked_at(self, name: str, value: Any) -> bool:
        """Say whether the prompt is another one without an argument, or with another value."""
        given = self._rendered(PLACE, self.arguments)
        without = {other: said for other, said in self.arguments.items() if other != name}
        others = [without, without | {name: not value}]
        others += [without | {name: f"{value}-{value}"}] if isinstance(value, str) else []
        for arguments in others:
            try:
                if self._rendered(PLACE, arguments) != given:
                    return True
            except InputError:  # it accepts some values only
                return True
        return False


def on_day(template: str, day: date) -> str:
    """Return a chat template that prints a fixed day where it would print today.

    transformers hands templates no function of ours in place of its own ``strftime_now``, so that a
    macro of this name stands before the template, whatever format it is given, and in which way.

    >>> on_day("{{ strftime_now('%d %b %Y') }}", date(2025, 1, 31)).splitlines()[-1]
    "{{ strftime_now('%d %b %Y') }}"
    """
    made = {f"%{one}": day.strftime(f"%{one}") for one in _DIRECTIVES}
    made |= {f"%-{one}": day.strftime(f"%{one}").lstrip("0") or "0" for one in _DIRECTIVES}
    # %% is a sign, whatever follows it
    written = "".join(f".replace({sign!r}, {text!r})" for sign, text in made.items())
    return (
        "{% macro strftime_now(format) %}{% for part in format.split('%%') %}"
        "{{ '' if loop.first else '%' }}{{ part" + written + " }}{% endfor %}{% endmacro %}\n"
        f"{template}"
    )


def parse_day(setting: object) -> date:
    """Return the day of the setting ``date``; `InputError` if it is none."""
    try:
        return setting if isinstance(setting, date) else date.fromisoformat(str(setting))
    except ValueError as error:
        raise InputError(f"'{setting}' is no date", cure=f"write {PROMPT_DATE}, say") from error


def template_arguments(arguments: object, enable_thinking: object = None) -> dict[str, Any]:
    """Return the settings ``chat_template_kwargs`` and ``enable_thinking`` as one.

    Raises:
        InputError: they are no table and no truth value.
    """
    if not isinstance(arguments, Mapping | None):
        cure = "write chat_template_kwargs = {enable_thinking = false}, say"
        raise InputError("chat_template_kwargs are no table", cure=cure)
    if not isinstance(enable_thinking, bool | None):
        raise InputError("enable_thinking is true or false", cure="write one of the two")
    switch = {} if enable_thinking is None else {"enable_thinking": enable_thinking}
    return {**(arguments or {}), **switch}


def llama_2_turn(prompt: str) -> str:
    """Return a prompt as a user's turn of Llama-2-chat (RUFF, Table 4).

    >>> llama_2_turn("Who left?")
    '[INST] Who left? [/INST]'
    """
    return f"[INST] {prompt} [/INST]"
