"""Tasks for lm-evaluation-harness ask our questions and, where it is installed, give our numbers.

All sentences are our own.
"""

import importlib.util
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

from pronominal import InputError
from pronominal.adapters.lm.prompting.prompts import Prompting
from pronominal.cli.main import app
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores.ruff.samples import SAMPLES
from tests.eval.evaluated import evaluate

PROMPT = "2-backward"
MODELS = ("gpt2", "llama")


@pytest.fixture(scope="module")
def tasks(own_ruff: str, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tasks") / "pronominal"
    places = ["--ruff", own_ruff, "--winopron", str(sample)]
    app(["export", "lm-eval", str(out), *places], standalone_mode=False)
    return out


class Loader(yaml.SafeLoader):
    """Reads ``!function`` as its argument."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@cache
def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.load(path.read_text(), Loader)
    return content


def function(folder: Path, name: str) -> Callable[..., Any]:
    """Import a function as the harness does, from its file alone."""
    module, _, attribute = name.partition(".")
    spec = importlib.util.spec_from_file_location(module, folder / f"{module}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return getattr(found, attribute)  # type: ignore[no-any-return]


def test_there_is_a_task_for_each_sample_and_prompt(tasks: Path, own_ruff: str) -> None:
    names = {path.stem for path in tasks.rglob("*.yaml") if not path.stem.startswith("_")}
    seeds = {f"ruff_distractors_{n}_seed_{s}" for n in range(6) for s in (13, 17, 19)}
    prompts = {
        f"winopron_{config}_{number}_{order}"
        for config in ("double", "single")
        for number in range(10)
        for order in ("forward", "backward", "none")
    }
    assert names == seeds | prompts
    task = read(tasks / "ruff_distractors_1" / "ruff_distractors_1_seed_17.yaml")
    place = [task[key] for key in ("dataset_path", "dataset_name", "test_split")]
    assert place == [own_ruff, "distractors_1", "seed_17"]


def test_a_group_is_the_mean_of_its_tasks(tasks: Path) -> None:
    group = read(tasks / "ruff_distractors_1" / "_ruff_distractors_1.yaml")
    assert len(group["task"]) == 3
    assert group["aggregate_metric_list"] == [{"metric": "acc", "aggregation": "mean"}]


def test_a_slots_options_are_the_filled_texts(tasks: Path, own_ruff: str) -> None:
    folder = tasks / "ruff_distractors_1"
    task = read(folder / "ruff_distractors_1_seed_13.yaml")
    context, choices = (function(folder, task[key]) for key in ("doc_to_text", "doc_to_choice"))
    split = read_split(own_ruff, "distractors_1", "seed_13")
    for row, instance in zip(split.table.to_pylist(), split.stream(), strict=True):
        filled = tuple(f"{context(row)}{choice}" for choice in choices(row))
        assert filled == instance.filled()
        assert context(row).endswith(" ")
    assert task["target_delimiter"] == ""


@pytest.mark.parametrize("config", ["double", "single"])
def test_prompts_are_ours_to_the_letter(tasks: Path, sample: Path, config: str) -> None:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    template = cache(environment.from_string)
    split = read_split(str(sample), config)
    rows, instances = split.table.slice(0, 20).to_pylist(), split.stream(0, 20)
    for row, instance in zip(rows, instances, strict=True):
        for prompt in Prompting().of(instance):
            name = f"winopron_{config}_{prompt.name.replace('-', '_')}"
            task = read(tasks / f"winopron_{config}" / f"{name}.yaml")
            assert template(task["doc_to_text"]).render(**row) == prompt.text


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("the pilot.", (1, 0, 0)),
        ("The cook", (0, 0, 0)),
        ("nobody", (0, 1, 0)),
        ("pilot, cook", (0, 0, 1)),
    ],
)
def test_answers_are_read_by_our_rule(
    tasks: Path, answer: str, expected: tuple[float, float, float]
) -> None:
    read_answer = function(tasks / "winopron_double", "prompting.process_results")
    doc = {"candidates": [{"text": "pilot"}, {"text": "cook"}], "label": 0}
    found = read_answer(doc, [answer])
    assert (found["acc"], found["none"], found["both"]) == expected


def test_the_code_beside_the_tasks_needs_nothing(tasks: Path) -> None:
    for path in tasks.rglob("*.py"):
        assert "pronominal" not in path.read_text().replace("pronominal export", "")


def test_an_export_replaces_an_earlier_one_and_nothing_else(tasks: Path, tmp_path: Path) -> None:
    command = ["export", "lm-eval", str(tmp_path / "out")]
    app(command, standalone_mode=False)
    app(command, standalone_mode=False)
    task = read(tmp_path / "out" / "winopron_single" / "winopron_single_0_none.yaml")
    assert task["dataset_path"] == "uds-lsv/winopron"
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="there is something already"):
        app(command, standalone_mode=False)
    with pytest.raises(InputError, match="there is no format 'lm_eval'"):
        app(["export", "lm_eval", str(tmp_path / "new")], standalone_mode=False)


Harness = Callable[[str, str], dict[str, float]]


@pytest.fixture
def harness(tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
    """Ask the harness for a model's accuracy on a task and on what it groups."""
    lm_eval = pytest.importorskip("lm_eval")
    state = pytest.importorskip("accelerate.state")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    # a description of the machine, for which it starts eleven programs
    monkeypatch.setattr("lm_eval.evaluator.add_env_info", lambda storage: None)
    # it compiles the templates of a task anew for each row
    compiled = cache(lm_eval.utils.env.from_string)
    monkeypatch.setattr("lm_eval.utils.env.from_string", compiled)

    def accuracies(model: str, name: str) -> dict[str, float]:
        found = lm_eval.simple_evaluate(
            model="hf",
            model_args=f"pretrained={model},dtype=float32",
            tasks=[name],
            task_manager=lm_eval.tasks.TaskManager(include_path=tasks, include_defaults=False),
            device="cpu",
            batch_size=16,
            bootstrap_iters=0,
        )
        return {task: result["acc,none"] for task, result in found["results"].items()}

    yield accuracies
    # it leaves its precision to whatever trains next in this process
    state.AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.parametrize("family", MODELS)
def test_the_harness_gives_our_accuracy_on_slots(
    harness: Harness, own_ruff: str, tmp_path: Path, family: str
) -> None:
    from tests.adapters.lm.language_models import CAUSAL, filled, own_instances, save

    model = str(save(tmp_path / "model", CAUSAL[family], filled(own_instances())))
    asked = SystemSettings("lm", "lm", model, {"device": "cpu"})
    split = load_split(own_ruff, "distractors_1", SAMPLES)
    ours = evaluate(split, asked, tmp_path / "runs")
    theirs = harness(model, "ruff_distractors_1")
    assert theirs["ruff_distractors_1"] == pytest.approx(ours["accuracy"], abs=1e-12)
    for seed, block in ours["by_seed"].items():
        found = theirs[f"ruff_distractors_1_seed_{seed}"]
        assert found == pytest.approx(block["accuracy"], abs=1e-12)


def test_the_harness_gives_our_accuracy_on_prompts(
    harness: Harness, sample: Path, tmp_path: Path
) -> None:
    from tests.adapters.lm.language_models import CAUSAL, save
    from tests.adapters.lm.prompting.test_prompting import words

    split = read_split(str(sample), "double")
    nouns = sorted({c["text"] for row in split.table["candidates"].to_pylist() for c in row})
    model = str(
        save(tmp_path / "model", (partial(words, False), CAUSAL["llama"][1]), [" ".join(nouns)])
    )
    settings = {"prompts": [PROMPT], "device": "cpu", "max_new_tokens": 5}
    asked = SystemSettings("prompted", "lm-prompts", model, settings)
    ours = evaluate(split, asked, tmp_path / "runs")["prompts"]["by_prompt"][PROMPT]["accuracy"]
    name = f"winopron_double_{PROMPT.replace('-', '_')}"
    assert harness(model, name)[name] == pytest.approx(ours, abs=1e-12)
    assert ours > 0
