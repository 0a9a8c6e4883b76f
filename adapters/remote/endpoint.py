"""A system behind an HTTP address of your own: a list of inputs posted, a list of answers back."""

import errno
import json
import os
from collections.abc import Sequence
from http.client import HTTPException
from socket import gaierror
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request

from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.messages import Greeting, Message, connect
from pronominal.adapters.remote.servers import KEY, Patience, direct_opener, own_server
from pronominal.errors import InputError

_SETUP_FAULTS = (401, 403, 404, 405, 501)
"""Statuses that have nothing to do with what was asked."""

_UNREACHABLE = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)


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
        i_accept_contamination: send evaluation text to a hosted API, whoever may train on it.

    Raises:
        InputError: the address is not one to send evaluation text to, or nothing answers there.
    """
    if at_once < 1 or timeout <= 0:
        raise InputError("nothing is asked, or nothing answered", cure="give numbers above 0")
    address = own_server(url, host, i_accept_contamination).geturl()
    return connect(method, lambda greeting: _Address(address, greeting, at_once, timeout, patience))


class _Address:
    name = "http"

    def __init__(
        self, address: str, greeting: Greeting, at_once: int, timeout: float, patience: float
    ) -> None:
        self._address, self._at_once = address, at_once
        self._timeout, self._patience = timeout, patience
        self._opener = direct_opener()
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
        found = {one.get("id"): one for one in given if isinstance(one.get("id"), int)}
        for number in range(wanted):
            if number not in found:
                raise RefusedTextError(
                    f"the reply has {len(given)} answers to {wanted} inputs and none to this one",
                    cure="answer each input with its id",
                    index=start + number,
                    among="inputs",
                )
        return [found[number] for number in range(wanted)]

    def _post(self, inputs: Sequence[Message]) -> Any:
        """Return the reply; ask again, ever more slowly, while no server is there."""
        body = json.dumps({"inputs": [{"id": n, **one} for n, one in enumerate(inputs)]}).encode()
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        patience = Patience(self._patience, self._address)
        while True:
            request = Request(self._address, data=body, headers=headers)
            try:
                with self._opener.open(request, timeout=self._timeout) as reply:
                    return json.load(reply)
            except HTTPError as error:
                error.close()
                raise self._refused(error.code) from error
            except (URLError, HTTPException, OSError) as error:
                reason = getattr(error, "reason", error)
                if not _away(reason):
                    raise FailedCallError(
                        f"no answer came ({type(reason).__name__})",
                        cure=f"see the server's own log, or give it more than {self._timeout:g} "
                        "seconds with timeout",
                    ) from error
                patience.wait(type(reason).__name__)
            except ValueError as error:
                raise FailedCallError(
                    "the reply is not JSON", cure='reply with {"answers": [...]}'
                ) from error

    def _refused(self, status: int) -> InputError:
        if status in _SETUP_FAULTS or 300 <= status < 400:
            return InputError(
                f"the server does not take what is posted (HTTP {status})",
                cure=f"check the address, and {KEY} if the server wants a key",
                file=self._address,
            )
        return FailedCallError(
            f"the server answers with HTTP {status}", cure="see the server's own log"
        )


def _away(reason: Any) -> bool:
    """Say whether nobody was there, and not that somebody gave no answer to this request."""
    unreachable = isinstance(reason, OSError) and reason.errno in _UNREACHABLE
    return unreachable or isinstance(reason, gaierror)
