"""One dataset repository on the Hub: what is in it, who may see it, and how a stranger fares."""

import os
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pronominal.dataset_scripts.building.benchmark import EVAL_YAML
from pronominal.dataset_scripts.building.croissant import CROISSANT
from pronominal.dataset_scripts.hub.release import Release
from pronominal.dataset_scripts.reading.hub_client import hub_client, tokens_page
from pronominal.errors import InputError
from pronominal.names import is_hub_id

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

STRANGER = {"User-Agent": "pronominal"}
"""Headers of a visitor who is not logged in; the client's own would hold the user's token."""

STRANGER_TOKEN = "PRONOMINAL_STRANGER_TOKEN"
"""Environment variable with the token of an account that has no access to the dataset."""

PROBE = "gate-probe"
"""The file that holds nothing: strangers are refused it before any table is uploaded."""

NEW_REPOSITORY = "publish to another --repo, or remove this one first"


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

    def require_accounts(self) -> None:
        """Raise `InputError` when the user's token only reads, or the stranger's is no stranger's.

        Without this, a token that has expired would be refused everything, as if by the gate.
        """
        account: dict[str, Any] = self._api.whoami()
        if account.get("auth", {}).get("accessToken", {}).get("role") == "read":
            cause = f"the token of {account['name']} only reads"
            cure = f"make one that writes at {tokens_page()}"
            raise InputError(cause, cure=cure, file=self.name)
        if token := os.environ.get(STRANGER_TOKEN):
            from huggingface_hub.errors import HfHubHTTPError

            cure = "make one of an account that has no access to the dataset, or unset it"
            try:
                stranger = self._api.whoami(token=token)
            except (HfHubHTTPError, ValueError) as error:
                cause = f"the Hub does not accept the token in {STRANGER_TOKEN}"
                raise InputError(cause, cure=cure, file=self.name) from error
            if stranger["name"] == account["name"]:
                cause = f"the token in {STRANGER_TOKEN} is your own"
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

    def empty(self, release: Release) -> bool:
        """Put `PROBE` where the tables will be and take tables out; False if it is so already.

        Tables are there when a run was stopped after they went up. Their users see none of this:
        the repository is private at this moment.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        files = self.files()
        tables = [path for path in files if path.endswith(".parquet")]
        if PROBE in files and not tables:
            return False
        self._api.create_commit(
            self.name,
            [CommitOperationAdd(PROBE, b""), *map(CommitOperationDelete, tables)],
            commit_message=f"Try the gate for version {release.version}",
            repo_type="dataset",
        )
        return True

    def with_tables(self) -> list[str]:
        """Return the branches, tags and pull requests of which a commit, old or new, has a table.

        ``main`` comes first. Who can read a repository can read every one of its commits.
        """
        refs = self._api.list_repo_refs(self.name, repo_type="dataset", include_pull_requests=True)
        known: dict[str, bool] = {}

        def holds_table(commit: str) -> bool:
            if commit not in known:
                known[commit] = any(path.endswith(".parquet") for path in self.files(commit))
            return known[commit]

        found = {
            ref.name
            for ref in (*refs.branches, *refs.tags, *refs.converts, *(refs.pull_requests or ()))
            if any(holds_table(commit) for commit in self._history(ref.target_commit))
        }
        return sorted(found, key=lambda name: (name != "main", name))

    def _history(self, revision: str) -> list[str]:
        commits = self._api.list_repo_commits(self.name, repo_type="dataset", revision=revision)
        return [commit.commit_id for commit in commits]

    def squash(self, tag: str | None) -> None:
        """Make the head the only commit of main, and take a tag away, if one is named.

        Raises:
            InputError: the server does not squash; nothing was changed.
        """
        from huggingface_hub.errors import HfHubHTTPError

        try:
            self._api.super_squash_history(self.name, repo_type="dataset")
        except HfHubHTTPError as error:
            if error.response.status_code not in (400, 404, 405, 501):
                raise
            cause = "its older commits hold tables, and the server does not squash them"
            raise InputError(cause, cure=NEW_REPOSITORY, file=self.name) from error
        if tag is not None:
            self._api.delete_tag(self.name, tag=tag, repo_type="dataset")

    def seen_by_strangers(self) -> str | None:
        """Return what a stranger can see of a repository that should be private, or None.

        A stranger should be told that there is no such dataset, and no such file.
        """
        from huggingface_hub import constants, get_session, hf_hub_url

        card = f"{constants.ENDPOINT}/api/datasets/{self.name}"
        for url in (card, hf_hub_url(self.name, PROBE, repo_type="dataset")):
            for who, headers in _strangers():
                with get_session().stream("GET", url, headers=headers) as response:
                    status = response.status_code
                if status not in (401, 403, 404):
                    return f"{who} could see the repository"
        return None

    def open_to_strangers(self, paths: Sequence[str]) -> str | None:
        """Ask for files without a token, and with that of `STRANGER_TOKEN`, but read none.

        None when every one was refused because of the gate; otherwise the first one that was not,
        and what came instead.
        """
        from huggingface_hub import get_session, hf_hub_url

        for path in paths:
            url = hf_hub_url(self.name, path, repo_type="dataset")
            for who, headers in _strangers():
                with get_session().stream("GET", url, headers=headers) as response:
                    status, code = response.status_code, response.headers.get("X-Error-Code")
                if status < 400:
                    return f"{who} could read {path}"
                if status not in (401, 403) or code != "GatedRepo":
                    return f"{who} asked for {path} and was not sent to the gate but got {status}"
        return None


def _strangers() -> Iterator[tuple[str, dict[str, str]]]:
    """Give those who may read nothing: who they are, and the headers that they send."""
    yield "a stranger", STRANGER
    if token := os.environ.get(STRANGER_TOKEN):
        yield "an account without access", {**STRANGER, "Authorization": f"Bearer {token}"}


def differing(release: Release, remote: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Compare a release with what `DatasetRepository.files` gives.

    Returns the paths that are missing or other, and those that are there and should not be: tables
    of splits that are gone, what described them, and `PROBE`.
    """
    other = [path for path, known in release.digests.items() if remote.get(path) not in known]
    there = [path for path in remote if path not in release.digests]
    ours = (PROBE, CROISSANT, EVAL_YAML)
    stale = [path for path in there if path.endswith(".parquet") or path in ours]
    return other, stale
