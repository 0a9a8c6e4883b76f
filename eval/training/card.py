"""The model card of a trained classifier, written from its run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file


def write_model_card(folder: Path, training: Mapping[str, Any], encoder: str) -> None:
    """Write ``README.md``: what was trained, on what, what came out, and how to use it.

    Args:
        folder: the classifier's.
        training: what ``training.json`` says.
        encoder: the name of the encoder.
    """
    text = "\n".join(
        [
            *_header(training),
            f"# Antecedents of pronouns: {encoder}, trained on {training['data']['name']}",
            "",
            _summary(training["settings"]),
            "",
            *_results(training),
            *_recipe(training, encoder),
            *_use(training["settings"]["classifier"]),
        ]
    )
    with new_file(folder / "README.md") as beside:
        beside.write_text(text, encoding="utf-8")


def _header(training: Mapping[str, Any]) -> list[str]:
    return [
        "---",
        "library_name: transformers",
        "language: en",
        "tags: [coreference, pronouns, pronominal]",
        "---",
        "",
    ]


def _summary(settings: Mapping[str, Any]) -> str:
    classifier = settings["classifier"]
    how = (
        "reads a text once and scores each candidate's mention against the pronoun"
        if classifier["scorer"] == "span"
        else "reads a text once for each candidate, which stands in the pronoun's place, and "
        f"scores the copies (pooling: {classifier['pooling']})"
    )
    learnt = (
        "It learnt every row as it is and with the candidates switched."
        if settings["switching"]
        else "It learnt every row as it is."
    )
    return f"Chooses which of two candidates a pronoun refers to. It {how}. {learnt}"


def _results(training: Mapping[str, Any]) -> list[str]:
    rows = [("validation", training["outcome"]["validation"] or {})]
    given = training.get("scores", {}).get("as_given", {})
    rows += [(f"test, {name}", given[name]) for name in ("original", "switched") if name in given]
    lines = [
        "| rows | n | accuracy | balanced accuracy | answers that are the first mention |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {measured.get('n', 0):,} | {_percent(measured.get('accuracy'))} "
            f"| {_percent(measured.get('balanced_accuracy'))} "
            f"| {_percent(measured.get('first_mention'))} |"
            for name, measured in rows
        ),
        "",
    ]
    pairs = given.get("switching")
    if pairs:
        lines += [
            f"Over {pairs['pairs']:,} pairs of an original and its switched version: consistency "
            f"{_percent(pairs['consistency'])}, right in both "
            f"{_percent(pairs['consistently_correct'])}, wrong in both "
            f"{_percent(pairs['consistently_wrong'])} (percent).",
            "",
        ]
    return ["## What came out", "", *lines]


def _recipe(training: Mapping[str, Any], encoder: str) -> list[str]:
    counts, outcome = training["counts"], training["outcome"]
    settings = {**training["settings"]["classifier"], **training["settings"]["recipe"]}
    others = {k: v for k, v in training["settings"].items() if not isinstance(v, dict)}
    return [
        "## How it was trained",
        "",
        f"Encoder {encoder} (SHA-256 of its files {training['encoder'][:12]}); "
        f"{counts['train_instances']:,} instances from {counts['train_rows']:,} rows of "
        f"{training['data']['name']}, {counts['left_out']:,} left out by name; "
        f"{outcome['updates']:,} updates, the weights of update {outcome['kept_update']:,} kept; "
        f"seed {training['seed']}. The learning curves are in `curves.jsonl` and `curves.svg`.",
        "",
        "```json",
        json.dumps({**settings, **others}, indent=2),
        "```",
        "",
    ]


def _use(classifier: Mapping[str, Any]) -> list[str]:
    return [
        "## Use",
        "",
        "```python",
        "from pronominal.adapters import load",
        "",
        'system = load("bert", checkpoint="FOLDER")',
        "```",
        "",
        "or in plain transformers, for a text that the encoder takes as a whole:",
        "",
        "```python",
        (SPAN if classifier["scorer"] == "span" else SUBSTITUTION[classifier["pooling"]]).strip(),
        "```",
        "",
        *(NOTES if classifier["placeholder_names"] or classifier["prior_correction"] else []),
    ]


def _percent(value: Any) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


NOTES = [
    "This classifier reads placeholder names or corrects its logits by the prior, as its "
    "`config.json` says; the lines above do neither.",
    "",
]

_OPEN = """
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

encoder = AutoModel.from_pretrained("FOLDER").eval()
tokenizer = AutoTokenizer.from_pretrained("FOLDER")
head = load_file("FOLDER/model.safetensors")
"""

_SUBSTITUTION = (
    _OPEN
    + """
# text, candidates (two names) and the pronoun's start and end are yours
copies = [text[:start] + name + text[end:] for name in candidates]
read = tokenizer(copies, padding=True, return_offsets_mapping=True, return_tensors="pt")
offsets = read.pop("offset_mapping")
with torch.inference_mode():
    states = encoder(**read).last_hidden_state
POOLED
print((pooled @ head["antecedent_head.vector"]).softmax(0))
"""
)

_POOLED = {
    "cls": "pooled = states[:, 0]",
    "mean": """mask = read["attention_mask"][..., None].float()
pooled = (states * mask).sum(1) / mask.sum(1)""",
    "substituted": """pooled = torch.stack([
    states[i, (offsets[i, :, 0] < start + len(name)) & (offsets[i, :, 1] > start)].mean(0)
    for i, name in enumerate(candidates)
])""",
}

SUBSTITUTION = {name: _SUBSTITUTION.replace("POOLED", code) for name, code in _POOLED.items()}
"""The classifier of ``cls`` in plain transformers, by pooling."""

SPAN = (
    _OPEN
    + """
# text and the (start, end) of both candidates and of the pronoun are yours
read = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
offsets = read.pop("offset_mapping")[0]
with torch.inference_mode():
    states = encoder(**read).last_hidden_state[0]
    first, second, pronoun = (
        states[(offsets[:, 0] < end) & (offsets[:, 1] > start)].mean(0)
        for start, end in (*candidates, pronoun)
    )
    pairs = torch.stack([torch.cat((c, pronoun, c * pronoun)) for c in (first, second)])
    hidden = torch.nn.functional.gelu(
        pairs @ head["antecedent_head.hidden.weight"].T + head["antecedent_head.hidden.bias"]
    )
    print((hidden @ head["antecedent_head.score.weight"][0]).softmax(0))
"""
)
"""The classifier of ``span`` in plain transformers."""
