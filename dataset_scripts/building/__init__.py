"""What a dataset script is, and how it becomes a folder with tables and a card."""
