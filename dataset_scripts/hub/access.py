"""Who may read a gated dataset: requests for access, and the answers to them."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.hub_client import hub_client, hub_errors, page
from pronominal.errors import InputError
from pronominal.overwriting import refuse_overwriting

if TYPE_CHECKING:
    from huggingface_hub import hf_api


class Answer(StrEnum):
    """What a maintainer says to a user."""

    ACCEPT = "accept"
    REJECT = "reject"
    GRANT = "grant"


EXPORTED = ("user", "status", "date")
"""All that an export holds: what a maintainer must be able to show later, and no more."""


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """One request for access, without the name and address that the Hub gives too.

    Attributes:
        user: the user's name on the Hub; empty when the Hub does not tell it.
        status: ``pending``, ``accepted`` or ``rejected``.
        date: the day of the request or of its answer, ``YYYY-MM-DD`` (UTC).
        answers: what the user filled into the form of the gate.
    """

    user: str
    status: str
    date: str
    answers: Mapping[str, Any]


def access_requests(repo: str) -> list[AccessRequest]:
    """Return the requests: pending, then accepted, then rejected ones, each by date.

    `InputError` if the dataset is not there, not gated or not the user's.
    """
    client = hub_client()
    requests = []
    for status in ("pending", "accepted", "rejected"):
        listed = getattr(client, f"list_{status}_access_requests")
        with _request_errors(client, repo, "there are no requests"):
            listing = [_without_person(request) for request in listed(repo, repo_type="dataset")]
        requests += sorted(listing, key=lambda request: (request.date, request.user))
    return requests


def answer(repo: str, user: str, how: Answer) -> None:
    """Answer a request, or let a user in who did not ask.

    Rejecting also withdraws the access of a user who was let in. The Hub lets nobody ask twice;
    accepting undoes it. `InputError` if there is no such request, or, to grant access, no such user
    without it.
    """
    client = hub_client()
    nothing = f"there is no request of {user} to {how}"
    if how is Answer.GRANT:
        nothing = f"there is no user {user} without access"
    with _request_errors(client, repo, nothing):
        if how is Answer.REJECT:
            client.reject_access_request(repo, user, repo_type="dataset", rejection_reason=None)
        elif how is Answer.ACCEPT:
            client.accept_access_request(repo, user, repo_type="dataset")
        else:
            client.grant_access(repo, user, repo_type="dataset")


def export_requests(repo: str, file: Path) -> int:
    """Write the columns `EXPORTED` of every request as CSV and return how many there are.

    Full names, e-mail addresses and answers stay on the Hub, where their owners can delete them.
    """
    refuse_overwriting(file)
    requests = access_requests(repo)
    with new_file(file) as temporary, temporary.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(EXPORTED)
        writer.writerows([getattr(request, key) for key in EXPORTED] for request in requests)
    return len(requests)


def _without_person(request: "hf_api.AccessRequest") -> AccessRequest:
    date = request.timestamp.date().isoformat()
    return AccessRequest(request.username or "", request.status, date, request.fields or {})


@contextmanager
def _request_errors(client: "hf_api.HfApi", repo: str, nothing: str) -> Iterator[None]:
    """Say what the Hub's bare 400 and 404 mean for requests: `nothing`, if the dataset is gated."""
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

    with hub_errors(repo):
        try:
            yield
        except RepositoryNotFoundError:
            raise
        except HfHubHTTPError as error:
            if error.response.status_code not in (400, 404):
                raise
            if not client.dataset_info(repo).gated:
                nothing = "the dataset is not gated, so that nobody needs access"
            cure = f"see 'pronominal access {repo} list' and {page(repo)}"
            raise InputError(nothing, cure=cure, file=repo) from error
