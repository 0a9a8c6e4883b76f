"""The scores of WinoNB."""
