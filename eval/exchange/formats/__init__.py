"""One file for each format of another program."""
