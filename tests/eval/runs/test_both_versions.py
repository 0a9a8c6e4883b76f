"""Switching at test time: what both versions say together."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pronominal import InputError, Mention, ResolutionInstance, Span
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.both_versions import VERSIONS, ask_both_versions
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.runs.runner import SystemSettings, predict, run
from pronominal.instances import FillingInstance

ROW = ResolutionInstance(
    "ann-mary",
    "Ann saw Mary before she left.",
    Mention("she", 20, 23),
    (Mention("Ann", 0, 3), Mention("Mary", 8, 12)),
    label=1,
)


class Names:
    """Gives each candidate the number of its name, wherever it stands."""

    name = "names"

    def __init__(self, **numbers: float) -> None:
        self.numbers = numbers

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        return [[self.numbers[one.text] for one in row.candidates] for row in instances]


class Places:
    """Gives the candidate that stands first a number, and the other one the rest."""

    name = "places"

    def __init__(self, first: float) -> None:
        self.first = first

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        return [
            [
                self.first if one.start == min(other.start for other in row.candidates) else rest
                for one in row.candidates
            ]
            for row in instances
            for rest in [1 - self.first]
        ]


class Linked:
    """Links the pronoun with what stands at some offsets, by the word that begins the text."""

    name = "linked"

    def __init__(self, **places: list[tuple[int, int]]) -> None:
        self.places = places

    def cluster(self, texts: Sequence[str]) -> list[list[list[Span]]]:
        found = [self.places[text.split()[0]] for text in texts]
        return [
            [[*(Span(*place) for place in places), Span(text.index("she"), text.index("she") + 3)]]
            for text, places in zip(texts, found, strict=True)
        ]


def both_versions(system: object) -> Prediction:
    [answer] = ask_both_versions(lambda rows: predict(system, rows), [ROW])  # type: ignore[arg-type]
    return answer


def test_a_preference_for_a_name_cancels_out() -> None:
    answer = both_versions(Names(Ann=0.9, Mary=0.3))
    assert answer.given["scores"] == pytest.approx([0.6, 0.6])
    assert answer.decision.abstained == "both"
    assert answer.given[VERSIONS] == [0, 1]


def test_what_is_read_from_the_sentence_stays() -> None:
    answer = both_versions(Places(0.2))
    assert answer.given["scores"] == pytest.approx([0.2, 0.8])
    assert (answer.decision.choice, answer.given[VERSIONS]) == (1, [1, 1])


# in the switched version, "Mary saw Ann before she left.", Mary is 0:4 and Ann 9:12
@pytest.mark.parametrize(
    ("as_it_is", "switched", "choice", "abstained"),
    [
        ([(0, 3)], [(0, 4)], 0, None),  # the first name, whoever it is
        ([(8, 12)], [(0, 4)], None, "both"),  # Mary, wherever she stands
        ([(8, 12)], [], 1, None),  # only one version is answered
        ([], [(9, 12)], 1, None),
        ([], [], None, "none"),
        ([(0, 3), (8, 12)], [], None, "both"),
    ],
)
def test_clusters_of_both_versions_make_one_decision(
    as_it_is: list[tuple[int, int]],
    switched: list[tuple[int, int]],
    choice: int | None,
    abstained: str | None,
) -> None:
    answer = both_versions(Linked(Ann=as_it_is, Mary=switched))
    assert (answer.decision.choice, answer.decision.abstained) == (choice, abstained)
    assert "clusters" not in answer.given


def test_a_row_that_cannot_be_switched_keeps_its_answer() -> None:
    row = ResolutionInstance(
        "one", ROW.text, ROW.pronoun, (ROW.candidates[0], Mention("Eve", -1, -1)), label=0
    )
    system = Names(Ann=0.9, Eve=0.1)
    [answer] = ask_both_versions(lambda rows: predict(system, rows), [row])
    assert answer == Prediction("one", answer.decision, {"scores": [0.9, 0.1]})


def test_slots_have_nothing_to_switch() -> None:
    slot = FillingInstance("s", "Ann took ___ bag.", Mention("___", 9, 12), ("his", "her"), 1)
    with pytest.raises(InputError, match="only candidates can change places"):
        ask_both_versions(lambda rows: [], [slot])


def test_a_run_says_that_it_switched(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double")
    asked = SystemSettings("places", "places")
    plain = run(split, Places(0.2), asked, tmp_path / "plain")
    both = run(split, Places(0.2), replace(asked, switch_at_test=True), tmp_path / "both")
    record = json.loads((both.path / "run.json").read_text())
    assert record["settings"]["switch_at_test"] is True
    assert "switch_at_test" not in json.loads((plain.path / "run.json").read_text())["settings"]
    choices = [
        [json.loads(line)["choice"] for line in folder.predictions.read_text().splitlines()]
        for folder in (plain, both)
    ]
    assert choices[0] == choices[1]


def test_rows_that_depend_on_each_other_are_refused(sample: Path, tmp_path: Path) -> None:
    split, system = read_split(str(sample), "double"), Linked()
    with pytest.raises(InputError, match="two versions"):
        run(
            split,
            system,
            SystemSettings("linked", "linked", switch_at_test=True),
            tmp_path,
            reading="upstream-spanbert",
        )
