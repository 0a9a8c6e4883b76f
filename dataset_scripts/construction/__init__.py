"""KnowRef's construction as a method: from ordinary text to a new corpus (section 3.1)."""

METHOD = "knowref"
"""Whose method it is, as ``pronominal construct`` calls it."""
