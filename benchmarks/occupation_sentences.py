"""How often systems without such a fault are said to go by the occupation, or by who is meant.

Systems are drawn at random on the rows of the sample, 24 occupations, or of another dataset of its
form, such as WinoPron: each kind has its own faults, none of which depends on the occupation or on
which entity is meant. Prints, as JSON, by kind, the share that gets any of the sentences of
`occupation_remarks`: 0.05 at most is right, but for chance.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

import pronominal
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import NONE, Decision
from pronominal.eval.scores.winopron.by_occupation import by_occupation, occupation_remarks
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.mention_order import right_mentions

Choices = npt.NDArray[np.int64]
System = Callable[[np.random.Generator], Choices]
DECISIONS = (Decision(0), Decision(1), NONE)


def kinds(split: Split) -> Iterator[tuple[str, System]]:
    rows, n = Sentences.of(split.table), split.num_rows
    labels, pairs, templates = rows.labels, rows.pairs, rows.templates
    first = np.where(right_mentions(split.table).codes == 0, labels, 1 - labels)
    possessive, xe = rows.cases.codes == 2, rows.pronoun_sets.codes == 3

    def wrong(where: npt.NDArray[np.bool_]) -> Choices:
        return np.where(where, 1 - labels, labels)

    yield "guesses", lambda r: r.integers(0, 2, n)
    yield "wrong in a tenth", lambda r: wrong(r.random(n) < 0.1)
    yield "wrong in a hundredth", lambda r: wrong(r.random(n) < 0.01)
    yield "wrong in whole pairs", lambda r: wrong((r.random(pairs.size) < 0.2)[pairs.codes])
    yield "wrong in templates", lambda r: wrong((r.random(templates.size) < 0.3)[templates.codes])
    yield (
        "one entity in half of the pairs",
        lambda r: np.where(
            (r.random(pairs.size) < 0.5)[pairs.codes],
            r.integers(0, 2, pairs.size)[pairs.codes],
            labels,
        ),
    )
    yield (
        "pairs of unequal difficulty, and a harder case",
        lambda r: wrong(r.random(n) < r.beta(1, 3, pairs.size)[pairs.codes] + 0.2 * possessive),
    )
    yield "mostly the first mention", lambda r: np.where(r.random(n) < 0.7, first, labels)
    yield "at times the first mention", lambda r: np.where(r.random(n) < 0.1, first, labels)
    yield (
        "mostly no answer for xe",
        lambda r: np.where(xe & (r.random(n) < 0.8), 2, wrong(r.random(n) < 0.1)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=1000, help="of each kind")
    parser.add_argument("--dataset", type=Path, help="a built dataset's folder, not the sample")
    options = parser.parse_args()
    systems, random = options.systems, np.random.default_rng(1)
    with TemporaryDirectory() as folder:
        dataset = options.dataset or pronominal.build("sample", Path(folder))
        split = pronominal.load_split(dataset, "double")
    found = {}
    for kind, system in kinds(split):
        told = 0
        for _ in range(systems):
            decisions = [DECISIONS[choice] for choice in system(random).tolist()]
            block = by_occupation(split.table, decisions)
            told += any(occupation_remarks({"system": {"by_occupation": block}}))
        found[kind] = told / systems
    print(json.dumps({"systems": systems, "told": found}, indent=2))


if __name__ == "__main__":
    main()
