"""How a KnowRef sentence is made from the Reddit text that it came from, without its words.

KnowRef's authors cut a sentence out of a post or comment, split it into Penn Treebank tokens and
wrote other names (section 3.1.4); its text may not be handed on. ``recipes.tsv`` holds, for
each row, fingerprints that tell whether a text is the right one, and for the training rows a
recipe that turns the letters of the original sentence into the published one:

- a number copies so many letters (or digits) of the original,
- ``{-5}`` leaves out five of them, ``{0}`` and ``{1}`` write a candidate, ``{=x}`` writes *x*,
- anything else, blanks and punctuation, stands for itself.

So "Ann Lee saw Tom , but he slept ." becomes "Ida saw May , but [he] slept ." by the recipe
``{-6}{0} 3 {-3}{1} , 3 [2] 5 .``. The original validation sentences were never released.
"""

import hashlib
import html
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FILE = "recipes.tsv"

STEP = re.compile(r"\{-(?P<skip>\d+)\}|\{(?P<name>[01])\}|\{=(?P<word>[^}]*)\}|(?P<copy>\d+)")
LETTERS = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is public about one row of Reddit text.

    Attributes:
        split: ``train`` or ``validation``.
        row: the row in its upstream file, from 0.
        fingerprint: that of the published sentence (`Sentence.fingerprint`).
        original: fingerprint of the letters of the original sentence; empty in validation.
        steps: how the published sentence is made; empty in validation.
    """

    split: str
    row: int
    fingerprint: str
    original: str
    steps: str

    def find(self, text: str, names: tuple[str, str]) -> str | None:
        """Return the sentence, its pronoun in brackets, if `text` holds its original."""
        if not self.steps:
            return None
        length = sum(int(step["skip"] or step["copy"] or 0) for step in STEP.finditer(self.steps))
        words = LETTERS.findall(cleaned(text))
        letters, start = "".join(words), 0
        for word in words:
            # so many letters from the beginning of each word on
            if fingerprint(letters[start : start + length]) == self.original:
                return self._follow(letters[start : start + length], names)
            start += len(word)
        return None

    def _follow(self, letters: str, names: tuple[str, str]) -> str:
        done = 0

        def step(match: re.Match[str]) -> str:
            nonlocal done
            if match["name"]:
                return names[int(match["name"])]
            if match["word"] is not None:
                return match["word"]
            start, done = done, done + int(match["skip"] or match["copy"])
            return letters[start:done] if match["copy"] else ""

        return STEP.sub(step, self.steps)


@cache
def recipes() -> tuple[Recipe, ...]:
    """Return every row of Reddit text: train, then validation, in upstream's order."""
    table = files("pronominal.dataset_scripts.knowref").joinpath(FILE).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines()[1:])
    return tuple(Recipe(split, int(row), *cells) for split, row, *cells in rows)


def fingerprint(letters: str) -> str:
    """Return the first 64 bits of a SHA-256, in hex."""
    return hashlib.sha256(letters.encode()).hexdigest()[:16]


def cleaned(text: str) -> str:
    """Clean a post or comment as the authors' ``split_sentences.py`` does before it cuts."""
    text = html.unescape(text)
    text = re.sub(r"\{\{\{?.*?\}?\}\}", "", text, flags=re.DOTALL)
    text = re.sub(r"<br\s*/?>", " ", text)
    text = text.encode("ascii", "ignore").decode()
    text = re.sub(r"\(.*?\)", "", text, flags=re.DOTALL)
    return re.sub(r":\d+", "", text)
