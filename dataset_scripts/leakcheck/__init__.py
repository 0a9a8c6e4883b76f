"""Leak checks: evaluation sentences found in files, corpora and git history, by one-way hashes."""
