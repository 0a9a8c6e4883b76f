python "$PREPARATIONS/two_people.py" > sentences.txt
python - <<'END'
import json

sentences = open("sentences.txt").read().splitlines()
with open("posts.jsonl", "w") as file:
    for sentence in sentences:
        file.write(json.dumps({"body": sentence}) + "\n")
END
