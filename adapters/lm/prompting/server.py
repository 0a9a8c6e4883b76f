"""Models behind a server that speaks OpenAI's protocol: vLLM, SGLang, llama.cpp, Ollama and others.

The server is one of the user's own: a hosted API is refused unless the user accepts what that means
(see `pronominal.adapters.remote.servers`).
"""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from pronominal.adapters.contract.plain_questions import plain_prompts
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.lm.prompting.budgets import THINKING_TOKENS, refuse_budgets
from pronominal.adapters.lm.prompting.chat import template_arguments
from pronominal.adapters.lm.prompting.model_server import (
    TIMEOUT,
    ModelServer,
    PromptAtFaultError,
    checked_address,
)
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.adapters.lm.thoughts.delimiters import parse_thoughts
from pronominal.adapters.lm.thoughts.reading import CUT, Reply, read_reply
from pronominal.errors import InputError

START = "vllm serve ORG/NAME"
"""A command that starts such a server."""

BROKEN_OFF = ("abort", "error")
"""Finish reasons of vLLM and SGLang for answers that they gave up, as when they are shut down."""

THOUGHT_FIELDS = ("reasoning", "reasoning_content", "thinking")
"""Where servers put a thought that they have told from the answer themselves."""

HANDS_OUT_CUT_THOUGHTS = "force_nonempty_content"
"""An argument of SGLang's with which a thought that was cut off is passed off as the answer."""


class ServedModel:
    """A model that a server runs, asked in words.

    Args:
        url: the server's address, such as ``http://localhost:8000`` or ``http://gpu-7:8000/v1``.
        model: the model's name on the server; the only one that it serves when None.
        program: what serves it: ``"vllm"``, ``"sglang"``, ``"llama.cpp"`` or ``"ollama"``; what the
            server says of itself when None.
        host: the name of a machine of your own that has a public name; the URL's host has to be
            this one. Machines of the local network need no such word.
        i_accept_contamination: send evaluation text to a hosted API, whose owner may train on it.
        prompts: names of the prompts to ask (see `lm.prompting.prompts`); all of them when None.
        chain_of_thought: ``"kojima"`` or ``"zhou"``; None asks for the answer at once.
        slot: how a slot is drawn, ``"_______"`` as in RUFF's Table 4; None as its program does.
        chat: ask as a user's turn, in the model's own format; otherwise the prompt is continued.
        max_new_tokens: the longest answer.
        thinking_tokens: how many tokens more a prompt has whose answer was cut off in a thought;
            it is asked again with them. 0 for none.
        thoughts: as for `PromptedModel`, for servers that leave thoughts in the answer.
        enable_thinking: as for `PromptedModel`; the server switches.
        reasoning_effort: how long the model is to think, as gpt-oss has it: ``"low"``, say.
        chat_template_kwargs: what else the server is to tell the model's chat template.
        at_once: how many prompts the server is given at a time.
        patience: for how many seconds an unreachable server is asked again.
        timeout: for how many seconds a prompt may stay without an answer.
    """

    name = "lm-server"
    engine = "a server that speaks OpenAI's protocol"
    chunk = 16

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        url: str,
        *,
        model: str | None = None,
        program: str | None = None,
        host: str | None = None,
        i_accept_contamination: bool = False,
        prompts: Sequence[str] | None = None,
        chain_of_thought: str | None = None,
        slot: str | None = None,
        chat: bool = True,
        max_new_tokens: int = ANSWER_TOKENS,
        thinking_tokens: int = THINKING_TOKENS,
        thoughts: str | Sequence[str] | None = None,
        enable_thinking: bool | None = None,
        reasoning_effort: str | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        at_once: int = 16,
        patience: float = 60,
        timeout: float = TIMEOUT,
    ) -> None:
        refuse_budgets(max_new_tokens, thinking_tokens)
        self._delimiters = parse_thoughts(thoughts)
        arguments = template_arguments(chat_template_kwargs, enable_thinking)
        self.prompting = parse_prompts(prompts, chain_of_thought, slot)
        address = checked_address(url, host, i_accept_contamination)
        self._server = ModelServer(address, model, program, at_once, patience, timeout)
        self.max_new_tokens = max_new_tokens
        self._thinking_tokens = thinking_tokens if self._delimiters else 0
        self._chat = chat
        self._switches = _switches(self._server, chat, arguments, reasoning_effort)
        self._thinks: bool | None = enable_thinking or None
        self._trial = Lock()
        self.question = f"generation of {self._server.model}"
        self.inference = {
            "max_new_tokens": max_new_tokens,
            "thinking_tokens": self._thinking_tokens,
            **self._switches,
            "server": self._server.described,
        }

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[Reply]:
        """Return what the model answers to each prompt, in order, at temperature 0.

        Raises:
            RefusedTextError: the server refuses a prompt, or fails at it, and answers a plain one.
            InputError: it refuses every prompt, or cannot be reached any more.
        """
        limit = max_new_tokens or self.max_new_tokens
        return self._server.asked(lambda prompt, index: self._answer(prompt, limit, index), prompts)

    def _answer(self, prompt: str, limit: int, index: int) -> Reply:
        try:
            return self._with_room(prompt, limit)
        except PromptAtFaultError as error:
            raise RefusedTextError(
                f"the server answers another prompt, and not this one ({error})",
                cure="shorten it, or start the server with more room for a prompt",
                index=index,
                among="prompts",
                checkpoint=self._server.address,
            ) from error

    def _with_room(self, prompt: str, limit: int) -> Reply:
        """Ask once, and again with room for a thought where one took the room of the answer."""
        reply, length = self._asked(prompt, limit)
        if not self._delimiters or reply.finish_reason != CUT:
            return reply
        unseen = not reply.needs_room and self._chat and self._thinks_unseen()
        if self._thinking_tokens and (unseen or reply.needs_room):
            reply, _ = self._asked(prompt, self._room(limit + self._thinking_tokens, length))
        if unseen and reply.thought is None and reply.finish_reason == CUT:
            return Reply("", state="unfinished", thought=str(reply), finish_reason=CUT)
        return reply

    def _room(self, limit: int, length: int) -> int:
        """Return a limit that the server takes: vLLM refuses one that its model cannot reach."""
        longest = self._server.longest
        return limit if longest is None else max(1, min(limit, longest - length))

    def _thinks_unseen(self) -> bool:
        """Say whether what looks like a long answer may be a thought that the prompt has opened.

        A server does not show its prompts. One question of ours tells: a model that ends by itself
        and closes no thought has none.
        """
        with self._trial:
            if self._thinks is None:
                room = self._thinking_tokens or THINKING_TOKENS
                # our question takes less than half of what there is
                room = self._room(room, (self._server.longest or 0) // 2)
                trial, _ = self._asked(plain_prompts()[0], room)
                self._thinks = trial.thought is not None or trial.finish_reason == CUT
            return self._thinks

    def _asked(self, prompt: str, limit: int) -> tuple[Reply, int]:
        """Return the reply to a prompt, and how many tokens it has, 0 where nobody says."""
        method = "chat/completions" if self._chat else "completions"
        plain = self._content(plain_prompts()[0], limit)
        answer = self._server.ask(method, self._content(prompt, limit), plain)
        with self._server.in_protocol():
            choice = answer["choices"][0]
            reason = choice.get("finish_reason")
            message = choice["message"] if self._chat else {"content": choice["text"]}
            thoughts = (message.get(field) for field in THOUGHT_FIELDS)
            thought = next((str(one) for one in thoughts if one), None)
            said = message.get("content") or ""  # a model that ends at once has said nothing
            reply = read_reply(
                said, finish_reason=reason, delimiters=self._delimiters, told_apart=thought
            )
            length = int((answer.get("usage") or {}).get("prompt_tokens") or 0)
        if reason in BROKEN_OFF:
            cause = f"the server gave up an answer (finish_reason '{reason}')"
            cure = "see its log, and run the same command again: what is done is kept"
            raise InputError(cause, cure=cure, file=self._server.address)
        return reply, length

    def _content(self, prompt: str, limit: int) -> dict[str, Any]:
        # max_tokens is the only limit that all of them know
        asked = {"model": self._server.model, "max_tokens": limit, "temperature": 0}
        asked |= self._switches
        if self._chat:
            return asked | {"messages": [{"role": "user", "content": prompt}]}
        return asked | {"prompt": prompt}


def _switches(
    server: ModelServer, chat: bool, arguments: dict[str, Any], reasoning_effort: str | None
) -> dict[str, Any]:
    """Return the fields of a request that tell a model how to think.

    Raises:
        InputError: the server has no such switch, or passes cut thoughts off as answers with it.
    """
    if (arguments or reasoning_effort) and not chat:
        cause = "a prompt that is continued has no chat template to tell anything"
        raise InputError(cause, cure="leave out chat = false, or what the template is told")
    if HANDS_OUT_CUT_THOUGHTS in arguments:
        cause = f"with {HANDS_OUT_CUT_THOUGHTS} a thought that was cut off looks like an answer"
        raise InputError(cause, cure="leave it out", file=server.address)
    effort = {} if reasoning_effort is None else {"reasoning_effort": reasoning_effort}
    if server.known is None or server.known.templates:
        return {**({"chat_template_kwargs": arguments} if arguments else {}), **effort}
    thinks = arguments.pop("enable_thinking", None)
    if thinks or (thinks is False and effort):
        cause = f"{server.program} would not hear of enable_thinking = {str(thinks).lower()}"
        cure = "leave it out, and write how long to think as reasoning_effort"
        raise InputError(cause, cure=cure, file=server.address)
    if arguments:
        cause = f"{server.program} tells a chat template nothing but whether to think"
        raise InputError(cause, cure=f"leave out {', '.join(arguments)}", file=server.address)
    return {"reasoning_effort": "none"} if thinks is False else effort
