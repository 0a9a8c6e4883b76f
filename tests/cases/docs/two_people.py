"""Prints sentences with two people and one pronoun, as `construct knowref` looks for them."""

WOMEN = ["Anna", "Martha", "Laura", "Susan", "Emily", "Helen"]
MEN = ["Paul", "Peter", "Martin", "Walter", "Oliver", "Edward"]
CLAUSES = [
    "{} waited for {} at the old station because {} wanted to talk about the journey.",
    "{} called {} after the long meeting because {} had forgotten the keys of the office.",
    "{} thanked {} at the end of the evening because {} had brought the flowers.",
    "{} looked for {} in the whole library because {} needed advice about a book.",
]
SENTENCES = [
    clause.format(*(pair if turned else pair[::-1]), pronoun)
    for clause in CLAUSES
    for pair in zip(WOMEN, MEN, strict=True)
    for turned in (True, False)
    for pronoun in ("she", "he")
]

print("\n".join(SENTENCES))
