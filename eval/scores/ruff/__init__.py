"""The scores of RUFF."""
