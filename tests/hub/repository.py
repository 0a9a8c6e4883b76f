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
    tags: dict[str, str] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)

    def resolve(self, revision: str) -> str:
        if revision == "main":
            return list(self.commits)[-1]
        sha = self.tags.get(revision, revision)
        if sha not in self.commits:
            raise RefusalError(404, "Invalid rev id", "RevisionNotFound")
        return sha

    def files(self, revision: str = "main") -> Files:
        return self.commits[self.resolve(revision)]


def oid(kind: str, content: bytes) -> str:
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)) + content).hexdigest()


def digest(path: str, content: bytes) -> str:
    is_large = path.endswith(".parquet")
    return hashlib.sha256(content).hexdigest() if is_large else oid("blob", content)


def access_request(user: str, fields: Mapping[str, object]) -> dict[str, Any]:
    person = {"user": user, "fullname": f"{user} in full", "email": f"{user}@example.org"}
    status = {"requestId": user, "status": "pending", "timestamp": DATE}
    return {**status, "user": person, "fields": fields}
