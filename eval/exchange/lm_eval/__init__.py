"""Datasets in lm-evaluation-harness: `export` writes tasks, beside them their code."""

DATASETS = {"ruff": "uds-lsv/ruff", "winopron": "uds-lsv/winopron"}
"""Dataset that there are tasks of, in the module of its name -> where it is on the Hub."""
