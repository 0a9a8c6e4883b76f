"""A system behind an HTTP address of your own: a list of inputs posted, a list of answers back."""

import json
from collections.abc import Sequence
from typing import Any

from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.messages import Greeting, Message, connect
from pronominal.adapters.remote.servers import KEY, Failure, Server, json_request, own_server
from pronominal.errors import InputError

_SETUP_FAULTS = (401, 403, 404, 405, 501)
"""Statuses that have nothing to do with what was asked."""


def http(  # noqa: PLR0913 - each one is a key of a systems file
    url: str,
    *,
    method: str = "cluster",
    at_once: int = 16,
    timeout: float = 60,
    patience: float = 60,
    host: str | None = None,
    i_accept_contamination: bool = False,
) -> System:
    """Return what answers at an address as a system.

    ``{"inputs": [...]}`` is posted, and ``{"answers": [...]}`` is expected back, with the objects
    of `pronominal.adapters.remote.messages`.

    Args:
        url: the address.
        method: which method the system has: cluster, choose, loglikelihood or generate.
        at_once: how many inputs a request has.
        timeout: for how many seconds a request may stay without an answer.
        patience: for how many seconds an unreachable server is asked again.
        host: the name of a machine of your own that has a public name; the URL's host has to be
            this one. Machines of the local network need no such word.
        i_accept_contamination: send evaluation text to a hosted API, whose owner may train on it.
    """
    if at_once < 1 or timeout <= 0:
        raise InputError("nothing is asked, or nothing answered", cure="give numbers above 0")
    address = own_server(url, host, i_accept_contamination).geturl()
    server = Server(address, timeout=timeout, patience=patience)
    return connect(method, lambda greeting: _Address(server, greeting, at_once))


class _Address:
    name = "http"

    def __init__(self, server: Server, greeting: Greeting, at_once: int) -> None:
        self._server, self._at_once = server, at_once
        greeting.greet(self)

    def exchange(self, inputs: Sequence[Message]) -> list[Message]:
        answers: list[Message] = []
        for start in range(0, len(inputs), self._at_once):
            part = inputs[start : start + self._at_once]
            answers += self._matched(self._post(part), len(part), start)
        return answers

    def _matched(self, reply: Any, wanted: int, start: int) -> list[Message]:
        given = reply.get("answers") if isinstance(reply, dict) else None
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise FailedCallError(
                "the reply has no list of answers", cure='reply with {"answers": [...]}'
            )
        by_number = {one.get("id"): one for one in given if isinstance(one.get("id"), int)}
        for number in range(wanted):
            if number not in by_number:
                raise RefusedTextError(
                    f"the reply has {len(given)} answers to {wanted} inputs and none to this one",
                    cure="answer each input with its id",
                    index=start + number,
                    among="inputs",
                )
        return [by_number[number] for number in range(wanted)]

    def _post(self, inputs: Sequence[Message]) -> Any:
        content = {"inputs": [{"id": number, **one} for number, one in enumerate(inputs)]}
        reply = self._server.ask(json_request(self._server.address, content), self._is_away)
        try:
            return json.loads(reply)
        except ValueError as error:
            raise FailedCallError(
                "the reply is not JSON", cure='reply with {"answers": [...]}'
            ) from error

    def _is_away(self, failure: Failure) -> bool:
        """Say that no server is there; raise what it means that one gave no answer."""
        if (status := failure.status) is not None:
            if status in _SETUP_FAULTS or 300 <= status < 400:
                raise InputError(
                    f"the server does not take what is posted (HTTP {status})",
                    cure=f"check the address, and {KEY} if the server wants a key",
                    file=self._server.address,
                ) from failure.error
            raise FailedCallError(
                f"the server answers with HTTP {status}", cure="see the server's own log"
            ) from failure.error
        if not failure.is_unreachable:
            reason = getattr(failure.error, "reason", failure.error)
            raise FailedCallError(
                f"no answer came ({type(reason).__name__})",
                cure="see the server's own log, or give it more seconds with timeout",
            ) from failure.error
        return True
