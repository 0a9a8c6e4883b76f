python "$PREPARATIONS/two_people.py" > sentences.txt
python - <<'END'
import bz2

sentences = open("sentences.txt").read().splitlines()
pages = "".join(
    f"<page><title>{number}</title><ns>0</ns><revision><text>{sentence}</text></revision></page>"
    for number, sentence in enumerate(sentences)
)
with bz2.open("wiki.xml.bz2", "wt") as file:
    file.write(f"<mediawiki>{pages}</mediawiki>")
END

# annotators who answer A, and each one of them B to one item, fill in their sheets before these are imported
mkdir bin
cat > bin/pronominal <<'END'
#!/usr/bin/env python
import csv
import os
import sys

arguments = sys.argv[1:]
if arguments[:2] == ["annotate", "import"]:
    with open(f"{arguments[2]}/for-annotators/sheet.csv", encoding="utf-8-sig", newline="") as file:
        items = list(csv.DictReader(file))
    for number, sheet in enumerate(arguments[3:]):
        for place, item in enumerate(items):
            item["answer"] = "B" if place == number else "A"
        with open(sheet.rpartition("=")[2], "w", newline="") as file:
            writer = csv.DictWriter(file, items[0])
            writer.writeheader()
            writer.writerows(items)
os.execvp(sys.executable, [sys.executable, "-m", "pronominal", *arguments])
END
chmod +x bin/pronominal
