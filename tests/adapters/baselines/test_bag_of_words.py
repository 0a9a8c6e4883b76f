"""The floor: it learns words and roles, never names, and is chosen by a rule fixed beforehand."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.adapters import load
from pronominal.adapters.baselines.bag_of_words import (
    BagOfWords,
    first_mentioned,
    role_tagged_words,
)
from pronominal.cli.main import main
from pronominal.dataset_scripts import knowref
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.errors import InputError
from pronominal.eval.training.bag_of_words import CLASS_WEIGHTS, STRENGTHS, train_bag_of_words
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention
from pronominal.switching import switch

NAMES = ["Ann", "Eve", "Joy", "Mia", "Zoe", "Kim", "Lea", "Ida"]
# which mention is right follows from the two verbs
DECIDING = [("thanked", "helped", 1), ("praised", "won", 1), ("asked", "forgot", 0),
            ("begged", "lost", 0)]  # fmt: skip


def instance(
    number: int, first: str, second: str, verbs: tuple[str, str, int] = DECIDING[0]
) -> ResolutionInstance:
    """Write a sentence; every other row has its candidates in the order of the text."""
    text = f"{first} {verbs[0]} {second} because she {verbs[1]}."
    mentions = [Mention(name, text.index(name), text.index(name) + 3) for name in (first, second)]
    turned = number % 2
    start = text.index("she")
    return ResolutionInstance(
        str(number),
        text,
        Mention("she", start, start + 3),
        tuple(reversed(mentions)) if turned else tuple(mentions),
        abs(verbs[2] - turned),
    )


def rows(names: list[str]) -> list[ResolutionInstance]:
    pairs = [(a, b) for a in names for b in names if a != b]
    every = [(pair, verbs) for pair in pairs for verbs in DECIDING]
    return [instance(number, *pair, verbs) for number, (pair, verbs) in enumerate(every)]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "bag-of-words"
    train_bag_of_words(rows(NAMES[:4]), rows(NAMES[4:6]), out, {"name": "own"})
    return out


def test_it_learns_which_words_decide(checkpoint: Path) -> None:
    unseen = rows(NAMES[6:])
    answers = load("bag-of-words", checkpoint=str(checkpoint)).choose(unseen)
    assert [answer.index(max(answer)) for answer in answers] == [one.label for one in unseen]
    assert all(sum(answer) == pytest.approx(1) for answer in answers)


def test_words_have_the_role_of_the_last_mention_before_them() -> None:
    one = instance(0, "Ann", "Eve")
    expected = {"first:thanked", "second:because", "pronoun:helped", "pronoun:."}
    assert role_tagged_words(one) == expected


@given(
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from(DECIDING),
    st.integers(0, 1),
)
def test_a_switched_row_has_the_same_words(first, second, verbs, number) -> None:
    if first != second:
        one = instance(number, first, second, verbs)
        assert role_tagged_words(switch(one)) == role_tagged_words(one)


def test_a_pronoun_without_a_place_has_no_words() -> None:
    text = "then Anna met Bella ."
    mentions = (Mention("Anna", 5, 9), Mention("Bella", 14, 19))
    one = ResolutionInstance("own", text, Mention("she", -1, -1), mentions, 0)
    assert role_tagged_words(one) == {"start:then", "first:met", "second:."}


def test_every_mention_of_a_name_is_taken_out() -> None:
    text = "Ann met Eve and she told Eve that Ann won."
    mentions = (Mention("Ann", 0, 3), Mention("Eve", 8, 11))
    one = ResolutionInstance("x", text, Mention("she", 16, 19), mentions, 0)
    assert not any(word.endswith((":ann", ":eve")) for word in role_tagged_words(one))


def test_an_answer_goes_along_with_its_candidate(checkpoint: Path) -> None:
    system, unseen = BagOfWords(str(checkpoint)), rows(NAMES[6:])
    before, after = system.choose(unseen), system.choose([switch(one) for one in unseen])
    assert after == [answer[::-1] for answer in before]


def test_rows_without_an_order_of_mentions(checkpoint: Path) -> None:
    one = instance(0, "Ann", "Eve")
    ann, absent = one.candidates[0], Mention("Zoe", -1, -1)
    versions = [(ann, absent), (absent, ann), (absent, absent), (ann, ann)]
    instances = [
        ResolutionInstance("x", one.text, one.pronoun, candidates, 0) for candidates in versions
    ]
    assert [first_mentioned(version) for version in instances] == [None] * 4
    expected = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.5, 0.5]]
    assert BagOfWords(str(checkpoint)).choose(instances) == expected


def test_the_choice_is_the_validation_rows_and_by_balanced_accuracy(tmp_path: Path) -> None:
    # in nine of ten training rows the first mention is right, whatever the words
    learnt = [instance(2 * i, "Ann", "Eve", DECIDING[2 if i % 10 else 0]) for i in range(60)]
    config = train_bag_of_words(learnt, rows(NAMES[:2]), tmp_path / "out", {})
    trials = config["trials"]
    assert len(trials) == len(STRENGTHS) * len(CLASS_WEIGHTS)
    best = max(trial["balanced_accuracy"] for trial in trials)
    assert config["chosen"] == next(t for t in trials if t["balanced_accuracy"] == best)


def test_rows_that_cannot_be_learnt_from_are_listed(tmp_path: Path) -> None:
    one = instance(0, "Ann", "Eve")
    neither = ResolutionInstance("n", one.text, one.pronoun, one.candidates, 2)
    absent = ResolutionInstance("a", one.text, one.pronoun, (Mention("Z", -1, -1),) * 2, 0)
    config = train_bag_of_words(
        [*rows(NAMES[:3]), neither, absent], rows(NAMES[3:5]), tmp_path / "out", {}
    )
    assert config["counts"]["train_left_out"] == 2
    lines = (tmp_path / "out" / "left-out.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["n", "a"]
    assert config["counts"]["train"] == len(rows(NAMES[:3]))


def test_training_again_gives_the_same_bytes(checkpoint: Path, tmp_path: Path) -> None:
    train_bag_of_words(rows(NAMES[:4]), rows(NAMES[4:6]), tmp_path / "again", {"name": "own"})
    for name in ("config.json", "weights.json"):
        assert (tmp_path / "again" / name).read_bytes() == (checkpoint / name).read_bytes()


def test_one_kind_of_answer_is_nothing_to_learn(tmp_path: Path) -> None:
    same = [instance(2 * number, "Ann", "Eve") for number in range(5)]
    with pytest.raises(InputError, match="5 of the train rows can be used"):
        train_bag_of_words(same, rows(NAMES[:2]), tmp_path / "out", {})
    assert not (tmp_path / "out").exists()


def test_without_scikit_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(InputError, match=r"pronominal\[bag-of-words\]"):
        train_bag_of_words(rows(NAMES[:2]), rows(NAMES[2:4]), tmp_path / "out", {})


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"intercept": 1}', '{"intercept": NaN, "words": {}}']
)
def test_damaged_weights(checkpoint: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_bytes((checkpoint / "config.json").read_bytes())
    (tmp_path / "weights.json").write_text(content)
    with pytest.raises(InputError, match=r"weights\.json"):
        BagOfWords(str(tmp_path))


def test_it_has_to_be_trained_first() -> None:
    with pytest.raises(InputError, match="pronominal train bag-of-words"):
        load("bag-of-words")


def test_the_command_trains_on_own_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.jsonl"
    with mine.open("w") as file:
        for one in rows(NAMES[:6]):
            mentions = {"pronoun": one.pronoun._asdict(),
                        "candidates": [c._asdict() for c in one.candidates]}  # fmt: skip
            row = {"id": one.id, "text": one.text, "label": one.label, **mentions}
            file.write(json.dumps(row) + "\n")
    out = tmp_path / "out"
    command = ["pronominal", "train", "bag-of-words", "--data", mine, "--out", out]
    monkeypatch.setattr(sys, "argv", [*map(str, command)])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    assert "100.0 % balanced accuracy on 12 validation rows" in capsys.readouterr().out
    assert BagOfWords(str(out)).checkpoint.digest
    monkeypatch.setattr(sys, "argv", [*map(str, command), "--dataset", "out/gap"])
    with pytest.raises(SystemExit) as refused:
        main()
    assert refused.value.code == 2
    assert "--dataset out/gap has no effect on a training on" in capsys.readouterr().err


@pytest.fixture(scope="module")
def real(upstream: Path) -> dict[tuple[str, str], list[ResolutionInstance]]:
    return {
        (split.config, split.name): [
            ResolutionInstance.from_row(row) for table in split.tables for row in table.to_pylist()
        ]
        for split in knowref.splits(Sources(upstream), BuildOptions())
    }


def test_the_real_floor_reads_no_name_and_clears_chance(real, tmp_path: Path) -> None:
    train, validation = real["original", "train"], real["original", "validation"]
    train_bag_of_words(train, validation, tmp_path / "out", {"name": "knowref"})
    system = BagOfWords(str(tmp_path / "out"))
    original = {one.id: one for one in real["original", "test"]}
    switched = real["switched", "test"]
    before = system.choose([original[one.id] for one in switched])
    after = system.choose(switched)
    assert [answer[::-1] for answer in before] == after
    right = [a[original[one.id].label] > 0.5 for one, a in zip(switched, before, strict=True)]
    assert 0.53 < sum(right) / len(right) < 0.58
