"""What the tests' Hub answers: the calls of `huggingface_hub` and `datasets`, in their order."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import yaml

from tests.hub.repository import DATE, RefusalError, Repo, access_request, digest, oid

if TYPE_CHECKING:
    from tests.hub.server import Handler

ID = r"/([\w.-]+/[\w.-]+?)"

Route = Callable[..., None]
ROUTES: list[tuple[list[str], re.Pattern[str], Route]] = []


def route(methods: str, pattern: str) -> Callable[[Route], Route]:
    def add(function: Route) -> Route:
        ROUTES.append((methods.split(), re.compile(pattern), function))
        return function

    return add


@route("GET", "/api/whoami-v2")
def whoami(self: "Handler", _: bytes) -> None:
    if self.user is None:
        raise RefusalError(401, "Invalid username or password.")
    self.reply({"name": self.user, "auth": {"accessToken": {"role": self.role}}})


def is_private(asked: dict[str, object]) -> bool:
    """Say what is asked for, by today's clients or as huggingface_hub 1.0 does."""
    return asked.get("visibility") == "private" or asked.get("private") is True


@route("POST", "/api/repos/create")
def create(self: "Handler", body: bytes) -> None:
    asked, hub = json.loads(body), self.server.hub
    name = f"{asked.get('organization') or self.user}/{asked['name']}"
    if not hub.owns(self.user, name) or self.role != "write":
        raise RefusalError(403, "You may not create a dataset in this namespace")
    hub.repos[name] = Repo(private=is_private(asked))
    self.reply({"url": f"{hub.url}/datasets/{name}", "name": name})


@route("PUT", rf"/api/datasets{ID}/settings")
def settings(self: "Handler", name: str, body: bytes) -> None:
    repo, asked = self.repo(name, write=True), json.loads(body)
    if "gated" in asked and self.server.hub.faults.gating != "is dropped":
        repo.gated = asked["gated"]
    if asked.keys() & {"visibility", "private"}:
        repo.private = is_private(asked)
    self.reply({})


@route("GET HEAD", rf"/api/datasets{ID}(?:/revision/([^/]+))?")
def info(self: "Handler", name: str, revision: str, _: bytes) -> None:
    repo = self.repo(name)
    sha = repo.resolve(revision or "main")
    files = repo.files(sha)
    card = files.get("README.md", b"---\n---\n").decode().split("---\n")[1]
    described = {"id": name, "sha": sha, "private": repo.private, "gated": repo.gated}
    siblings = [{"rfilename": path} for path in files]
    self.reply({**described, "cardData": yaml.safe_load(card) or {}, "siblings": siblings})


@route("GET", rf"/api/datasets{ID}/tree/([^/]+)(?:/(.+))?")
def tree(self: "Handler", name: str, revision: str, folder: str, _: bytes) -> None:
    files, entries = self.repo(name).files(revision), {}
    prefix = folder.rstrip("/") + "/" if folder else ""
    for path, content in files.items():
        if not path.startswith(prefix):
            continue
        parent, inside, _rest = path.removeprefix(prefix).partition("/")
        if inside:
            entries[prefix + parent] = {"type": "directory", "oid": oid("tree", b""), "size": 0}
        if not inside or self.query.get("recursive", "").lower() in ("1", "true"):
            entries[path] = {"type": "file", "oid": oid("blob", content), "size": len(content)}
            if path.endswith(".parquet"):
                large = {"oid": digest(path, content), "size": len(content), "pointerSize": 1}
                entries[path]["lfs"] = large
    if prefix and not entries:
        raise RefusalError(404, "no such folder", "EntryNotFound")
    self.reply([{"path": path, **entry} for path, entry in sorted(entries.items())])


@route("GET", rf"/api/datasets{ID}/refs")
def refs(self: "Handler", name: str, _: bytes) -> None:
    repo = self.repo(name)

    def told(kind: str, revisions: dict[str, str]) -> list[dict[str, str]]:
        return [
            {"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": sha}
            for name, sha in revisions.items()
        ]

    branches = told("heads", {"main": repo.resolve("main"), **repo.branches})
    tags = told("tags", repo.tags)
    self.reply({"branches": branches, "tags": tags, "converts": [], "pullRequests": []})


@route("GET", rf"/api/datasets{ID}/commits/([^/]+)")
def commits(self: "Handler", name: str, revision: str, _: bytes) -> None:
    known = {"authors": [], "date": DATE, "title": "", "message": ""}
    self.reply([{"id": sha, **known} for sha in self.repo(name).history(revision)])


@route("POST", rf"/api/datasets{ID}/super-squash/main")
def squash(self: "Handler", name: str, _: bytes) -> None:
    repo = self.repo(name, write=True)
    if not self.server.hub.faults.squashes:
        raise RefusalError(404, "POST super-squash is no part of this Hub")
    repo.squash()
    self.reply({})


@route("POST", rf"/api/datasets{ID}/tag/([^/]+)")
def tag(self: "Handler", name: str, revision: str, body: bytes) -> None:
    repo = self.repo(name, write=True)
    repo.tags[json.loads(body)["tag"]] = repo.resolve(revision)
    self.reply({})


@route("DELETE", rf"/api/datasets{ID}/tag/([^/]+)")
def untag(self: "Handler", name: str, tag: str, _: bytes) -> None:
    del self.repo(name, write=True).tags[tag]
    self.reply({})


@route("POST", "/api/validate-yaml")
def validate_yaml(self: "Handler", _: bytes) -> None:
    self.reply({"errors": [], "warnings": []})


@route("POST", rf"/api/datasets{ID}/preupload/([^/]+)")
def preupload(self: "Handler", name: str, revision: str, body: bytes) -> None:
    there = self.repo(name, write=True).files(revision)
    answers = []
    for path in (file["path"] for file in json.loads(body)["files"]):
        mode = "lfs" if path.endswith(".parquet") else "regular"
        known = digest(path, there[path]) if path in there else None
        answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": known})
    self.reply({"files": answers})


@route("POST", rf"/datasets{ID}\.git/info/lfs/objects/batch")
def batch(self: "Handler", name: str, body: bytes) -> None:
    self.repo(name, write=True)
    objects = json.loads(body)["objects"]
    for one in objects:
        if one["oid"] not in self.server.hub.large:
            one["actions"] = {"upload": {"href": f"{self.server.hub.url}/lfs/{one['oid']}"}}
    self.reply({"transfer": "basic", "objects": objects})


@route("PUT", "/lfs/([0-9a-f]{64})")
def upload(self: "Handler", name: str, body: bytes) -> None:
    hub = self.server.hub
    if hub.large and hub.faults.at_second_upload:
        hub.faults.at_second_upload()
        raise ConnectionError
    if hashlib.sha256(body).hexdigest() != name:
        raise RefusalError(422, "other bytes than announced")
    hub.large[name] = body
    self.reply({})


@route("POST", rf"/api/datasets{ID}/commit/([^/]+)")
def commit(self: "Handler", name: str, revision: str, body: bytes) -> None:
    repo = self.repo(name, write=True)
    files = dict(repo.files(revision))
    for line in map(json.loads, body.splitlines()):
        key, value = line["key"], line["value"]
        if key == "header" and value.get("parentCommit") not in (None, repo.resolve("main")):
            raise RefusalError(412, "A commit has happened since")
        if key == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif key == "lfsFile":
            files[value["path"]] = self.server.hub.large[value["oid"]]
        elif key == "deletedFile":
            del files[value["path"]]
    sha = repo.commit(files, parent=repo.resolve("main"))
    url = f"{self.server.hub.url}/datasets/{name}/commit/{sha}"
    self.reply({"success": True, "commitOid": sha, "commitUrl": url})


@route("GET HEAD", rf"/datasets{ID}/resolve/([^/]+)/(.+)")
def resolve(self: "Handler", name: str, revision: str, path: str, _: bytes) -> None:
    hub, repo = self.server.hub, self.repo(name)
    if self.user is None and hub.faults.at_probe:
        hub.faults.at_probe()
    hub.check_gate(repo, name, self.user, path)
    content, commit_id = repo.files(revision).get(path), repo.resolve(revision)
    if content is None:
        raise RefusalError(404, "Entry not found", "EntryNotFound")
    headers = {"X-Repo-Commit": commit_id, "ETag": f'"{digest(path, content)}"'}
    if hub.faults.flipped and path.endswith(".parquet"):
        content = content[:-1] + bytes([content[-1] ^ 1])
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
    if asked is None:
        self.answer(content, 200, headers)
        return
    first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
    headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    self.answer(content[first : last + 1], 206, headers)


@route("GET", rf"/api/datasets{ID}/user-access-request/(pending|accepted|rejected)")
def requests(self: "Handler", name: str, status: str, _: bytes) -> None:
    repo = self.repo(name, write=True)
    if not repo.gated:
        raise RefusalError(400, "Repo is not gated")
    self.reply([one for one in repo.requests.values() if one["status"] == status])


@route("POST", rf"/api/datasets{ID}/user-access-request/(handle|grant)")
def answer_request(self: "Handler", name: str, verb: str, body: bytes) -> None:
    repo, asked = self.repo(name, write=True), json.loads(body)
    user, status = asked["user"], asked.get("status", "accepted")
    if not repo.gated:
        raise RefusalError(400, "Repo is not gated")
    if user not in {account[0] for account in self.server.hub.accounts.values()}:
        raise RefusalError(404, "User not found")
    if verb == "grant":
        repo.requests.setdefault(user, access_request(user, {}))
    if repo.requests.get(user, {"status": status})["status"] == status:
        raise RefusalError(404, "No access request")
    repo.requests[user]["status"] = status
    self.reply({})


@route("POST", rf"/datasets{ID}/ask-access")
def ask_access(self: "Handler", name: str, body: bytes) -> None:
    repo = self.repo(name)
    if self.user is None or not repo.gated:
        raise RefusalError(401, "log in")
    repo.requests.setdefault(self.user, access_request(self.user, json.loads(body)))
    if repo.gated == "auto":
        repo.requests[self.user]["status"] = "accepted"
    self.reply({})
