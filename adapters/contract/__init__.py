"""What a system is, what it promises, and the checks of that."""
