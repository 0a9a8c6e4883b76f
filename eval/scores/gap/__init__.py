"""The scores of GAP."""
