"""Causal models that are asked for a form by its probability and by what they write themselves.

`sampling` draws what follows a context, whatever else is in the batch, and `system` asks both.
"""
