"""Datasets in lm-evaluation-harness: `export` writes tasks, beside them their code."""

from pronominal.settings import Option

NAME = "lm-eval"
"""What ``pronominal export`` calls it."""

DATASETS = {"ruff": "uds-lsv/ruff", "winopron": "uds-lsv/winopron"}
"""Dataset that there are tasks of, in the module of its name -> where it is on the Hub."""

PLACES = tuple(
    Option(name, str, f"folder of {name}; its id on the Hub without it.") for name in DATASETS
)
MAX_NEW_TOKENS = Option(
    "max_new_tokens", int, "the longest answer to a prompt; 5 as for FLAN-T5.", least=1
)
