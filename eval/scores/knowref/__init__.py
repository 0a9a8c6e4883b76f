"""The scores of KnowRef and of rows in its form."""
