"""The users of a Hub: each cache that one of them keeps has an interpreter of its own."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPO = "uds-lsv/sample"
USERS = [
    ("owner", "hf_owner", "write"),
    ("owner", "hf_reader", "read"),
    ("alice", "hf_alice", "read"),
    ("bob", "hf_bob", "read"),
    ("carol", "hf_carol", "write"),
]
ORGS = [("uds-lsv", ["owner"])]
ANSWERS = {"Affiliation": "A university", "I agree to these terms": True}
CLIENT = Path(__file__).with_name("client.py")


@dataclass
class Hub:
    """A server, and its users: an interpreter for each cache that one of them keeps."""

    url: str
    homes: Path
    requests: Callable[[], list[dict[str, Any]]]
    users: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def start(self, *arguments: object, home: str, **settings: str) -> subprocess.Popen[str]:
        """Start python with the settings of the Hub; `home` names its cache."""
        environment = self.environment(home) | settings
        command = [sys.executable, *map(str, arguments)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(command, env=environment, cwd=self.homes, text=True, **pipes)

    def environment(self, home: str) -> dict[str, str]:
        """Return the environment variables of a user; `home` names the cache."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        return kept | {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(self.homes / home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        }

    def pronominal(
        self,
        *arguments: object,
        status: int = 0,
        token: str | None = None,
        stranger: str | None = None,
        home: str = "shared",
    ) -> str:
        """Run the command; return what it printed, or its one line on stderr if it must fail."""
        if home not in self.users:
            self.users[home] = self.start(CLIENT, home=home)
        user = self.users[home]
        tokens = {"token": token, "stranger": stranger}
        user.stdin.write(json.dumps({"arguments": [*map(str, arguments)], **tokens}) + "\n")
        user.stdin.flush()
        done = json.loads(user.stdout.readline())
        assert done["status"] == status, done
        if status == 0:
            return done["stdout"]
        lines = done["stderr"].splitlines()
        assert len(lines) == 1, lines
        return lines[0].removeprefix("pronominal: ")

    def close(self) -> None:
        for user in self.users.values():
            user.communicate()

    def publish(
        self,
        folder: Path,
        *options: str,
        status: int = 0,
        token: str | None = "hf_owner",
        stranger: str | None = None,
        home: str = "shared",
    ) -> str:
        arguments = ("publish", folder, "--repo", REPO, "--gated", "manual", *options)
        tokens = {"token": token, "stranger": stranger}
        return self.pronominal(*arguments, status=status, **tokens, home=home)

    def use(
        self, token: str | None = None, repo: str = REPO, *, status: int = 0, home: str = "shared"
    ) -> str:
        """Read the dataset with one of our own commands."""
        out = self.homes / "runs" / str(len(self.requests()))
        options = ("--config", "double", "--system", "first-mention", "--out", out)
        arguments = ("run", "--dataset", repo, *options)
        return self.pronominal(*arguments, status=status, token=token, home=home)

    def ask(self, token: str, repo: str = REPO) -> None:
        """Fill in the form of the gate, which only a browser can."""
        request = urllib.request.Request(
            f"{self.url}/datasets/{repo}/ask-access",
            data=json.dumps(ANSWERS).encode(),
            headers={"Authorization": f"Bearer {token}"},
        )
        urllib.request.urlopen(request).close()

    def since(self, number: int, *methods: str) -> list[str]:
        """Return the paths asked for after the first `number` requests."""
        return [one["path"] for one in self.requests()[number:] if one["method"] in methods]
