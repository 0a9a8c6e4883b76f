"""Sentences with slots, the form of WinoPron's templates."""
