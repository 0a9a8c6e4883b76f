"""Counts, resampling and tests; nothing here knows a dataset."""
