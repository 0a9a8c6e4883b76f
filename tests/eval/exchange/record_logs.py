"""Record the logs of ``tests/cases/logs``, and compare full ones with what we make of them.

    python -m tests.eval.exchange.record_logs --inspect-python PYTHON --hub HUB.py [--out FOLDER]

PYTHON is that of an environment with inspect_ai, datasets, huggingface_hub and mlcroissant; lm_eval
is in the one that runs this. HUB.py is a Hub on this machine. The sample is published to it, and
both programs read it from there: ``inspect eval`` by the ``eval.yaml`` that was built, with limits
and shuffled; lm_eval by a task without code. mlcroissant loads every row by ``croissant.json``.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

INSPECT = """
import json, random, sys
import inspect_ai.model._providers.mockllm as mock
from inspect_ai import eval
from inspect_ai.model import ModelOutput, get_model

async def count_tokens(self, *given, **named):  # its own downloads a vocabulary
    return 1

mock.MockLLM.count_tokens = count_tokens
task, out, form, options = *sys.argv[1:4], json.loads(sys.argv[4])
draw = random.Random(4)
said = ["ANSWER: A", "ANSWER: B", "ANSWER: A", "no idea", "ANSWER: A,B", "ANSWER: Z"]
many = options.get("limit", 576)
outputs = [ModelOutput.from_content("mockllm/model", draw.choice(said)) for _ in range(many)]
model = get_model("mockllm/model", custom_outputs=outputs)
(log,) = eval(task, model=model, log_dir=out, log_format=form, display="none", **options)
print(log.location)
print(log.results.scores[0].metrics["accuracy"].value)
"""
CROISSANT = """
import sys
import mlcroissant

data = mlcroissant.Dataset(sys.argv[1])
assert not data.metadata.issues.errors
print(sum(1 for records in data.metadata.record_sets for _ in data.records(records.uuid)))
"""
LETTERS = """
task: letters
dataset_path: uds-lsv/sample
dataset_name: double
test_split: test
output_type: multiple_choice
doc_to_text: "{{text}} Who is {{pronoun.text}}? A: {{occupation}} B: {{participant}} Answer:"
doc_to_choice: ["A", "B"]
doc_to_target: label
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
metadata: {version: 1.0}
"""
RECORDED = (
    ("inspect_limit.eval", "eval", {"limit": 8}),
    ("inspect_shuffled.json", "json", {"sample_shuffle": 7, "limit": 6}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inspect-python", required=True)
    parser.add_argument("--hub", required=True, help="loopback_hub.py")
    parser.add_argument("--out", type=Path, help="folder to write the small logs to")
    asked = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for line in recorded(asked.inspect_python, asked.hub, folder, asked.out):
            print(json.dumps(line), flush=True)


def recorded(python: str, hub: str, folder: Path, out: Path | None) -> Iterator[dict[str, Any]]:
    """Run every program; yield what was compared."""
    server, env = begin(hub, folder)
    try:
        pronominal(env, "build", "sample", "--out", folder / "out")
        rows = folder / "out" / "sample"
        pronominal(env, "publish", rows, "--repo", "uds-lsv/sample", "--gated", "auto")
        many = run(env, python, "-c", CROISSANT, rows / "croissant.json")
        yield {"program": "mlcroissant", "rows": int(many.splitlines()[-1])}
        for name, form, options in (*RECORDED, ("full.eval", "eval", {})):
            task = "hf/uds-lsv/sample/sample_double"
            told = run(env, python, "-c", INSPECT, task, folder / "logs", form, json.dumps(options))
            place, accuracy = told.splitlines()[-2:]
            yield compared(env, "inspect", Path(place), rows, name, float(accuracy))
            keep(Path(place), out, name)
        (folder / "letters.yaml").write_text(LETTERS)
        for name, more in (("letters", ()), ("unsorted", ("--samples", '{"letters":[9,3,5]}'))):
            lm = folder / "lm" / name
            call = (sys.executable, "-m", "lm_eval", "--model", "dummy", "--tasks", "letters")
            run(env, *call, "--include_path", folder, "--output_path", lm, "--log_samples", *more)
            (samples,) = lm.rglob("samples_*.jsonl")
            right = [json.loads(line)["acc"] for line in samples.open()]
            name = f"lm_eval_{name}.jsonl"
            yield compared(env, "lm-eval", samples, rows, name, sum(right) / len(right))
            keep(samples, out, name)
    finally:
        server.terminate()
        server.wait()


def begin(hub: str, folder: Path) -> tuple["subprocess.Popen[bytes]", dict[str, str]]:
    """Start the Hub; return it and the environment of its owner."""
    call = [sys.executable, hub, "--root", str(folder / "hub"), "--port", "8231"]
    server = subprocess.Popen([*call, "--user", "owner:hf_owner", "--org", "uds-lsv=owner"])
    settings = {
        "HF_ENDPOINT": "http://127.0.0.1:8231",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(folder / "home"),
        "HF_TOKEN": "hf_owner",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return server, {**os.environ, **settings}


def compared(
    env: dict[str, str], program: str, log: Path, rows: Path, name: str, accuracy: float
) -> dict[str, Any]:
    """Import a log; return its accuracy and ours."""
    runs = log.parent / f"{name}-runs"
    place = ("--dataset", rows, "--config", "double", "--system", "recorded", "--out", runs)
    run_folder = Path(pronominal(env, "import", program, log, *place).splitlines()[0])
    ours = json.loads((run_folder / "score.json").read_text())["overall"]["accuracy"]
    assert abs(ours - accuracy) < 1e-12, (name, ours, accuracy)
    return {"program": program, "log": name, "run": run_folder.name, "accuracy": ours}


def keep(log: Path, out: Path | None, name: str) -> None:
    if out is not None and (log.suffix == ".jsonl" or not name.startswith("full")):
        shutil.copyfile(log, out / name)


def pronominal(env: dict[str, str], *arguments: object) -> str:
    return run(env, sys.executable, "-m", "pronominal", *arguments)


def run(env: dict[str, str], *arguments: object) -> str:
    done = subprocess.run(
        [*map(str, arguments)], env=env, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
