"""Models behind a server that speaks OpenAI's protocol: vLLM, llama.cpp, SGLang and others.

The server is one of the user's own: a hosted API is refused unless the user accepts what that means
(see `pronominal.adapters.remote.servers`).
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from http.client import HTTPException
from typing import Any
from urllib.request import Request

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.contract.plain_questions import plain_prompts
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.lm.prompting.prompts import ANSWER_TOKENS, parse_prompts
from pronominal.adapters.remote.servers import (
    KEY,
    Failure,
    Server,
    asked_together,
    json_request,
    own_server,
)
from pronominal.errors import InputError

START = "vllm serve ORG/NAME"
"""A command that starts such a server."""

TRIES = 4
"""How often a prompt is sent at which the server fails."""

_RETRIED = (None, 408, 425, 429, 500, 502, 503, 504)
_PROMPT_AT_FAULT = (400, 413, 422)


class ServedModel:
    """A model that a server runs, asked in words.

    Args:
        url: the server's address, such as ``http://localhost:8000`` or ``http://gpu-7:8000/v1``.
        model: the model's name on the server; the only one that it serves when None.
        host: the name of a machine of your own that has a public name; the URL's host has to be
            this one. Machines of the local network need no such word.
        i_accept_contamination: send evaluation text to a hosted API, whose owner may train on it.
        prompts: names of the prompts to ask (see `lm.prompting.prompts`); all of them when None.
        chain_of_thought: ``"kojima"`` or ``"zhou"``; None asks for the answer at once.
        slot: how a slot is drawn, ``"_______"`` as in RUFF's Table 4; None as its program does.
        chat: ask as a user's turn, in the model's own format; otherwise the prompt is continued.
        max_new_tokens: the longest answer.
        at_once: how many prompts the server is given at a time.
        patience: for how many seconds an unreachable server is asked again.
    """

    name = "lm-server"
    engine = "a server that speaks OpenAI's protocol"
    chunk = 16

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        url: str,
        *,
        model: str | None = None,
        host: str | None = None,
        i_accept_contamination: bool = False,
        prompts: Sequence[str] | None = None,
        chain_of_thought: str | None = None,
        slot: str | None = None,
        chat: bool = True,
        max_new_tokens: int = ANSWER_TOKENS,
        at_once: int = 16,
        patience: float = 60,
    ) -> None:
        if at_once < 1 or max_new_tokens < 1:
            raise InputError("nothing is asked, or nothing answered", cure="give a number above 0")
        address = checked_address(url, host, i_accept_contamination)
        self._server = Server(address, timeout=600, patience=patience)
        self._server.refuse_absent()
        self.prompting = parse_prompts(prompts, chain_of_thought, slot)
        self.max_new_tokens = max_new_tokens
        self._chat, self._at_once = chat, at_once
        self._model = model or self._only_model()
        self.question = f"generation of {self._model}"

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[str]:
        """Return what the model writes after each prompt, in order, at temperature 0.

        Raises:
            RefusedTextError: the server refuses a prompt, or fails at it, and answers a plain one.
            InputError: it refuses every prompt, or cannot be reached any more.
        """
        limit = max_new_tokens or self.max_new_tokens
        return asked_together(
            lambda prompt, index: self._answer(prompt, limit, index), prompts, self._at_once
        )

    def _answer(self, prompt: str, limit: int, index: int) -> str:
        try:
            answer = self._ask(*self._content(prompt, limit))
        except _PromptAtFaultError as error:
            raise RefusedTextError(
                f"the server answers another prompt, and not this one ({error})",
                cure="shorten it, or start the server with more room for a prompt",
                index=index,
                among="prompts",
                checkpoint=self._server.address,
            ) from error
        with self._in_protocol():
            choice = answer["choices"][0]
            # a model that ends at once has said nothing
            return (choice["message"]["content"] if self._chat else choice["text"]) or ""

    def _content(self, prompt: str, limit: int) -> tuple[str, dict[str, Any]]:
        asked = {"model": self._model, "max_tokens": limit, "temperature": 0}
        if self._chat:
            return "chat/completions", asked | {"messages": [{"role": "user", "content": prompt}]}
        return "completions", asked | {"prompt": prompt}

    def _answers_plainly(self, limit: int) -> bool:
        """Say whether the server answers a prompt of ours, so that another one is at fault."""

        def no_patience(failure: Failure) -> bool:
            raise failure.error

        try:
            request = self._request(*self._content(plain_prompts()[0], limit))
            return bool(json.loads(self._server.ask(request, no_patience)))
        except (HTTPException, OSError, ValueError):
            return False

    def _only_model(self) -> str:
        with self._in_protocol():
            names = [str(model["id"]) for model in self._ask("models")["data"]]
        if len(names) != 1:
            raise InputError(
                f"the server has {len(names)} models",
                cure=f"write model = {' or '.join(names) or '...'}",
                file=self._server.address,
            )
        return names[0]

    def _ask(self, method: str, content: Mapping[str, Any] | None = None) -> Any:
        failures = 0

        def is_away(failure: Failure) -> bool:
            nonlocal failures
            failures += failure.status == 500
            at_fault = failure.status in _PROMPT_AT_FAULT or failures >= TRIES
            if content and at_fault and self._answers_plainly(content["max_tokens"]):
                raise _PromptAtFaultError(failure.reason) from failure.error
            if failure.status not in _RETRIED:
                raise InputError(
                    f"the server refuses what it is asked ({failure.reason})",
                    cure=f"check the model's name and length, and {KEY} if the server wants a key",
                    file=self._server.address,
                )
            return True

        answer = self._server.ask(self._request(method, content), is_away)
        with self._in_protocol():
            return json.loads(answer)

    def _request(self, method: str, content: Mapping[str, Any] | None) -> Request:
        return json_request(f"{self._server.address}/{method}", content)

    def _in_protocol(self) -> AbstractContextManager[None]:
        return input_error_on(
            *(LookupError, TypeError, ValueError),
            cause="the server does not answer in OpenAI's protocol",
            cure="give the URL of vLLM, llama.cpp, SGLang or the like",
            file=self._server.address,
            quoted=False,
        )


class _PromptAtFaultError(Exception):
    """The server answers, but not what it was asked."""


def checked_address(url: str, host: str | None, i_accept_contamination: bool) -> str:
    """Return the address of the protocol's methods, which end in ``/v1``; see `own_server`."""
    parts = own_server(url, host, i_accept_contamination)
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path if path.endswith('/v1') else path + '/v1'}"
