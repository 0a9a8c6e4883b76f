"""Words that contradict a name's new gender, over a file of cases, and the table in the docs."""

import runpy
from pathlib import Path

from pronominal.dataset_scripts.construction.giveaways import gives_away
from pronominal.spans import Span

ROOT = Path(__file__).resolve().parents[3]


def test_the_docs_say_how_many_contradictions_are_found() -> None:
    benchmark = runpy.run_path(str(ROOT / "benchmarks" / "construction_giveaways.py"))
    counts = benchmark["counts"]()
    assert benchmark["table"](counts) in (ROOT / "docs" / "construction.md").read_text()
    for answer, least, most in (("yes", 0.95, 1), ("no", 0, 0.02)):
        found = [its for (told, _), its in counts.items() if told == answer]
        share = sum(taken for taken, _ in found) / sum(told for _, told in found)
        assert least <= share <= most


def test_a_long_enumeration_does_not_take_forever() -> None:
    # a search that tries every division of such a text would not end
    for part in (" nice, old and", " is not", " man of a", " and nice", ", tall", " one of the"):
        assert not gives_away(f"Ann{part * 200} policeman Xx saw it", (Span(0, 3),), "male")
        gives_away(f"Ann{part * 40} policeman Xx saw it", (Span(0, 3),), "female")
