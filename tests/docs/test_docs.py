"""What the README and the docs say works: every command, program and link on them.

A block marked ``bash`` or ``python`` runs as it stands, also in a tab, in the order of the page and
in one folder. A block marked ``output`` is what the block before it prints; ``...`` stands for any
lines. A block with ``title="FILE"`` is that file. Instead of the network there are stand-ins:
upstream's files on disk, and tiny models under the names that the pages give. What else a page
takes for granted (a file of the reader's, say) is made by ``tests/cases/docs/PAGE.sh``.
"""

import configparser
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import transformers

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.script import dataset_script
from tests.adapters.fastcoref.checkpoints import checkpoint
from tests.adapters.lm.language_models import CAUSAL, bert_tokenizer, filled, own_instances, save
from tests.conftest import ROOT
from tests.hub.server import HubServer
from tests.hub.users import ORGS, USERS, Hub

PAGES = {path.stem: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
BLOCK = re.compile(r'^( *)```(\w*)(?: title="([^"]+)")?\n(.*?)^\1```$', re.M | re.S)
RUN = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}
RUNNABLE = [
    name
    for name, path in PAGES.items()
    if re.search(r"^ *```(bash|python)", path.read_text(encoding="utf-8"), re.M)
]
PREPARATIONS = ROOT / "tests" / "cases" / "docs"
COMMIT = "0" * 40

pytestmark = pytest.mark.docs


def bert(vocabulary: int) -> Any:
    """A small BERT whose embeddings are as long as those of the smallest E2E."""
    sizes = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=vocabulary, intermediate_size=32, **sizes)
    return transformers.BertForMaskedLM(config)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, upstream: Path) -> dict[str, str]:
    """Environment variables that put stand-ins in the place of the network."""
    folder = tmp_path_factory.mktemp("stand-ins")
    for name in DATASETS:
        for one in dataset_script(name).UPSTREAM:
            for local in one.files:
                place = folder / "upstream" / one.repository / one.commit / one.path(local)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(upstream / one.folder / local)
    texts = filled(own_instances())
    models = {
        "google-bert/bert-base-cased": save(folder / "bert", (bert_tokenizer, bert), texts),
        "biu-nlp/f-coref": checkpoint("fcoref"),
        "biu-nlp/lingmess-coref": checkpoint("lingmess"),
        "openai-community/gpt2": save(folder / "gpt2", CAUSAL["gpt2"], texts),
    }
    for name, model in models.items():
        cached = folder / "hub" / f"models--{name.replace('/', '--')}"
        shutil.copytree(model, cached / "snapshots" / COMMIT)
        (cached / "refs").mkdir()
        (cached / "refs" / "main").write_text(COMMIT)
    pip = folder / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text("#!/bin/sh\n")  # everything is installed
    pip.chmod(0o755)
    return {
        **os.environ,
        "HF_HUB_CACHE": str(folder / "hub"),
        "PATH": f"{pip.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PRONOMINAL_UPSTREAM_URL": (folder / "upstream").as_uri(),
    }


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """An empty Hub on this machine."""
    with HubServer(USERS, ORGS) as server, closing(Hub(server.url, tmp_path, list)) as hub:
        yield hub


def matches(expected: str, printed: str) -> bool:
    """Whether this was printed; blanks at line ends count for nothing, ``...`` is any lines."""
    lines = (re.escape(line.rstrip()) for line in expected.strip().splitlines())
    pattern = "\n".join(".*" if line == re.escape("...") else line for line in lines)
    text = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, text, re.S) is not None


def run_page(page: str, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Run a page block by block; yields each block that has run."""
    environment = {
        **environment,
        "PATH": f"{folder / 'bin'}:{environment['PATH']}",
        "PREPARATIONS": str(PREPARATIONS),
    }
    blocks = BLOCK.findall(PAGES[page].read_text(encoding="utf-8"))
    if (PREPARATIONS / f"{page}.sh").exists():
        blocks.insert(0, ("", "bash", "", (PREPARATIONS / f"{page}.sh").read_text("utf-8")))
    printed = ""
    for _, language, title, block in blocks:
        content = textwrap.dedent(block)
        if title:
            (folder / title).write_text(content, encoding="utf-8")
        elif language == "output":
            assert matches(content, printed), f"{content}\nis not what was printed:\n{printed}"
        elif language in RUN:
            command = [*RUN[language], content]
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{content}\n{done.stderr[-2000:]}"
            printed = done.stdout
        yield content


@pytest.mark.parametrize("page", [name for name in RUNNABLE if name != "publishing"])
def test_every_block_of_a_page_runs(page: str, environment: dict[str, str], tmp_path: Path) -> None:
    assert [*run_page(page, tmp_path, environment)]


def test_every_block_about_publishing_runs(
    environment: dict[str, str], hub: Hub, tmp_path: Path
) -> None:
    ours = ("PATH", "PRONOMINAL_UPSTREAM_URL")
    owner = hub.environment("owner") | {"HF_TOKEN": "hf_owner"}
    for block in run_page("publishing", tmp_path, owner | {key: environment[key] for key in ours}):
        if "pronominal publish" in block:
            hub.ask("hf_alice", "uds-lsv/winopron")


def test_every_extra_that_a_page_names_exists() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    extras = set(settings["options.extras_require"])
    for page, path in PAGES.items():
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"(?:\.|pronominal)\[([a-z0-9,-]+)\]", text)
        missing = {extra for names in named for extra in names.split(",")} - extras
        assert not missing, f"{page}: {missing}"
