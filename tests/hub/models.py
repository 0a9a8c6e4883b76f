"""Repositories of models on the tests' Hub, which take pull requests, as far as results need."""

import base64
import json
from typing import TYPE_CHECKING

from tests.hub.repository import DATE, RefusalError, digest, oid
from tests.hub.routes import ID, route

if TYPE_CHECKING:
    from tests.hub.server import Handler

OPEN = "refs/pr/"


@route("GET", rf"/api/models{ID}/tree/([^/]+)(?:/(.+))?")
def tree(self: "Handler", name: str, revision: str, _folder: str, _: bytes) -> None:
    files = self.repo(name).files(revision).items()
    told = {path: {"oid": oid("blob", content), "size": len(content)} for path, content in files}
    self.reply([{"type": "file", "path": path, **one} for path, one in told.items()])


@route("GET", rf"/api/models{ID}/discussions")
def discussions(self: "Handler", name: str, _: bytes) -> None:
    assert (self.query["type"], self.query["status"]) == ("pull_request", "open")
    shared = {"createdAt": DATE, "status": "open", "isPullRequest": True, "title": "results"}
    numbers = [ref.removeprefix(OPEN) for ref in self.repo(name).branches]
    found = [
        {**shared, "num": int(number), "repo": {"name": name, "type": "model"}}
        for number in numbers
    ]
    self.reply({"count": len(found), "start": 0, "discussions": found})


@route("POST", rf"/api/models{ID}/preupload/([^/]+)")
def preupload(self: "Handler", name: str, _revision: str, body: bytes) -> None:
    self.repo(name)
    paths = (file["path"] for file in json.loads(body)["files"])
    self.reply(
        {"files": [{"path": one, "uploadMode": "regular", "shouldIgnore": False} for one in paths]}
    )


@route("POST", rf"/api/models{ID}/commit/([^/]+)")
def commit(self: "Handler", name: str, _revision: str, body: bytes) -> None:
    """Take a commit of anybody who is logged in as a pull request, and none to main."""
    repo, hub = self.repo(name), self.server.hub
    if self.user is None or self.role != "write" or self.query.get("create_pr") != "1":
        raise RefusalError(403, "You may not modify this repo")
    main = repo.resolve("main")
    lines = [json.loads(line) for line in body.splitlines()]
    added = {
        line["value"]["path"]: base64.b64decode(line["value"]["content"])
        for line in lines
        if line["key"] == "file"
    }
    sha = repo.commit({**repo.files(main), **added}, parent=main)
    # the newest commit is main's: it goes on where it was
    repo.commits[main] = repo.commits.pop(main)
    number = len(repo.branches) + 1
    repo.branches[f"{OPEN}{number}"] = sha
    self.reply(
        {
            "success": True,
            "commitOid": sha,
            "commitUrl": f"{hub.url}/{name}/commit/{sha}",
            "pullRequestUrl": f"{hub.url}/{name}/discussions/{number}",
        }
    )


@route("GET HEAD", r"/(?!datasets/|api/)([\w.-]+/[\w.-]+?)/resolve/([^/]+)/(.+)")
def resolve(self: "Handler", name: str, revision: str, path: str, _: bytes) -> None:
    repo = self.repo(name)
    content = repo.files(revision).get(path)
    if content is None:
        raise RefusalError(404, "Entry not found", "EntryNotFound")
    headers = {"X-Repo-Commit": repo.resolve(revision), "ETag": f'"{digest(path, content)}"'}
    self.answer(content, 200, headers)
