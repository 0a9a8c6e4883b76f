"""Names, batches and tiny corpora for the tests of the construction; all text is our own."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from pronominal.dataset_scripts.construction.genders import NameGenders, load_names
from pronominal.dataset_scripts.construction.stage import DOCUMENTS, SENTENCES

NAMES = {
    "male": ("Adam", "Bruno", "Carl", "Dennis", "Felix", "Gustav", "Paul", "Victor"),
    "female": ("Anna", "Berta", "Clara", "Doris", "Frieda", "Greta", "Paula", "Vera"),
}


def write_names(folder: Path) -> Path:
    path = folder / "names.csv"
    rows = [f"{name},{gender}" for gender, names in NAMES.items() for name in names]
    path.write_text("\n".join(["name,gender", *rows, "Robin,male", "Robin,female"]) + "\n")
    return path


def few_names(folder: Path) -> NameGenders:
    return load_names(write_names(folder))


def documents(*bodies: str) -> pa.RecordBatch:
    return _batch(bodies, DOCUMENTS)


def sentences(*texts: str) -> pa.RecordBatch:
    return _batch(texts, SENTENCES)


def _batch(texts: Sequence[str], schema: pa.Schema) -> pa.RecordBatch:
    places = [str(number) for number in range(len(texts))]
    columns = [["file"] * len(texts), places, list(texts)]
    return pa.RecordBatch.from_arrays([pa.array(c, pa.string()) for c in columns], schema=schema)


def planted(number: int) -> str:
    """A sentence that passes every stage; no two of them have the same words."""
    male, female = NAMES["male"][number % 8], NAMES["female"][number // 8 % 8]
    word = "w" + "".join(chr(ord("k") + int(digit)) for digit in str(number))
    return f"{male} quietly asked {female} about the {word} garden, because she had planted it."


def distractors(source: random.Random) -> Iterable[str]:
    """Yield sentences of which each fails at one stage."""
    word = "".join(source.choices("klmnop", k=8))
    yield f"Adam asked {word} Anna."
    yield f"adam quietly asked Anna about the {word} garden, because she had planted it."
    yield f"Adam quietly asked Anna about the {word} garden and Berta had planted all of it."
    yield f"He quietly asked Anna about the {word} garden, because she had planted it again."
    yield f"Adam quietly asked Anna about the {word} garden, because Anna knew that she had it."
    yield f"Adam quietly asked Bruno about the {word} garden, because he had planted it all."
    yield f"Adam asked Anna and Berta about the {word} garden, because she had planted it."
    yield f"Adam quietly asked Anna about 3 of the {word} gardens, because she had planted them."
    yield f"Adam quietly asked Robin about the {word} garden, because she had planted it all."


def corpus(folder: Path, files: int, lines: int, seed: int = 0) -> tuple[list[Path], set[str]]:
    """Write files of distractors with one planted sentence in twenty-five; return both."""
    source = random.Random(seed)
    paths, positives = [], set()
    for file in range(files):
        path = folder / f"corpus-{file}.txt"
        found: list[str] = []
        while len(found) < lines:
            if source.random() < 0.4:
                positives.add(planted(len(positives)))
                found.append(planted(len(positives) - 1))
            found.extend(distractors(source))
        path.write_text("\n".join(found) + "\n")
        paths.append(path)
    return paths, positives
