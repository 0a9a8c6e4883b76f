"""The table of systems, systems of a user's own, and what is installed for them."""
