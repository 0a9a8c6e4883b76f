python - <<'END'
import json
from pathlib import Path

NAMES = ["Anna", "Birgit", "Carla", "Dora", "Elif", "Fatima"]
with open("mine.jsonl", "w") as file:
    for number in range(24):
        first, second = NAMES[number % 6], NAMES[(number + 1) % 6]
        reason = "needed help" if number % 2 else "could help"
        text = f"{first} called {second} because she {reason}."
        row = {"id": f"own-{number}", "text": text, "pronoun": "she", "candidates": [first, second]}
        file.write(json.dumps(row | {"label": 1 - number % 2}) + "\n")

words = [("Ann", "(0)"), ("said", "-"), ("that", "-"), ("she", "(0)"), ("slept", "-"), (".", "-")]
rows = [
    f"own/0000 0 {number} {word} XX * - - - Speaker#1 * {coreference}"
    for number, (word, coreference) in enumerate(words)
]
Path("train_conll").mkdir()
Path("train_conll", "own.gold_conll").write_text(
    "\n".join(["#begin document (own/0000); part 000", *rows, "", "#end document", ""])
)
with open("corpus.txt", "w") as file:
    for number in range(40):
        first, second = NAMES[number % 6], NAMES[(number + 1 + number // 6) % 6]
        file.write(f"{first} told {second} that she had found her keys and kept them .\n")
END
