"""Datasets in inspect_ai: `export` writes tasks, beside them their code."""

NAME = "inspect"
"""What ``pronominal export`` calls it."""
