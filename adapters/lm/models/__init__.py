"""Language models: opened, and made fast on this processor."""
