"""RUFF and WinoPron in lm-evaluation-harness: `export` writes tasks, beside them their code."""
