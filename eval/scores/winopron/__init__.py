"""The scores of WinoPron, of Winogender in its form, and of the sample."""
