"""Servers of the user's own, to which evaluation text may go, and hosted ones, to which it may not.

The datasets are kept out of training corpora, and the authors do not evaluate behind closed APIs,
whose owners may train on what they are sent (RUFF, Limitations).
"""

import errno
import ipaddress
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException, HTTPMessage
from socket import create_connection, gaierror
from typing import IO, Any, NamedTuple, TypeVar
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from pronominal.errors import InputError

Answer = TypeVar("Answer")

KEY = "PRONOMINAL_SERVER_KEY"
"""Environment variable with the server's key, if it wants one."""

UNREACHABLE = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)
"""What the system says where nobody listens at an address."""

_LOCAL_DOMAINS = (".internal", ".lan", ".local", ".localdomain", ".localhost", ".home.arpa")
_HOSTED_DOMAINS = (
    *(".amazonaws.com", ".anthropic.com", ".azure.com", ".cohere.com", ".deepinfra.com"),
    *(".deepseek.com", ".fireworks.ai", ".googleapis.com", ".groq.com", ".huggingface.cloud"),
    *(".huggingface.co", ".mistral.ai", ".nvidia.com", ".openai.com", ".openrouter.ai"),
    *(".perplexity.ai", ".replicate.com", ".together.ai", ".together.xyz", ".x.ai"),
)


def own_server(url: str, host: str | None, i_accept_contamination: bool) -> SplitResult:
    """Return the parts of a server's URL.

    Args:
        url: the address; only what the user gave is ever asked.
        host: the name of a machine of the user's own that has a public name.
        i_accept_contamination: accept a hosted API, too.

    Raises:
        InputError: it is no URL, or that of a host that is not the user's own.
    """
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets or a port that are none
        known = False
    if not known:
        raise InputError("the url is no URL", cure="write http://localhost:8000, say")
    # a key in the address would be in every error message
    if "@" in parts.netloc or parts.query:
        raise InputError("the URL holds a user or a query", cure=f"put the key into {KEY}")
    if not i_accept_contamination:
        _refuse_hosted(str(parts.hostname).rstrip("."), host)
    return parts


class Failure(NamedTuple):
    """Why a request has no answer.

    Attributes:
        error: what was raised.
        status: of HTTP; None where no reply came.
        reason: the same in words.
        said: what the server replied, which may quote the text that it was sent.
    """

    error: Exception
    status: int | None
    reason: str
    said: str = ""

    @property
    def is_unreachable(self) -> bool:
        """Whether no server took the request."""
        reason = getattr(self.error, "reason", self.error)
        refused = isinstance(reason, OSError) and reason.errno in UNREACHABLE
        return refused or isinstance(reason, gaierror)

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """Read what an opener raised."""
        if not isinstance(error, HTTPError):
            return cls(error, None, str(getattr(error, "reason", error)) or "no answer")
        said = b""
        with error, suppress(HTTPException, OSError):
            said = error.read()
        return cls(error, error.code, f"HTTP {error.code}", said.decode(errors="replace"))


class Server:
    """A server of the user's own, which is asked again, ever more slowly, while it is away.

    One that was never there is not waited for: an address is mistyped more often than not.

    There are no proxies and redirections, which would carry text elsewhere.

    Args:
        address: the server's address, for messages.
        timeout: for how many seconds a request may stay without an answer.
        patience: after how many seconds away it is asked no more.
        start: how it is started.
    """

    def __init__(
        self, address: str, *, timeout: float, patience: float, start: str = "start it"
    ) -> None:
        self.address = address
        self._timeout, self._patience, self._start = timeout, patience, start
        self._was_there = False
        self._opener = build_opener(ProxyHandler({}), _NoRedirections())

    def refuse_absent(self) -> None:
        """Raise `InputError` where nobody listens at the address, before anything else is done."""
        parts = urlsplit(self.address)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        try:
            create_connection((parts.hostname or "", port), timeout=self._timeout).close()
        except OSError as error:
            if (failure := Failure.of(error)).is_unreachable:
                raise self._absent(failure) from error

    def _absent(self, failure: Failure) -> InputError:
        cause = f"there is no server ({failure.reason})"
        cure = f"check the address, or {self._start} and run the same command again"
        return InputError(cause, cure=cure, file=self.address)

    def ask(self, request: Request, is_away: Callable[[Failure], bool]) -> bytes:
        """Return the reply to a request; `InputError` if the server is away for too long.

        `is_away` says of each failure whether the server is away, or has failed and is asked again
        all the same; it raises an error where to ask again is no use.
        """
        away_since, pause = None, 0.25
        while True:
            try:
                with self._opener.open(request, timeout=self._timeout) as reply:
                    answer: bytes = reply.read()
                    self._was_there = True
                    return answer
            except (HTTPException, OSError) as error:
                failure = Failure.of(error)
            self._was_there |= failure.status is not None
            if failure.is_unreachable and not self._was_there:
                raise self._absent(failure) from failure.error
            if is_away(failure):
                away_since = time.monotonic() if away_since is None else away_since
                if time.monotonic() - away_since >= self._patience:
                    raise InputError(
                        f"the server has not answered for {self._patience:g} seconds "
                        f"({failure.reason})",
                        cure=f"{self._start} and run the same command again: what is done is kept",
                        file=self.address,
                    )
            time.sleep(pause)
            pause = min(2 * pause, 10)


def json_request(address: str, content: Any) -> Request:
    """Return a request with the server's key, if it has one; None as content asks for a page."""
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(KEY):
        headers["Authorization"] = f"Bearer {key}"
    body = None if content is None else json.dumps(content).encode()
    return Request(address, data=body, headers=headers)


def asked_together(
    ask: Callable[[str, int], Answer], texts: Sequence[str], at_once: int
) -> list[Answer]:
    """Return the answers to texts in order, some of them asked at a time, each with its number.

    After an error, nothing is asked that still waits.
    """
    with ThreadPoolExecutor(at_once) as workers:
        try:
            return [*workers.map(ask, texts, range(len(texts)))]
        except BaseException:
            workers.shutdown(wait=False, cancel_futures=True)
            raise


def _refuse_hosted(name: str, host: str | None) -> None:
    if f".{name}".endswith(_HOSTED_DOMAINS):
        raise InputError(
            f"{name} is a hosted API, whose owner may train on the sentences",
            cure="run a server of your own, or add --i-accept-contamination",
        )
    if name != host and not _local(name):
        raise InputError(
            f"{name} may be a hosted API, whose owner may train on the sentences",
            cure=f"add --set host={name} if the machine is your own, or --i-accept-contamination",
        )


def _local(host: str) -> bool:
    """Say whether a host is this machine or one of the local network, by its name or number."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_DOMAINS)


class _NoRedirections(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow none: what is sent goes where the user said, or nowhere."""
