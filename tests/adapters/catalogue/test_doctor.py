"""`pronominal doctor` names the command for every system that cannot run, and the docs agree."""

import json
from pathlib import Path

import pytest

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue import doctor
from pronominal.adapters.catalogue.doctor import diagnose, missing_packages
from pronominal.adapters.catalogue.systems import SystemEntry, at
from pronominal.adapters.checkpoints.files import cached_weights
from pronominal.adapters.remote.environments import environments
from tests.cli.test_main import ROOT, pronominal
from tests.test_layout import config

EXTRAS = {"lingmess": {"torch": "2.4", "fastcoref": "2.1.6"}, "spacy": {"spacy": "3.7"}}


def diagnosed(
    monkeypatch: pytest.MonkeyPatch, entry: SystemEntry, installed: dict[str, str], cached: bool
) -> doctor.Diagnosis:
    monkeypatch.setattr(doctor, "SYSTEMS", {"it": entry})
    monkeypatch.setattr(doctor, "requirements_of_extras", lambda: EXTRAS)
    monkeypatch.setattr(doctor, "_version", installed.get)
    monkeypatch.setattr(doctor, "cached_weights", lambda repository: cached)
    (one,) = diagnose()
    return one


FULL = {"torch": "2.10.1+cpu", "fastcoref": "2.1.6", "spacy": "3.8"}


@pytest.mark.parametrize(
    ("extra", "weights", "installed", "cached", "state", "cure"),
    [
        (None, None, {}, False, "runs", None),
        ("lingmess", "org/it", FULL, True, "runs", None),
        ("lingmess", "org/it", FULL, False, "needs weights", "hf download org/it"),
        (
            *("lingmess", "org/it", {"torch": "2.3.9"}, False, "needs installing"),
            'pip install "pronominal[lingmess]"',
        ),
        ("new", None, FULL, False, "needs installing", 'pip install "pronominal[new]"'),
        (
            *(None, "https://example.org/it", {}, False, "needs weights"),
            "download them from https://example.org/it, then --system it=FOLDER",
        ),
        (
            *(None, "pronominal train it", {}, False, "needs weights"),
            "pronominal train it, then --system it=FOLDER",
        ),
        (
            None,
            "a URL",
            {},
            False,
            "needs a URL",
            "give its address, as it=http://localhost:8000/coref",
        ),
        (
            *(None, "a command", {}, False, "needs a command"),
            "give the program and its arguments, as it='python mine.py'",
        ),
        (
            *("spacy", "any spaCy pipeline", FULL, False, "needs weights"),
            "give a package or a folder, as it=PIPELINE",
        ),
    ],
)
def test_the_cure_is_the_next_command(
    monkeypatch: pytest.MonkeyPatch,
    extra: str | None,
    weights: str | None,
    installed: dict[str, str],
    cached: bool,
    state: str,
    cure: str | None,
) -> None:
    entry = SystemEntry("clustering", "it:It", "it", extra=extra, weights=weights)
    found = diagnosed(monkeypatch, entry, installed, cached)
    assert (found.state, found.cure) == (state, cure)


@pytest.mark.parametrize(
    ("files", "cached"),
    [
        (["config.json"], False),
        (["model.safetensors"], False),
        (["config.json", "model.safetensors"], True),
        (["config.json", "pytorch_model.bin"], True),
    ],
)
def test_weights_are_there_when_all_of_them_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], cached: bool
) -> None:
    for name in files:
        (tmp_path / name).touch()

    def look_up(repository: str, file: str, revision: str | None) -> str | None:
        return str(tmp_path / file) if file in files else None

    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", look_up)
    assert bool(cached_weights("org/it")) == cached


def test_a_server_has_to_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = SystemEntry("clustering", "it:It", "it", server="lm.prompting.server:START")
    found = diagnosed(monkeypatch, entry, {}, False)
    assert (found.state, found.cure) == (
        "needs a server",
        "start one (vllm serve ORG/NAME), and give its address, as -s it=URL (or --set url=URL)",
    )


def test_what_is_missing_is_named_with_its_version() -> None:
    installed = {"torch": "2.10", "spacy": "3.6.1", "any": "0"}
    needed = {"torch": "2.4", "spacy": "3.7", "any": "", "h5py": "3.10"}
    assert missing_packages(needed, installed.get) == ("spacy>=3.7", "h5py>=3.10")


def test_every_extra_of_a_system_exists() -> None:
    extras = {*config()["options.extras_require"]}
    assert {entry.extra for entry in SYSTEMS.values()} - {None} <= extras
    made = {entry.environment for entry in SYSTEMS.values()} - {None}
    assert made <= {*environments()}


def test_every_system_has_a_line_for_people_and_for_machines() -> None:
    lines = pronominal("doctor").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [*SYSTEMS]
    found = json.loads(pronominal("doctor", "--json").stdout)
    assert [one["name"] for one in found["systems"]] == [*SYSTEMS]
    assert all((one["state"] == "runs") == (one["cure"] is None) for one in found["systems"])
    assert "python" in found["versions"]


def columns(lines: list[str]) -> list[list[str]]:
    """The cells that do not depend on the machine."""
    return [[c.strip() for c in line.split("|")[1:-2]] for line in lines if line.startswith("|")]


def test_the_compatibility_table_of_the_docs_is_current() -> None:
    page = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    now = pronominal("doctor", "--markdown").stdout
    assert columns(page.splitlines()) == columns(now.splitlines()), (
        "run 'pronominal doctor --markdown' and put its table into docs/compatibility.md"
    )


def test_the_page_on_language_models_has_the_rows_that_each_is_for() -> None:
    page = (ROOT / "docs" / "measure-a-model.md").read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    told = {name.strip("| `"): rows.replace(" or ", " ") for name, rows, _ in lines}
    words = {"candidates": "candidates", "slots": "slots", "both": "candidates slots"}
    assert "lm" in told
    assert told == {name: words[SYSTEMS[name].rows] for name in told}


MODELS = [name for name, one in SYSTEMS.items() if one.kind == "language model"]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "lm-coref-questions"])
def test_rows_are_those_that_a_system_has_a_method_for(name: str) -> None:
    entry = SYSTEMS[name]
    if entry.extra is not None:
        pytest.importorskip("torch")
    system = at(entry.place)
    prompted = hasattr(system, "generate") or hasattr(system, "option_loglikelihoods")
    assert entry.rows == ("both" if prompted else "slots")


FAKE_PYTHON = """#!/bin/sh
case "$*" in
    "-c "*) echo 3.9 ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    *freeze*) echo "made==1.0" ;;
esac
"""


@pytest.fixture
def fake_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A Python 3.9 in which pip installs nothing."""
    python = tmp_path / "python3.9"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    monkeypatch.setenv("PRONOMINAL_ENVIRONMENTS", str(tmp_path / "environments"))
    return str(python)


def test_an_environment_is_made_whole(tmp_path: Path, fake_python: str) -> None:
    before = pronominal("env", "list").stdout
    result = pronominal("env", "create", "coreferee", "--python", fake_python)
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "environments" / "coreferee"
    assert result.stdout.strip() == str(folder)
    assert json.loads((folder / "environment.json").read_text())["packages"] == ["made==1.0"]
    assert "coreferee==1.4.1" in result.stderr
    after = pronominal("env", "list").stdout
    assert (str(folder) in before, str(folder) in after) == (False, True)


def test_environments_keep_to_packages_of_their_time() -> None:
    """What is newer is installed without a word, and then fails."""
    for environment in environments().values():
        assert "numpy<2" in environment.requirements
        downloads = any("download" in step for step in environment.after)
        assert not downloads or "click<8.2" in environment.requirements


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["corefere"], "there is no environment 'corefere'; did you mean 'coreferee'?"),
        (["coreferee", "--python", "no-such-python"], "no-such-python is no Python from 3.7"),
        (["coreferee", "--python", "/bin/echo"], "/bin/echo is no Python from 3.7"),
        (["coreferee", "--python", "/bin/true"], "/bin/true is no Python from 3.7"),
    ],
)
def test_an_environment_that_cannot_be_made_is_one_line(
    tmp_path: Path, fake_python: str, arguments: list[str], message: str
) -> None:
    result = pronominal("env", "create", *arguments)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert message in result.stderr
    assert not (tmp_path / "environments").exists()


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ('echo "WARNING: NewConnectionError" >&2; echo "ERROR: no such package" >&2', "ERROR: no"),
        ('echo "Traceback" >&2; echo "IndexError: 3" >&2', "fails (IndexError: 3)"),
        ('echo "cannot be downloaded"', "fails (cannot be downloaded)"),
        ("true", "fails (without a word)"),
    ],
)
def test_a_step_that_fails_is_quoted_and_leaves_nothing_behind(
    tmp_path: Path, fake_python: str, printed: str, said: str
) -> None:
    failing = f"    *coreferee==*) {printed}; exit 1 ;;\nesac"
    Path(fake_python).write_text(FAKE_PYTHON.replace("esac", failing))
    result = pronominal("env", "create", "coreferee", "--python", fake_python)
    assert result.returncode == 2
    assert said in result.stderr
    assert "NewConnectionError" not in result.stderr
    assert not (tmp_path / "environments").exists()


def test_a_system_without_its_environment_says_how_to_make_it(fake_python: str) -> None:
    result = pronominal("check-system", "coreferee")
    assert result.returncode == 2
    assert "pronominal env create coreferee" in result.stderr
