"""From raw text to words and back, and batches of texts of similar length."""
