"""Built datasets read back, whole or block by block, from a disk or the Hub."""
