"""Thoughts that language models write before they answer, and where they end."""
