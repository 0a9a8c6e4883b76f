"""Dataset cards and system cards, as package data."""
