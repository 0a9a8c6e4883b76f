"""Repositories of the tests' Hub: settings, commits, tags and requests for access, in memory."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DATE = "2026-01-02T03:04:05.000Z"

Files = dict[str, bytes]


class RefusalError(Exception):
    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass
class Repo:
    private: bool
    gated: str | bool = False
    commits: dict[str, Files] = field(default_factory=lambda: {oid("commit", b""): {}})
    parents: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)  # beside main, whose head is the last
    tags: dict[str, str] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)

    def resolve(self, revision: str) -> str:
        if revision == "main":
            return list(self.commits)[-1]
        sha = self.tags.get(revision) or self.branches.get(revision, revision)
        if sha not in self.commits:
            raise RefusalError(404, "Invalid rev id", "RevisionNotFound")
        return sha

    def files(self, revision: str = "main") -> Files:
        return self.commits[self.resolve(revision)]

    def history(self, revision: str = "main") -> list[str]:
        """Return the commits from a revision back to the first one."""
        shas = [self.resolve(revision)]
        while shas[-1] in self.parents:
            shas.append(self.parents[shas[-1]])
        return shas

    def commit(self, files: Files, *, parent: str | None) -> str:
        sha = oid("commit", repr((sorted(files), parent, len(self.commits))).encode())
        self.commits[sha] = files
        if parent:
            self.parents[sha] = parent
        return sha

    def squash(self) -> None:
        """Make main one commit; what no branch and no tag leads to is gone."""
        head = self.commit(self.files(), parent=None)
        others = [*self.tags.values(), *self.branches.values()]
        kept = {head, *(sha for other in others for sha in self.history(other))}
        self.commits = {sha: files for sha, files in self.commits.items() if sha in kept}


def oid(kind: str, content: bytes) -> str:
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)) + content).hexdigest()


def digest(path: str, content: bytes) -> str:
    is_large = path.endswith(".parquet")
    return hashlib.sha256(content).hexdigest() if is_large else oid("blob", content)


def access_request(user: str, fields: Mapping[str, object]) -> dict[str, Any]:
    person = {"user": user, "fullname": f"{user} in full", "email": f"{user}@example.org"}
    status = {"requestId": user, "status": "pending", "timestamp": DATE}
    return {**status, "user": person, "fields": fields}
