"""The Hub's client, and each of its failures as one sentence with a page or a command."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pronominal.errors import InputError

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

WAITING = "awaiting a review"
REJECTED = "has been rejected"
"""How the Hub words the two answers that share the status of one who never asked."""

UNREACHABLE = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError")
"""Transport errors before any answer; httpx and httpx2 give them the same names."""

BROKEN = ("RemoteProtocolError", "ReadError", "ReadTimeout", "WriteError", "WriteTimeout")
"""Transport errors of a connection that stood."""

Told = tuple[str, str]
"""A cause, and its cure."""


def hub_client() -> "HfApi":
    """Return the client of the Hub at ``HF_ENDPOINT``, quiet when stderr is not a terminal.

    Raises:
        InputError: huggingface_hub is not installed.
    """
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ModuleNotFoundError as error:
        cause = "reading from and writing to the Hub needs huggingface_hub"
        raise InputError(cause, cure='pip install "pronominal[hub]"') from error
    if not sys.stderr.isatty():
        disable_progress_bars()
    # its warnings would stand beside the one line that says what is wrong
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return HfApi(library_name="pronominal")


def page(repo: str) -> str:
    """Return the address of a dataset's page."""
    from huggingface_hub import constants

    return f"{constants.ENDPOINT}/datasets/{repo}"


def tokens_page() -> str:
    """Return the address of the page on which a user makes tokens."""
    from huggingface_hub import constants

    return f"{constants.ENDPOINT}/settings/tokens"


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turn whatever the client raises in the block into the `InputError` of `explained`."""
    try:
        yield
    except Exception as error:
        # the client raises a dozen unrelated types, some of them its transport's
        raise explained(error, repo) from error


def explained(error: Exception, repo: str) -> InputError:
    """Return what went wrong with a dataset on the Hub, and the page to visit or command to run.

    `error` is what `huggingface_hub` raised; its causes are looked at as well.
    """
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, InputError):
            return link
        told = _told(link, repo)
        if told is not None:
            return InputError(told[0], cure=told[1], file=repo)
        link = link.__cause__
    first_line = (str(error).strip().splitlines() or [""])[0]
    return InputError(
        f"the client of the Hub failed ({type(error).__name__}: {first_line})",
        cure=f"see {page(repo)}, and 'pronominal --debug' for the traceback",
        file=repo,
    )


def was_refused(error: BaseException) -> bool:
    """Return whether the Hub answered that it did not do what it was asked for."""
    from huggingface_hub.errors import HfHubHTTPError

    return isinstance(error, HfHubHTTPError) and 400 <= error.response.status_code < 500


def _told(error: BaseException, repo: str) -> Told | None:
    from huggingface_hub import constants, errors

    name = type(error).__name__
    if isinstance(error, errors.GatedRepoError):
        return _gated(error, repo)
    if isinstance(error, errors.HfHubHTTPError):
        return _answered(error, repo)
    if isinstance(error, errors.LocalTokenNotFoundError):
        return _not_logged_in()
    if isinstance(error, errors.OfflineModeIsEnabled) or (
        constants.HF_HUB_OFFLINE and isinstance(error, errors.LocalEntryNotFoundError)
    ):
        cause = f"HF_HUB_OFFLINE is set, and the dataset is not in {constants.HF_HUB_CACHE}"
        return cause, "run 'unset HF_HUB_OFFLINE' and fetch it once"
    if isinstance(error, errors.HFValidationError):
        return "this is no name of a dataset on the Hub", "give it as ORG/NAME"
    if name in UNREACHABLE:
        return f"{constants.ENDPOINT} cannot be reached", "check the network and HF_ENDPOINT"
    if name in BROKEN:
        return "the connection broke off", "run the same command again: it goes on from there"
    return None


def _gated(error: "HfHubHTTPError", repo: str) -> Told:
    message = error.server_message or ""
    if error.response.status_code == 401:
        cure = f"ask for access at {page(repo)}, then run 'hf auth login'"
        return "the dataset is gated, and you are not logged in", cure
    if WAITING in message:
        cure = f"wait for it, or write to the maintainers at {page(repo)}/discussions"
        return "your request for access awaits an answer", cure
    if REJECTED in message:
        cure = f"write to the maintainers at {page(repo)}/discussions"
        return "your request for access was rejected, or your access withdrawn", cure
    return "the dataset is gated, and you have not asked for access", f"ask for it at {page(repo)}"


def _answered(error: "HfHubHTTPError", repo: str) -> Told | None:
    """Explain an answer that is not a success."""
    from huggingface_hub.errors import RepositoryNotFoundError

    status = error.response.status_code
    with_token = "authorization" in error.response.request.headers
    # with a token that it knows, the Hub says 404 of a missing repository: 401 means the token
    if status == 401 and with_token:
        # said by where it came from, so that the right one is replaced
        where, command = "that is stored", "run 'hf auth login'"
        if os.environ.get("HF_TOKEN"):
            where, command = "in HF_TOKEN", "set HF_TOKEN to it"
        cause = f"the Hub does not accept the token {where}: it is wrong or has expired"
        return cause, f"make one at {tokens_page()} and {command}"
    if isinstance(error, RepositoryNotFoundError):
        login = "check your login" if with_token else "run 'hf auth login'"
        cause = "there is no such dataset, or it is private and not yours"
        return cause, f"look for it at {page(repo)} and {login}"
    if status == 401:
        return _not_logged_in()
    if status == 403:
        owner = repo.partition("/")[0]
        cure = f"make one that may at {tokens_page()}, or ask an owner of {owner} to add you"
        return f"your token may not manage datasets of {owner}", cure
    if status == 412:
        return "somebody else changed it meanwhile", "run the same command again"
    if status == 429:
        return "the Hub counts too many requests", "run the same command again in five minutes"
    if status >= 500:
        return f"the Hub has a fault of its own ({status})", "run the same command again later"
    return None


def _not_logged_in() -> Told:
    return "you are not logged in", f"make a token at {tokens_page()}, then run 'hf auth login'"
