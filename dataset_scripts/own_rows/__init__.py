"""A user's own rows in JSONL and Parquet files."""
