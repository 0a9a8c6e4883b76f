mkdir notes
echo "We should look at the errors again before the meeting on Tuesday." > notes/errors.md
echo '{"text": "A walk along the river takes an hour if nobody stops."}' > corpus.jsonl
