"""Tasks for inspect_ai ask what ``eval.yaml`` asks; the real program runs them in record_logs."""

import ast
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from pronominal import InputError
from pronominal.cli.main import app

LETTERS = "ABCD"


@pytest.fixture
def tasks(own_ruff: str, sample: Path, tmp_path: Path) -> Path:
    out = tmp_path / "tasks"
    places = ["--ruff", own_ruff, "--winopron", str(sample)]
    app(["export", "inspect", str(out), *places], standalone_mode=False)
    return out


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a module in the place of inspect_ai that keeps what it is given."""

    def made(name: str, **members: Any) -> None:
        module = ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)

    def kept(kind: str) -> Any:
        return lambda *given, **named: SimpleNamespace(kind=kind, given=given, **named)

    made("inspect_ai", Task=kept("task"), task=lambda function: function)
    made("inspect_ai.dataset", MemoryDataset=kept("dataset"), Sample=kept("sample"))
    made("inspect_ai.scorer", choice=kept("choice"))
    solvers = ("multiple_choice", "prompt_template")
    made("inspect_ai.solver", **{name: kept(name) for name in solvers})
    monkeypatch.delitem(sys.modules, "asking", raising=False)


def test_there_is_a_task_for_each_of_eval_yaml(tasks: Path, own_ruff: str) -> None:
    written = ast.parse((tasks / "ruff.py").read_text())
    names = {one.name for one in written.body if isinstance(one, ast.FunctionDef)}
    content = yaml.safe_load((Path(own_ruff) / "eval.yaml").read_text())
    assert names == {task["id"] for task in content["tasks"]}


@pytest.mark.parametrize(
    ("dataset", "name"),
    [("winopron", "winopron_double"), ("ruff", "ruff_distractors_1_seed_17")],
)
def test_samples_have_the_ids_and_answers_of_the_rows(
    tasks: Path, stand_in: None, monkeypatch: pytest.MonkeyPatch, dataset: str, name: str
) -> None:
    monkeypatch.syspath_prepend(str(tasks))
    module: dict[str, Any] = {}
    exec((tasks / f"{dataset}.py").read_text(), module)
    task = module[name]()
    (samples,) = task.dataset.given
    for one in samples:
        assert one.metadata["id"] == one.id
        assert one.choices[LETTERS.index(one.target)] in one.choices
    assert len({one.id for one in samples}) == len(samples)
    prompt, letters = task.solver
    assert (prompt.kind, letters.kind) == ("prompt_template", "multiple_choice")
    assert "{prompt}" in prompt.given[0]


def test_an_export_replaces_an_earlier_one_and_nothing_else(tasks: Path) -> None:
    command = ["export", "inspect", str(tasks)]
    app(command, standalone_mode=False)
    assert "PLACE = 'uds-lsv/winopron'" in (tasks / "winopron.py").read_text()
    (tasks / "ruff.py").write_text("mine")
    with pytest.raises(InputError, match="there is something already"):
        app(command, standalone_mode=False)
