"""A server of the user's own that runs a model, and how the programs that serve models differ."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any
from urllib.request import Request

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.remote.servers import (
    KEY,
    Answer,
    Failure,
    Server,
    asked_together,
    json_request,
    own_server,
)
from pronominal.errors import InputError
from pronominal.names import unknown_name

TIMEOUT = 600
"""For how many seconds a question may stay without an answer."""

TRIES = 4
"""How often a prompt is sent at which the server fails."""

_RETRIED = (None, 408, 425, 429, 500, 502, 503, 504)
_PROMPT_AT_FAULT = (400, 413, 422)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that serves models.

    Attributes:
        owner: what it calls itself in its list of models (``owned_by``).
        version: the path below the address at which it tells its version, and the key there.
        templates: whether it hands arguments to a model's chat template.
        no_scores: why it gives no log-likelihood of a given text; empty if it does.
    """

    owner: str
    version: tuple[str, str]
    templates: bool = True
    no_scores: str = ""


PROGRAMS: dict[str, Program] = {
    "vllm": Program("vllm", ("version", "version")),
    "sglang": Program("sglang", ("get_server_info", "version")),
    "llama.cpp": Program(
        "llamacpp",
        ("props", "build_info"),
        no_scores="llama.cpp's server has log-probabilities of what it writes alone, and refuses "
        "to echo a prompt with its own",
    ),
    "ollama": Program(
        "library",
        ("api/version", "version"),
        templates=False,
        no_scores="Ollama has log-probabilities of what it writes alone, and ignores the request "
        "to echo a prompt with its own",
    ),
}
"""The programs that are known, by the name of the setting ``program``."""


class PromptAtFaultError(Exception):
    """The server answers, but not what it was asked."""


class ModelServer:
    """A server that speaks OpenAI's protocol, and the model on it that is asked.

    Args:
        address: where it is, as from `checked_address`.
        model: the model's name on the server; the only one that it serves when None.
        program: a key of `PROGRAMS`; what the server says of itself when None.
        at_once: how many questions it is given at a time.
        patience: for how many seconds an unreachable server is asked again.
        timeout: for how many seconds a question may stay without an answer.

    Attributes:
        model: the model's name.
        longest: how many tokens a prompt and its answer may have; None where the server does not
            say.
        program: the key of `PROGRAMS` that serves it; None for another one.
        described: what a run records of the server.
    """

    def __init__(
        self,
        address: str,
        model: str | None,
        program: str | None,
        at_once: int,
        patience: float,
        timeout: float = TIMEOUT,
    ) -> None:
        if at_once < 1:
            raise InputError("nothing is asked", cure="give at_once a number above 0")
        if program is not None and program not in PROGRAMS:
            raise unknown_name("program of a server", str(program), PROGRAMS)
        self.address, self._most = address, at_once
        self._server = Server(self.address, timeout=timeout, patience=patience)
        self._server.refuse_absent()
        self._root = self.address.removesuffix("/v1")
        served = self._models() if model is None or program is None else {}
        self.model = model or self._only(served)
        owners = {known.owner: name for name, known in PROGRAMS.items()}
        card = served.get(self.model, {})
        self.program = program or owners.get(str(card.get("owned_by")))
        longest = card.get("max_model_len")
        self.longest = longest if isinstance(longest, int) else None
        self.described: dict[str, Any] = {"program": self.program, "version": self._version()}
        if self.longest is not None:
            self.described["max_model_len"] = self.longest

    @property
    def known(self) -> Program | None:
        """What is known of the server's program."""
        return None if self.program is None else PROGRAMS[self.program]

    def ask(
        self,
        method: str,
        content: Mapping[str, Any],
        plain: Mapping[str, Any],
        native: bool = False,
    ) -> Any:
        """Return the reply to a request.

        Args:
            method: its path below the address.
            content: what is asked.
            plain: the same about a text of ours: where that is answered, `content` is at fault.
            native: whether the path is the program's own and not one of OpenAI's protocol.

        Raises:
            PromptAtFaultError: the server refuses this content, and not the plain one.
            InputError: it refuses both, or cannot be reached any more.
        """
        place = f"{self._root if native else self.address}/{method}"
        failures = 0

        def is_away(failure: Failure) -> bool:
            nonlocal failures
            failures += failure.status == 500
            at_fault = failure.status in _PROMPT_AT_FAULT or failures >= TRIES
            if at_fault and self.answers(place, plain):
                raise PromptAtFaultError(failure.reason) from failure.error
            return self._is_away(failure)

        answer = self._server.ask(json_request(place, content), is_away)
        with self.in_protocol():
            return json.loads(answer)

    def asked(self, ask: Callable[[str, int], Answer], questions: Sequence[str]) -> list[Answer]:
        """Return what `ask` gives for each question and its number, in order, several at a time."""
        return asked_together(ask, questions, self._most)

    def answers(self, place: str, content: Mapping[str, Any] | None) -> bool:
        """Say whether there is an answer at once."""
        return self._at_once(json_request(place, content)) is not None

    def in_protocol(self) -> AbstractContextManager[None]:
        """Turn what an answer of another form raises into an `InputError`."""
        return input_error_on(
            *(AttributeError, LookupError, TypeError, ValueError),
            cause="the server does not answer in OpenAI's protocol",
            cure="give the URL of vLLM, llama.cpp, SGLang or the like",
            file=self.address,
            quoted=False,
        )

    def _at_once(self, request: Request) -> Any:
        """Return the reply to a request that is sent once, or None."""

        def no_patience(failure: Failure) -> bool:
            raise failure.error

        try:
            return json.loads(self._server.ask(request, no_patience))
        except (HTTPException, OSError, ValueError):
            return None

    def _is_away(self, failure: Failure) -> bool:
        if failure.status not in _RETRIED:
            place = "the address (another program may answer there), "
            wrong = place if failure.status == HTTPStatus.NOT_FOUND else ""
            raise InputError(
                f"the server refuses what it is asked ({failure.reason})",
                cure=f"check {wrong}the model's name, how long its answers may be "
                f"(max_new_tokens, thinking_tokens), and {KEY} if the server wants a key",
                file=self.address,
            )
        return True

    def _models(self) -> dict[str, dict[str, Any]]:
        """Return the models that are served, and what the server says of each."""
        answer = self._server.ask(json_request(f"{self.address}/models", None), self._is_away)
        with self.in_protocol():
            return {str(model["id"]): dict(model) for model in json.loads(answer)["data"]}

    def _only(self, served: Mapping[str, Any]) -> str:
        if len(served) != 1:
            raise InputError(
                f"the server has {len(served)} models",
                cure=f"write model = {' or '.join(served) or '...'}",
                file=self.address,
            )
        return next(iter(served))

    def _version(self) -> str | None:
        if self.known is None:
            return None
        path, key = self.known.version
        told = self._at_once(json_request(f"{self._root}/{path}", None))
        found = told.get(key) if isinstance(told, dict) else None
        return None if found is None else str(found)


def checked_address(url: str, host: str | None, i_accept_contamination: bool) -> str:
    """Return the address of the protocol's methods, which end in ``/v1``; see `own_server`."""
    parts = own_server(url, host, i_accept_contamination)
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path if path.endswith('/v1') else path + '/v1'}"
