"""Runs, scores, statistics, tables and reports."""
