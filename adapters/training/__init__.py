"""The training loop: any model, resumable after a kill, with learning curves."""
