"""Plans: what will be compared, written before there are numbers."""
