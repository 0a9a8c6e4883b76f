"""Annotation by people: sheets out, answers in, agreement, test sets and human baselines."""
