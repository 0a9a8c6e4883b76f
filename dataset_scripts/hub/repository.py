"""One dataset repository on the Hub: what is in it, who may see it, and how a stranger fares."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pronominal.dataset_scripts.hub.release import Release
from pronominal.dataset_scripts.reading.hub_client import hub_client, tokens_page
from pronominal.errors import InputError
from pronominal.names import is_hub_id

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

STRANGER = {"User-Agent": "pronominal"}
"""Headers of a visitor who is not logged in; the client's own would hold the user's token."""


class Gating(StrEnum):
    """Who lets people in: their agreement alone, or a maintainer for each of them."""

    AUTO = "auto"
    MANUAL = "manual"


def require_hub_id(repo: str) -> None:
    """Raise `InputError` unless it is of the form ``ORG/NAME``."""
    if not is_hub_id(repo):
        raise InputError(f"'{repo}' is no name of a repository", cure="give it as ORG/NAME")


class DatasetRepository:
    """A dataset repository by its id, ``ORG/NAME``, with the calls that publishing needs.

    Its methods raise what huggingface_hub raises; `InputError` if that is not installed.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._api = hub_client()

    def require_writing_token(self) -> None:
        """Raise `InputError` when the user's token is one that only reads."""
        account: dict[str, Any] = self._api.whoami()
        if account.get("auth", {}).get("accessToken", {}).get("role") == "read":
            cause = f"the token of {account['name']} only reads"
            cure = f"make one that writes at {tokens_page()}"
            raise InputError(cause, cure=cure, file=self.name)

    def find(self) -> "DatasetInfo | None":
        """Return what the Hub says of the repository, or None when there is none."""
        from huggingface_hub.errors import RepositoryNotFoundError

        try:
            return self._api.dataset_info(self.name)
        except RepositoryNotFoundError as error:
            if error.response.status_code == 404:
                return None
            raise

    def info(self) -> "DatasetInfo":
        """Return what the Hub says of the repository, which is there."""
        return self._api.dataset_info(self.name)

    def create_private(self) -> None:
        """Create the repository, private from its first moment."""
        self._api.create_repo(self.name, repo_type="dataset", private=True)

    def set_private(self, private: bool) -> None:
        """Show or hide the repository."""
        self._api.update_repo_settings(self.name, repo_type="dataset", private=private)

    def set_gating(self, gating: Gating) -> None:
        """Close the gate."""
        self._api.update_repo_settings(self.name, repo_type="dataset", gated=gating.value)

    def files(self, revision: str = "main") -> dict[str, str]:
        """Return path -> digest: the SHA-256 of a large file, the git blob id of a small one."""
        from huggingface_hub.hf_api import RepoFile

        tree = self._api.list_repo_tree(
            self.name, repo_type="dataset", revision=revision, recursive=True
        )
        entries = [entry for entry in tree if isinstance(entry, RepoFile)]
        return {entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id for entry in entries}

    def tags(self) -> list[str]:
        """Return the names of the tags, which are the published versions."""
        return [tag.name for tag in self._api.list_repo_refs(self.name, repo_type="dataset").tags]

    def commit(self, release: Release, stale: Sequence[str], parent: str | None) -> None:
        """Make the release the content of the repository, in one commit that happens or does not.

        Files that are there already are not sent again, and the `stale` paths are removed. The Hub
        refuses when there is a newer commit than the `parent` that was looked at.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        added = [CommitOperationAdd(path, release.folder / path) for path in release.digests]
        self._api.create_commit(
            self.name,
            [*added, *map(CommitOperationDelete, stale)],
            commit_message=f"Version {release.version}",
            repo_type="dataset",
            parent_commit=parent,
        )

    def tag(self, version: str) -> None:
        """Name the head after a version."""
        self._api.create_tag(self.name, tag=version, repo_type="dataset")

    def hidden_from_strangers(self) -> bool:
        """Return whether the Hub tells a stranger that there is no such dataset."""
        from huggingface_hub import constants, get_session

        url = f"{constants.ENDPOINT}/api/datasets/{self.name}"
        return get_session().get(url, headers=STRANGER).status_code in (401, 404)

    def open_to_strangers(self, paths: Sequence[str]) -> str | None:
        """Try to read the first byte of files without a token.

        None when every one was refused because of the gate; otherwise the first one that was not,
        and what came instead.
        """
        from huggingface_hub import get_session, hf_hub_url

        headers = {**STRANGER, "Range": "bytes=0-0"}
        for path in paths:
            url = hf_hub_url(self.name, path, repo_type="dataset")
            with get_session().stream("GET", url, headers=headers) as response:
                status, code = response.status_code, response.headers.get("X-Error-Code")
            if status < 400:
                return f"a stranger could read {path}"
            if status not in (401, 403) or code != "GatedRepo":
                return f"a stranger who asked for {path} was not sent to the gate but got {status}"
        return None


def differing(release: Release, remote: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Compare a release with what `DatasetRepository.files` gives.

    Returns the paths that are missing or other, and the tables that are there and should not be.
    """
    other = [path for path, known in release.digests.items() if remote.get(path) not in known]
    stale = [path for path in remote if path.endswith(".parquet") and path not in release.digests]
    return other, stale
