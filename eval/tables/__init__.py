"""A table, and how it is printed."""
