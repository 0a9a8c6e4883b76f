"""Coarse-to-fine coreference: one head, two encoders."""
