"""Language models that score the forms which may fill a slot."""
