"""One run: rows in, predictions.jsonl out; its folder, shards, failures and decision rules."""
