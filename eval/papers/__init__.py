"""The papers' published figures, and ours beside them."""
