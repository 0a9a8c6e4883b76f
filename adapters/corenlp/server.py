"""Asks a CoreNLP server (``StanfordCoreNLPServer.java`` upstream), again while it is away."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urlencode
from urllib.request import Request

from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.remote.servers import Failure, Server
from pronominal.errors import InputError

START = 'java -mx8g -cp "*" edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000'
"""The documented command that starts a server, run in CoreNLP's folder."""

URL = "http://localhost:9000"
"""Where that server listens."""

TRIES = 3
"""How often a text is sent at which the server fails."""

_AWAY = (None, 408, 425, 429, 502, 503, 504)
_TEXT_AT_FAULT = (400, 413, 500)

_LOADING = 300
"""Seconds that the first answer may take longer, because the models are loaded for it."""


class CoreNLPServer(Server):
    """A server, which is given `text_timeout` seconds for a text, and what a text is sent with."""

    def __init__(
        self,
        parts: SplitResult,
        properties: Mapping[str, str],
        text_timeout: float,
        patience: float,
    ) -> None:
        address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        timeout, start = text_timeout + _LOADING, f"start it ({START})"
        super().__init__(address, timeout=timeout, patience=patience, start=start)
        limit = str(round(1000 * text_timeout))
        self._properties = {"outputFormat": "json", "timeout": limit, **properties}
        self._text_timeout = text_timeout

    def annotate(self, text: str, index: int) -> Any:
        """Return the server's answer to a text, the `index`-th of several; None if it is not JSON.

        Raises:
            InputError: the server refuses to be asked, or cannot be reached any more.
            RefusedTextError: it fails at the text, or does not finish it in time.
        """
        failures = 0

        def is_away(failure: Failure) -> bool:
            nonlocal failures
            if failure.status in _AWAY:
                return True
            failures += 1
            self._refuse(failure, index, last=failures == TRIES)
            return False

        answer = self.ask(self._request(text, index), is_away)
        try:
            # control characters of a text come back as they are
            return json.loads(answer.decode(errors="replace"), strict=False)
        except ValueError:
            return None

    def _request(self, text: str, index: int) -> Request:
        try:
            # the server decodes it; some versions do, even if the header says JSON
            body = quote(text, safe="").encode()
        except UnicodeEncodeError as error:
            raise RefusedTextError(
                "half of a surrogate pair, which is no character", cure="mend it", index=index
            ) from error
        query = urlencode({"properties": json.dumps(self._properties)}, quote_via=quote)
        headers = {"Content-Type": "application/x-www-form-urlencoded;charset=UTF-8"}
        return Request(f"{self.address}/?{query}", data=body, headers=headers)

    def _refuse(self, failure: Failure, index: int, *, last: bool) -> None:
        """Raise what a failure means; nothing if the text may be sent again."""
        if failure.status not in _TEXT_AT_FAULT:
            raise InputError(
                f"the server refuses what it is asked ({failure.reason})",
                cure=f"give the URL of one that was started with {START}",
                file=self.address,
            ) from failure.error
        if failure.status == 500 and not last:
            return
        fault = f"the server fails at it ({_exception(failure.said)})"
        cure = (
            "look at the server's own output: a missing model, too little memory (-mx8g) and a "
            "text above its -maxCharLength are common"
        )
        if "timed out" in failure.said:
            fault = f"the server did not finish it in {self._text_timeout:g} seconds"
            cure = "give a longer text_timeout, or shorten the text"
        raise RefusedTextError(
            fault, cure=cure, index=index, checkpoint=self.address
        ) from failure.error


def _exception(said: str) -> str:
    """Return the class of a Java exception; the message behind it may quote the text."""
    name = said.split(":")[0].strip()
    is_class = name.replace(".", "").replace("$", "").isalnum() and "." in name
    return name if is_class else "it gives no reason"
