"""Servers of the user's own, to which evaluation text may go, and hosted ones, to which it may not.

The datasets are kept out of training corpora, and the authors do not evaluate behind closed APIs,
whose owners may train on what they are sent (RUFF, Limitations).
"""

import ipaddress
import time
from http.client import HTTPMessage
from typing import IO
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from pronominal.errors import InputError

KEY = "PRONOMINAL_SERVER_KEY"
"""Environment variable with the server's key, if it wants one."""

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
    # a key in the address would stand in every error message
    if "@" in parts.netloc or parts.query:
        raise InputError("the URL holds a user or a query", cure=f"put the key into {KEY}")
    if not i_accept_contamination:
        _refuse_hosted(str(parts.hostname).rstrip("."), host)
    return parts


def direct_opener() -> OpenerDirector:
    """Return an opener without proxies and redirections, which would carry text elsewhere."""
    return build_opener(ProxyHandler({}), _NoRedirections())


class Patience:
    """Pauses, ever longer, between the tries to reach a server that is away.

    Args:
        seconds: after how many seconds without an answer it ends.
        address: the server's address.
        start: how the server is started.
    """

    def __init__(self, seconds: float, address: str, start: str = "start it") -> None:
        self._seconds, self._address, self._start = seconds, address, start
        self._away_since: float | None = None
        self._pause = 0.25

    def wait(self, reason: str) -> None:
        """Pause before a server that is away is tried again.

        Raises:
            InputError: patience has ended.
        """
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        if now - self._away_since >= self._seconds:
            raise InputError(
                f"the server has not answered for {self._seconds:g} seconds ({reason})",
                cure=f"{self._start} and run the same command again: what is done is kept",
                file=self._address,
            )
        self.pause()

    def pause(self) -> None:
        """Sleep, at most 10 seconds and twice as long as the last time."""
        time.sleep(self._pause)
        self._pause = min(2 * self._pause, 10)


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
