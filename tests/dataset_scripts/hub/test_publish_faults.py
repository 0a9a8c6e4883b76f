"""Publishing where something goes wrong: what is refused, what it says, and what is left open."""

import json
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from pronominal.dataset_scripts.reading.hub_client import hub_client
from pronominal.errors import InputError
from tests.hub.folders import changed, resealed
from tests.hub.repository import access_request
from tests.hub.server import HubServer
from tests.hub.users import CLIENT, ORGS, REPO, USERS, Hub

WRITES = ("POST", "PUT")
TABLES = ["double/test.parquet", "single/test.parquet"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HubServer, Hub]]:
    with HubServer(USERS, ORGS) as server:
        homes = tmp_path_factory.mktemp("homes")
        with closing(Hub(server.url, homes, lambda: server.requests)) as hub:
            yield server, hub


@pytest.fixture
def server(running: tuple[HubServer, Hub]) -> HubServer:
    """The tests' own server, empty; its users' interpreters stay."""
    running[0].reset()
    return running[0]


@pytest.fixture
def hub(server: HubServer, running: tuple[HubServer, Hub]) -> Hub:
    return running[1]


# ---- a server whose gate does not hold


@pytest.mark.parametrize(
    ("gating", "cause"),
    [
        ("is dropped", "the server took the setting and says gated: False"),
        (
            "is not enforced",
            "a stranger could read gate-probe, although the server says gated: manual",
        ),
        (
            "stops strangers only",
            "an account without access could read gate-probe, although the server says gated: "
            "manual",
        ),
    ],
)
def test_a_server_that_ignores_gating_never_has_a_row(
    server: HubServer, hub: Hub, sample: Path, gating: str, cause: str
) -> None:
    server.faults.gating = gating
    for _ in range(2):
        assert hub.publish(sample, status=1, stranger="hf_carol") == (
            f"{REPO}: {cause}; the repository is left private, without the new files"
        )
        assert server.repos[REPO].private
    assert [*server.repos[REPO].files()] == ["gate-probe"]
    assert server.exposed == []
    assert server.large == {}


def test_a_server_that_calls_private_what_is_public_never_has_a_row(
    server: HubServer, hub: Hub, sample: Path
) -> None:
    server.faults.private_is_public = True
    for _ in range(2):
        assert hub.publish(sample, status=1) == (
            f"{REPO}: a stranger could see the repository, although the server says private; the "
            "server does not make it private; the repository is left perhaps PUBLIC, without the "
            f"new files: make it private now at {hub.url}/datasets/{REPO}/settings"
        )
        assert server.repos[REPO].files() == {}
    assert server.exposed == []


def test_tables_that_the_gate_forgets_are_hidden_again(
    server: HubServer, hub: Hub, sample: Path
) -> None:
    server.faults.gating = "forgets tables"
    assert hub.publish(sample, status=1) == (
        f"{REPO}: a stranger could read {TABLES[0]}, although the server says gated: manual; the "
        "repository is left private, with the new files"
    )
    assert server.repos[REPO].private
    server.faults.gating = "is not enforced"
    before = len(server.exposed)
    said = hub.publish(sample, status=1)
    assert "could read gate-probe" in said
    assert server.exposed[before:] == [], "rows of an earlier run were shown"


def test_rows_of_an_older_version_are_not_shown_by_a_server_that_ignores_gating(
    server: HubServer, hub: Hub, sample: Path, tmp_path: Path
) -> None:
    hub.publish(sample)
    later = changed(sample, tmp_path / "later", lambda card: card.replace("1.0.0", "1.1.0", 1))
    repo = server.repos[REPO]
    repo.private, repo.gated, server.faults.gating = True, False, "is not enforced"
    before = len(server.exposed)
    assert hub.publish(later, status=2) == (
        f"{REPO}: 1.0.0 holds tables, which a server that ignores the gate would show (the "
        "repository is left private, without the new files); remove 1.0.0 from the repository, or "
        "publish to another --repo"
    )
    repo.branches["draft"] = repo.tags.pop("1.0.0")
    assert "draft holds tables" in hub.publish(later, status=2)
    del repo.branches["draft"]
    assert "a stranger could read gate-probe" in hub.publish(later, status=1)
    assert server.exposed[before:] == []
    server.faults.gating = "works"
    assert "tagged 1.1.0" in hub.publish(later)


def test_a_published_version_is_squashed_and_tagged_anew(
    server: HubServer, hub: Hub, sample: Path
) -> None:
    hub.publish(sample)
    repo = server.repos[REPO]
    repo.private, server.faults.squashes = True, False
    assert hub.publish(sample, status=2) == (
        f"{REPO}: its older commits hold tables, and the server does not squash them (the "
        "repository is left private, without the new files); publish to another --repo, or remove "
        "this one first"
    )
    assert list(repo.tags) == ["1.0.0"]
    server.faults.squashes = True
    said = hub.publish(sample).splitlines()
    assert "squashed: no older commit holds a table" in said
    assert "tagged 1.0.0" in said
    assert repo.files("1.0.0") == repo.files()
    assert server.exposed == []


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        ("hf_wrong", "the Hub does not accept the token in PRONOMINAL_STRANGER_TOKEN"),
        ("hf_owner", "the token in PRONOMINAL_STRANGER_TOKEN is your own"),
    ],
)
def test_the_token_of_a_stranger_must_be_one(
    server: HubServer, hub: Hub, sample: Path, token: str, cause: str
) -> None:
    assert cause in hub.publish(sample, status=2, stranger=token)
    assert server.repos == {}


def test_a_dataset_that_was_opened_is_hidden_before_anything_else(
    server: HubServer, hub: Hub, sample: Path
) -> None:
    hub.publish(sample)
    server.repos[REPO].gated = False
    before = len(server.requests)
    said = hub.publish(sample)
    assert "was open to strangers: made private" in said
    written = [path for path in hub.since(before, *WRITES) if "/settings" in path or "/com" in path]
    assert [path.split("/")[5] for path in written] == [
        *("settings", "commit", "settings", "settings", "commit"),
    ]
    assert not server.repos[REPO].private
    assert server.repos[REPO].gated == "manual"


def test_an_opened_dataset_is_hidden_although_its_version_is_refused(
    server: HubServer, hub: Hub, sample: Path, tmp_path: Path
) -> None:
    hub.publish(sample)
    server.repos[REPO].gated = False
    other = changed(sample, tmp_path / "other", lambda card: card + "\nOne more line.\n")
    said = hub.publish(other, status=2)
    assert "version 1.0.0 is published already, and README.md is another" in said
    assert "the repository is left private, without the new files" in said
    assert server.repos[REPO].private


def test_a_new_version_of_a_gated_dataset_is_never_readable_and_never_gone(
    server: HubServer, hub: Hub, sample: Path, tmp_path: Path
) -> None:
    hub.publish(sample)
    later = changed(sample, tmp_path / "later", lambda card: card.replace("1.0.0", "1.1.0", 1))
    before = len(server.requests)
    hub.publish(later)
    assert [path for path in hub.since(before, *WRITES) if "settings" in path] == []
    assert server.exposed == []
    assert list(server.repos[REPO].tags) == ["1.0.0", "1.1.0"]
    assert "version 1.0.0 is published already" in hub.publish(sample, status=2)


def test_the_tables_of_a_split_that_is_gone_are_removed(
    server: HubServer, hub: Hub, sample: Path, tmp_path: Path
) -> None:
    hub.publish(sample)
    later = tmp_path / "later"
    shutil.copytree(sample, later)
    shutil.rmtree(later / "single")
    for describing in ("croissant.json", "eval.yaml"):
        (later / describing).unlink()
    header = yaml.safe_load((later / "README.md").read_text().split("---\n")[1])
    header["version"] = "2.0.0"
    header["configs"], header["dataset_info"] = header["configs"][:1], header["dataset_info"][:1]
    (later / "README.md").write_text(f"---\n{yaml.safe_dump(header)}---\n")
    hub.publish(resealed(later))
    assert {*server.repos[REPO].files()} == {"README.md", "SHA256SUMS", TABLES[0]}
    assert TABLES[1] in server.repos[REPO].files("1.0.0")


def test_a_repository_of_another_dataset_is_not_written_over(
    server: HubServer, hub: Hub, sample: Path, tmp_path: Path
) -> None:
    hub.publish(sample)
    commits = list(server.repos[REPO].commits)
    card = server.repos[REPO].files()["README.md"].replace(b"pronominal:sample:", b"other:")
    server.repos[REPO].commits[commits[-1]]["README.md"] = card
    before = len(server.requests)
    assert hub.publish(sample, status=2) == (
        f"{REPO}: the repository does not hold sample: its canary is another (nothing was "
        "changed); choose another --repo"
    )
    assert hub.since(before, *WRITES) == []


# ---- tokens and connections


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (None, "you are not logged in (nothing was changed); make a token at"),
        ("hf_wrong", "the Hub does not accept the token in HF_TOKEN: it is wrong or has expired"),
        ("hf_reader", "the token of owner only reads (nothing was changed); make one that writes"),
        ("hf_carol", "your token may not manage datasets of uds-lsv (nothing was changed)"),
    ],
)
def test_who_may_not_write_is_told_why(
    server: HubServer, hub: Hub, sample: Path, token: str | None, message: str
) -> None:
    assert message in hub.publish(sample, status=2, token=token)
    assert server.repos == {}


GATE_HELD = ("public: a stranger is refused gate-probe", "a stranger is refused every table")

EXPIRING = """
import json, os, sys
from pathlib import Path
from pronominal.dataset_scripts.hub.publish import GateOpenError, publish
from pronominal.dataset_scripts.hub.release import read_release
from pronominal.dataset_scripts.hub.repository import Gating
from pronominal.errors import InputError

release, again, said = read_release(Path(sys.argv[1])), sys.argv[2] == "again", []
for requests in range(100):
    repo, steps = f"uds-lsv/sample-{requests}", []
    os.environ["HF_TOKEN"] = f"expires-{requests}"
    try:
        publish(release, repo, Gating.MANUAL, steps.append)
        break
    except InputError as error:
        said.append((str(error), steps))
    except GateOpenError as error:
        said.append((str(error), steps))
        if "does not accept" not in str(error):
            break
    if again:
        os.environ["HF_TOKEN"] = "hf_owner"
        publish(release, repo, Gating.MANUAL, lambda step: None)
print(json.dumps(said))
"""


def expiring(hub: Hub, sample: Path, then: str) -> list[tuple[str, list[str]]]:
    """Publish with tokens good for 0, 1, 2, ... requests; return each message, and steps done."""
    publisher = hub.start("-c", EXPIRING, sample, then, home="expiring")
    stdout, stderr = publisher.communicate()
    assert publisher.returncode == 0, stderr
    return json.loads(stdout)


def test_a_token_that_expires_at_any_moment_leaves_nothing_open(
    server: HubServer, hub: Hub, sample: Path
) -> None:
    said = expiring(hub, sample, "again")
    assert "left private, without the new files" in said[3][0]
    assert "left public and gated, with the new files" in said[-1][0]
    for number, (message, steps) in enumerate(said):
        repo = f"uds-lsv/sample-{number}"
        assert message.startswith(f"{repo}: the Hub does not accept the token in HF_TOKEN")
        assert (
            "the repository is left private, without the new files" in message
            or ("left public and gated, with" in message and steps[-1].startswith(GATE_HELD))
            or (not steps and "nothing was changed" in message)
        )
        assert list(server.repos[repo].tags) == ["1.0.0"]
        assert len(server.repos[repo].commits) == 3
        assert (server.repos[repo].private, server.repos[repo].gated) == (False, "manual")
    assert server.exposed == []


def test_a_dataset_that_cannot_be_hidden_any_more_is_called_open(
    server: HubServer, hub: Hub, sample: Path
) -> None:
    server.faults.gating = "forgets tables"
    open_ones = []
    for number, (message, _) in enumerate(expiring(hub, sample, "leave")):
        repo = server.repos.get(f"uds-lsv/sample-{number}")
        is_open = repo is not None and not repo.private and TABLES[0] in repo.files()
        assert (
            "left perhaps PUBLIC, with the new files: make it private now" in message
        ) == is_open, message
        open_ones += [number] * is_open
    assert len(open_ones) > 0


def test_a_publisher_that_is_killed_goes_on_where_it_stopped(
    server: HubServer, hub: Hub, sample: Path
) -> None:
    publisher = hub.start(CLIENT, home="killed")
    server.faults.at_second_upload = publisher.kill
    arguments = ["publish", str(sample), "--repo", REPO, "--gated", "manual"]
    publisher.communicate(json.dumps({"arguments": arguments, "token": "hf_owner"}) + "\n")
    assert publisher.returncode == -signal.SIGKILL
    assert [*server.repos[REPO].files()] == ["gate-probe"]
    server.faults.at_second_upload = None
    before = len(server.requests)
    hub.publish(sample)
    assert len([path for path in hub.since(before, "PUT") if path.startswith("/lfs/")]) == 1
    assert server.exposed == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_publisher_that_is_ended_hides_what_it_showed(
    server: HubServer, hub: Hub, sample: Path, number: signal.Signals
) -> None:
    publisher = hub.start(CLIENT, home="ended")
    server.faults.at_probe = lambda: publisher.send_signal(number)
    arguments = ["publish", str(sample), "--repo", REPO, "--gated", "manual"]
    line = json.dumps({"arguments": arguments, "token": "hf_owner"}) + "\n"
    done = json.loads(publisher.communicate(line)[0])
    assert done["status"] == 128 + number
    assert "interrupted; the repository is left private, without the new files" in done["stderr"]
    assert server.repos[REPO].private


def test_a_damaged_download_is_found(server: HubServer, hub: Hub, sample: Path) -> None:
    hub.publish(sample)
    server.faults.flipped = True
    message = hub.use("hf_owner", status=2, home="damaged")
    assert "the download is damaged: it is not the file of SHA256SUMS; remove " in message
    server.faults.flipped = False
    shutil.rmtree(message.partition("; remove ")[2].removesuffix(" and run the same command again"))
    hub.use("hf_owner", home="damaged")


def test_what_cannot_be_reached_is_told_apart(hub: Hub, sample: Path, tmp_path: Path) -> None:
    nowhere = "uds-lsv/nowhere"
    assert hub.use(None, nowhere, status=2) == (
        f"{nowhere}: there is no such folder, and on the Hub: there is no such dataset, or it is "
        f"private and not yours; look for it at {hub.url}/datasets/{nowhere} and run "
        "'hf auth login'"
    )
    assert hub.use("hf_alice", nowhere, status=2).endswith("and check your login")
    with HubServer(USERS, ORGS) as gone:
        pass
    with closing(Hub(gone.url, tmp_path, list)) as down:
        cause = f"{down.url} cannot be reached"
        assert f"{cause}; check the network and HF_ENDPOINT" in down.use("hf_alice", status=2)
        assert f"{cause} (nothing was changed)" in down.publish(sample, status=2)
    arguments = ("-m", "pronominal", "run", "--dataset", REPO, "--system", "random")
    offline = hub.start(*arguments, home="empty", HF_HUB_OFFLINE="1").communicate()[1]
    assert "HF_HUB_OFFLINE is set, and the dataset is not in" in offline
    assert len(offline.splitlines()) == 1


def test_the_client_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r'pip install "pronominal\[hub\]"'):
        hub_client()


# ---- requests for access


def test_answers_that_cannot_be_given_are_explained(hub: Hub, sample: Path) -> None:
    hub.publish(sample)
    for arguments, message in (
        (("accept", "alice"), "there is no request of alice to accept; see 'pronominal access"),
        (("reject", "nobody"), "there is no request of nobody to reject"),
        (("grant", "nobody"), "there is no user nobody without access"),
        (("accept",), f"accept needs a user; write 'pronominal access {REPO} accept USER'"),
        (("export",), f"export needs a file; write 'pronominal access {REPO} export FILE'"),
    ):
        assert message in hub.pronominal("access", REPO, *arguments, status=2, token="hf_owner")
    for arguments, message in (
        ((REPO, "list", "bob"), f"list takes no bob; write 'pronominal access {REPO} list'"),
        (("sample", "list"), "'sample' is no name of a repository; give it as ORG/NAME"),
    ):
        assert message in hub.pronominal("access", *arguments, status=2, token="hf_owner")
    nobody = hub.pronominal("access", REPO, "list", status=2)
    assert f"you are not logged in; make a token at {hub.url}/settings/tokens" in nobody
    stranger = hub.pronominal("access", REPO, "list", status=2, token="hf_alice")
    assert "your token may not manage datasets of uds-lsv" in stranger
    missing = hub.pronominal("access", "uds-lsv/nowhere", "list", status=2, token="hf_owner")
    assert "there is no such dataset" in missing


def test_an_answer_cannot_steer_the_terminal(server: HubServer, hub: Hub, sample: Path) -> None:
    hub.publish(sample)
    fields = {"Name\x1b[2J": "Zoë\r\u202e"}
    server.repos[REPO].requests["bob"] = access_request("bob\x9b", fields)
    (line,) = hub.pronominal("access", REPO, "list", "--answers", token="hf_owner").splitlines()
    assert line.isprintable()
    assert r"Name\x1b[2J: Zoë\r\u202e" in line


def test_an_open_dataset_has_no_requests(server: HubServer, hub: Hub, sample: Path) -> None:
    hub.publish(sample)
    server.repos[REPO].gated = False
    said = hub.pronominal("access", REPO, "list", status=2, token="hf_owner")
    assert "the dataset is not gated, so that nobody needs access" in said
