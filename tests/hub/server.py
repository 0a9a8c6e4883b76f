"""A Hub for tests, on 127.0.0.1 only, that fails on demand.

A token ``expires-N`` is one of the first account that writes; it is good for N requests.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.hub import models as models  # whose routes are added
from tests.hub.repository import Files, RefusalError, Repo
from tests.hub.routes import ROUTES


@dataclass
class Faults:
    # or "is dropped": the setting reads False; "is not enforced", "stops strangers only",
    # "forgets tables"
    gating: str = "works"
    private_is_public: bool = False  # strangers see what the settings call private
    at_second_upload: Callable[[], None] | None = None  # called; then the connection breaks
    at_probe: Callable[[], None] | None = None  # called when a stranger asks for a file
    squashes: bool = True  # or there is no such request
    flipped: bool = False  # one byte of every table that is sent


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes: 40 ms for each answer
    server: "Server"

    def serve(self) -> None:
        hub = self.server.hub
        self.user, self.role = None, None
        url = urlsplit(self.path)
        self.query = {key: values[0] for key, values in parse_qs(url.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with hub.lock:
            try:
                self.user, self.role = hub.account(self.headers.get("Authorization"))
                self.dispatch(url.path, body)
            except RefusalError as refusal:
                code = {"X-Error-Code": refusal.code} if refusal.code else {}
                error = json.dumps({"error": refusal.message}).encode()
                self.answer(error, refusal.status, {"X-Error-Message": refusal.message, **code})
            except ConnectionError:
                self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve  # noqa: N815

    def dispatch(self, path: str, body: bytes) -> None:
        for methods, pattern, route in ROUTES:
            match = pattern.fullmatch(path)
            if match and self.command in methods:
                route(self, *(unquote(group or "") for group in match.groups()), body)
                return
        raise RefusalError(404, f"{self.command} {path} is no part of this Hub")

    def log_message(self, *_: object) -> None:
        pass

    def reply(self, content: Any) -> None:
        self.answer(json.dumps(content).encode())

    def answer(
        self, content: bytes, status: int = 200, headers: Mapping[str, object] | None = None
    ) -> None:
        self.record(status, len(content))
        self.send_response(status)
        for key, value in {"Content-Length": len(content), **(headers or {})}.items():
            self.send_header(key, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def record(self, status: int, size: int) -> None:
        """Keep the request and what it made readable, before the client goes on."""
        hub = self.server.hub
        request = {"method": self.command, "path": self.path, "user": self.user}
        hub.requests.append({**request, "status": status, "size": size})
        hub.exposed += [name for name, repo in hub.repos.items() if hub.is_exposed(repo)]

    def repo(self, name: str, write: bool = False) -> Repo:
        hub = self.server.hub
        repo, owns = hub.repos.get(name), hub.owns(self.user, name)
        if repo is None or (repo.private and not owns and not hub.faults.private_is_public):
            raise RefusalError(404 if self.user else 401, "Repository not found", "RepoNotFound")
        if write and not (owns and self.role == "write"):
            raise RefusalError(403 if self.user else 401, "You may not modify this repo")
        return repo


class Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: "HubServer"

    def handle_error(self, *_: object) -> None:
        """Take no notice of clients that have gone."""


class HubServer:
    """Accounts are (user, token, role), organisations (name, members)."""

    def __init__(
        self,
        users: Sequence[tuple[str, str, str]],
        orgs: Sequence[tuple[str, Sequence[str]]],
    ) -> None:
        self.accounts = {token: (user, role) for user, token, role in users}
        self.orgs = dict(orgs)
        self.lock = threading.RLock()
        self.reset()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.hub = self
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def reset(self) -> None:
        """Forget everything but the accounts."""
        self.faults = Faults()
        self.repos: dict[str, Repo] = {}
        self.large: Files = {}
        self.requests: list[dict[str, Any]] = []
        self.exposed: list[str] = []  # a repository's name for every answer after which it was open
        self.uses: dict[str, int] = {}  # requests with each token that expires

    def __enter__(self) -> "HubServer":
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def account(self, header: str | None) -> tuple[str | None, str | None]:
        if header is None:
            return None, None
        token = header.removeprefix("Bearer ")
        _, expires, limit = token.partition("expires-")
        if expires:
            self.uses[token] = self.uses.get(token, 0) + 1
            if self.uses[token] <= int(limit):
                return next(one for one in self.accounts.values() if one[1] == "write")
        if token not in self.accounts:
            raise RefusalError(401, "Invalid credentials in Authorization header")
        return self.accounts[token]

    def owns(self, user: str | None, repo: str) -> bool:
        owner = repo.partition("/")[0]
        return user is not None and (user == owner or user in self.orgs.get(owner, ()))

    def is_exposed(self, repo: Repo) -> bool:
        """Whether a stranger could read rows at this moment."""
        closed = repo.gated and self.faults.gating == "works"
        shown = not repo.private or self.faults.private_is_public
        paths = (path for files in repo.commits.values() for path in files)
        return shown and not closed and any("parquet" in path for path in paths)

    def check_gate(self, repo: Repo, name: str, user: str | None, path: str) -> None:
        if not repo.gated or self.owns(user, name):
            return
        if self.faults.gating == "is not enforced":
            return
        if self.faults.gating == "stops strangers only" and user is not None:
            return
        if self.faults.gating == "forgets tables" and path.endswith(".parquet"):
            return
        if user is None:
            raise RefusalError(401, "Access is restricted. Please log in.", "GatedRepo")
        status = repo.requests.get(user, {"status": "none"})["status"]
        if status != "accepted":
            message = {
                "pending": "Your request is awaiting a review from the repo authors.",
                "rejected": "Your request has been rejected by the repo's authors.",
            }.get(status, "Access is restricted and you are not in the authorized list.")
            raise RefusalError(403, message, "GatedRepo")
