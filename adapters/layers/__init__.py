"""Layers that stand in for a model's own: packed weights, fewer bits, activations in one step."""
