"""Published tables: their columns, digests, checksums and faults."""
