python - <<'END'
import bz2

WOMEN = ["Anna", "Martha", "Laura", "Susan", "Emily", "Helen"]
MEN = ["Paul", "Peter", "Martin", "Walter", "Oliver", "Edward"]
CLAUSES = [
    "{} waited for {} at the old station because {} wanted to talk about the journey.",
    "{} called {} after the long meeting because {} had forgotten the keys of the office.",
    "{} thanked {} at the end of the evening because {} had brought the flowers.",
    "{} looked for {} in the whole library because {} needed advice about a book.",
]
sentences = [
    clause.format(*(pair if turned else pair[::-1]), pronoun)
    for clause in CLAUSES
    for pair in zip(WOMEN, MEN)
    for turned in (True, False)
    for pronoun in ("she", "he")
]
pages = "".join(
    f"<page><title>{number}</title><ns>0</ns><revision><text>{sentence}</text></revision></page>"
    for number, sentence in enumerate(sentences)
)
with bz2.open("wiki.xml.bz2", "wt") as file:
    file.write(f"<mediawiki>{pages}</mediawiki>")
END

# annotators who answer A fill in their sheets before these are imported
mkdir bin
cat > bin/pronominal <<'END'
#!/usr/bin/env python
import csv
import os
import sys

arguments = sys.argv[1:]
if arguments[:2] == ["annotate", "import"]:
    with open(f"{arguments[2]}/for-annotators/sheet.csv", encoding="utf-8-sig", newline="") as file:
        items = [row | {"answer": "A"} for row in csv.DictReader(file)]
    for sheet in arguments[3:]:
        with open(sheet.rpartition("=")[2], "w", newline="") as file:
            writer = csv.DictWriter(file, items[0])
            writer.writeheader()
            writer.writerows(items)
os.execvp(sys.executable, [sys.executable, "-m", "pronominal", *arguments])
END
chmod +x bin/pronominal
