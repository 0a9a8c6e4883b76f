"""The Hub: what may be published, how, and who gets access."""
