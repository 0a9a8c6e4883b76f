"""What follows from annotators' answers: agreement, a test set by KnowRef's rule, baselines."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.dataset_scripts.construction.checks import violations
from pronominal.dataset_scripts.construction.constructed_dataset import (
    Description,
    construct_dataset,
)
from pronominal.dataset_scripts.construction.engine import Construction
from pronominal.dataset_scripts.construction.rules import PAPER
from pronominal.dataset_scripts.hub.release import read_release
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from pronominal.eval.annotation.agreement import agreement, fleiss_kappa, percent_agreement
from pronominal.eval.annotation.answers import Answers, import_answers
from pronominal.eval.annotation.export import Request
from pronominal.eval.annotation.human_baseline import human_baseline
from pronominal.eval.annotation.key import Item, Key
from pronominal.eval.annotation.strong_agreement import choose_rows
from pronominal.eval.annotation.votes import majority, verdicts
from pronominal.instances import FillingInstance
from tests.cli.test_main import pronominal
from tests.dataset_scripts.construction.texts import corpus, write_names
from tests.eval.annotation.annotators import (
    Rule,
    answered,
    exported,
    instances,
    letter,
    right,
    save,
)
from tests.eval.unexplained import of_scores

SIX = ("ann", "ben", "cem", "dora", "eve", "fay")


def ask(folder: Path, key: Key, rules: Sequence[Rule]) -> Answers:
    """Let one annotator answer by each rule."""
    sheets = [
        save(folder / f"{name}.csv", answered(folder, key, rule))
        for name, rule in zip(SIX, rules, strict=False)
    ]
    return import_answers(folder, sheets, len(rules), alike=True, replace=True)


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A constructed corpus that annotators are to label."""
    folder = tmp_path_factory.mktemp("corpus")
    paths, _ = corpus(folder, files=1, lines=300)
    rules = replace(PAPER, pipeline=None, labels="none")
    construction = Construction(tuple(paths), rules, names=write_names(folder))
    construct_dataset(construction, Description(split="test", licence="cc0-1.0"), folder)
    return folder / "constructed"


# Fleiss (1971) is the formula; the numbers here are worked out by hand
@pytest.mark.parametrize(
    ("counts", "kappa", "percent"),
    [
        ([[6, 0], [0, 6]], 1, 1),
        ([[3, 3], [3, 3]], -0.2, 0.4),
        ([[5, 1], [1, 5]], 1 / 3, 2 / 3),
        ([[6, 0], [6, 0]], None, 1),
        ([[1, 0], [0, 1]], None, None),
        ([[2, 0, 0], [0, 2, 0], [0, 1, 1]], 5 / 11, 2 / 3),
    ],
)
def test_agreement_is_that_of_its_definition(
    counts: list[list[int]], kappa: float | None, percent: float | None
) -> None:
    assert fleiss_kappa(np.array(counts)) == (kappa if kappa is None else pytest.approx(kappa))
    assert percent_agreement(np.array(counts)) == (
        percent if percent is None else pytest.approx(percent)
    )


@st.composite
def tallies(draw: st.DrawFn) -> np.ndarray:
    annotators = draw(st.integers(2, 7))
    given = st.lists(st.integers(0, 3), min_size=annotators, max_size=annotators)
    rows = draw(st.lists(given, min_size=1, max_size=12))
    return np.array([np.bincount(row, minlength=4) for row in rows])


@given(tallies())
def test_kappa_is_that_of_statsmodels(counts: np.ndarray) -> None:
    reference = pytest.importorskip("statsmodels.stats.inter_rater")
    found = fleiss_kappa(counts)
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        assert found is None
    else:
        assert found == pytest.approx(reference.fleiss_kappa(counts), abs=1e-12)


def test_agreement_counts_candidates_and_not_letters(sample: Path, tmp_path: Path) -> None:
    key = exported(sample, "double", Request("antecedent", 3), tmp_path)
    rows = instances(sample, "double")
    answers = ask(tmp_path, key, [right(rows), right(rows), lambda _: "unclear"])
    found = agreement(answers)
    n = len(key.items)
    assert (found["questions"], found["annotators"], found["unanimous"]) == (n, 3, 0)
    assert found["percent_agreement"] == pytest.approx(1 / 3)
    half = sum(row.label == 0 for row in rows.values())
    assert found["answers"] == {
        "candidate 0": 2 * half,
        "candidate 1": 2 * (n - half),
        "unclear": n,
    }
    told = {name: one["with_majority"] for name, one in found["by_annotator"].items()}
    assert told == {"ann": 1, "ben": 1, "cem": 0}
    done = pronominal("annotate", "agreement", tmp_path, "--json")
    assert json.loads(done.stdout) == found
    for one in (found, *found["by_annotator"].values()):
        shares = {key: one[key] for key in one.keys() - {"answers", "by_annotator"}}
        assert [*of_scores(shares)] == []
    low, high = found["interval"]["percent_agreement"]
    assert low < 1 / 3 < high
    plain = pronominal("annotate", "agreement", tmp_path)
    assert f"{found['fleiss_kappa']:.3f}" in plain.stdout
    assert f"33.3% [{low:.1%}, {high:.1%}]" in plain.stdout
    assert "No interval for Fleiss' kappa" in plain.stdout


def test_one_annotator_has_no_agreement(sample: Path, tmp_path: Path) -> None:
    key = exported(sample, "double", Request("grammaticality", 1, 5), tmp_path)
    with pytest.raises(InputError, match="agrees with nobody"):
        agreement(ask(tmp_path, key, [lambda _: "grammatical"]))


def votes(*given: str) -> Callable[[Item], list[str]]:
    """Return what six annotators say of one item: 0 and 1 are candidates."""
    return lambda item: [letter(item, int(one)) if one in "01" else one for one in given]


BALLOTS = {
    "all": (votes(*"000000"), (0, 6)),
    "five": (votes(*"11111", "unclear"), (1, 5)),
    "five and the other": (votes(*"111101"), (1, 5)),
    "four": (votes(*"111100"), "divided"),
    "four and others": (votes(*"0000", "neither", "unclear"), "divided"),
    "half": (votes(*"000111"), "divided"),
    "neither": (votes(*["neither"] * 5, "0"), "neither"),
    "unclear": (votes(*["unclear"] * 6), "unclear"),
    "neither and unclear": (votes(*["neither"] * 3, *["unclear"] * 3), "divided"),
}


@pytest.fixture(scope="module")
def voted(unlabelled: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Answers]:
    """Six annotators cast one ballot after another, row by row."""
    folder = tmp_path_factory.mktemp("voted")
    key = exported(unlabelled, "original", Request("antecedent"), folder)
    ballots = list(BALLOTS.values())
    of = {item.item: ballots[n % len(ballots)][0](item) for n, item in enumerate(key.items)}
    rules = [lambda item, seat=seat: of[item.item][seat] for seat in range(6)]
    return folder, ask(folder, key, rules)


def test_five_of_six_decide(unlabelled: Path, voted: tuple[Path, Answers]) -> None:
    answers = voted[1]
    rows = answers.key.asked_rows(str(unlabelled))
    kept = choose_rows(answers, rows, 5)
    outcomes = [outcome for _, outcome in BALLOTS.values()]
    for number, item in enumerate(answers.key.items):
        found = kept.labels.get(item.row) or kept.dropped[item.row]
        assert found == outcomes[number % len(outcomes)]
    assert len(kept.labels) + len(kept.dropped) == rows.num_rows > 2 * len(BALLOTS)
    assert not kept.labels.keys() & kept.dropped.keys()
    # no label is changed where there was none
    assert kept.changed == []
    kappas = [found["fleiss_kappa"] for found in kept.agreement.values()]
    assert kappas[0] < kappas[1] < 1


@pytest.mark.parametrize("needed", [0, 1, 3, 7])
def test_votes_that_decide_nothing_are_refused(
    unlabelled: Path, voted: tuple[Path, Answers], needed: int
) -> None:
    rows = voted[1].key.asked_rows(str(unlabelled))
    with pytest.raises(InputError, match="from 4 to 6"):
        choose_rows(voted[1], rows, needed)


def test_the_kept_rows_are_a_dataset_like_the_others(
    unlabelled: Path, voted: tuple[Path, Answers], tmp_path: Path
) -> None:
    where = ("--dataset", unlabelled, "--out", tmp_path, "--name", "mine")
    done = pronominal("annotate", "keep", voted[0], *where)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "mine.annotation.json").read_text())
    assert report["asked"] == report["kept"] + sum(report["dropped"].values())
    assert set(report["dropped"]) == {"divided", "neither", "unclear"}
    before = read_split(str(unlabelled), "original").table.to_pylist()
    after = read_split(str(tmp_path / "mine"), "original").table
    labels = {row["id"]: row for row in after.to_pylist()}
    for row in before:
        if row["id"] in labels:
            found = labels.pop(row["id"])
            assert found.pop("votes") in (5, 6)
            assert found["label"] in (0, 1)
            assert {**found, "label": -1} == row
        else:
            assert row["id"] in report["dropped_rows"]
    assert labels == {}
    assert list(violations(tmp_path / "mine")) == []
    release = read_release(tmp_path / "mine")
    assert release.canary == read_release(unlabelled).canary
    text = (tmp_path / "mine" / "README.md").read_text() + json.dumps(report) + done.stdout
    assert not any(row["text"] in text or row["original"] in text for row in before)
    # and systems run on it
    runs = ("--system", "first-mention", "--out", tmp_path / "runs", "--json")
    evaluated = pronominal("evaluate", "--dataset", tmp_path / "mine", *runs)
    assert json.loads(evaluated.stdout)["first-mention"]["n"] == after.num_rows


def test_rows_that_must_not_be_published_stay_so(
    unlabelled: Path, voted: tuple[Path, Answers], tmp_path: Path
) -> None:
    for file in unlabelled.rglob("*.parquet"):
        target = tmp_path / "kept-back" / file.relative_to(unlabelled)
        target.parent.mkdir(parents=True)
        target.write_bytes(file.read_bytes())
    card = (unlabelled / "README.md").read_text()
    held = card.replace("---\n", "---\nunpublishable: [original/test, switched/test]\n", 1)
    (tmp_path / "kept-back" / "README.md").write_text(held)
    where = ("--dataset", tmp_path / "kept-back", "--out", tmp_path, "--split", "other")
    assert pronominal("annotate", "keep", voted[0], *where).returncode == 0
    with pytest.raises(InputError, match="must not leave this machine"):
        read_release(tmp_path / "annotated")


@pytest.mark.parametrize("annotators", [1, 6])
def test_relabelled_rows_are_counted(sample: Path, tmp_path: Path, annotators: int) -> None:
    key = exported(sample, "double", Request("antecedent", sample=40), tmp_path / "export")
    rows = instances(sample, "double")
    wrong = {item.row for item in key.items[:7]}

    def rule(item: Item) -> str:
        label = rows[item.row].label
        return letter(item, 1 - label if item.row in wrong else label)

    answers = ask(tmp_path / "export", key, [rule] * annotators)
    asked = key.asked_rows(str(sample))
    kept = choose_rows(answers, asked, annotators)
    assert asked.num_rows == len(kept.labels) == 40
    assert set(kept.changed) == wrong


def test_keeping_nothing_or_overwriting_is_refused(
    unlabelled: Path, voted: tuple[Path, Answers], sample: Path, tmp_path: Path
) -> None:
    key = exported(unlabelled, "original", Request("antecedent", 2, 9), tmp_path / "none")
    ask(tmp_path / "none", key, [lambda _: "neither"] * 2)
    where = ("--dataset", unlabelled, "--out", tmp_path / "out")
    done = pronominal("annotate", "keep", tmp_path / "none", *where, "--votes", 2)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert "no row has 2 votes" in done.stderr
    itself = ("--dataset", unlabelled, "--out", unlabelled.parent, "--name", "constructed")
    assert "give another --name" in pronominal("annotate", "keep", voted[0], *itself).stderr
    outside = pronominal("annotate", "keep", voted[0], *where, "--split", "../../x")
    assert "the split name '../../x' cannot be the name of a folder" in outside.stderr
    other = ("--dataset", sample, "--out", tmp_path / "out")
    refused = pronominal("annotate", "keep", voted[0], *other)
    assert "there is no config 'original'" in refused.stderr
    baseline = pronominal("annotate", "baseline", voted[0], *where)
    assert "nobody has labelled the rows" in baseline.stderr


def test_references_decide_as_the_paper_reads_them(sample: Path, tmp_path: Path) -> None:
    key = exported(sample, "double", Request("reference", 6, 10), tmp_path)
    words = [("yes", "no"), ("no", "yes"), ("yes", "yes"), ("no", "no"), ("yes", "not sure")]
    words.append(("not sure", "no"))
    answers = ask(tmp_path, key, [lambda item, pair=pair: pair[item.about] for pair in words])
    expected = (0, 1, "both", "neither", "not sure", "not sure")
    found = verdicts(answers, key.asked_rows(str(sample)))
    assert set(found.values()) == {expected}


def test_people_stand_beside_the_systems(sample: Path, tmp_path: Path) -> None:
    """All rows are asked about: the run is like that of any system."""
    runs, rows = tmp_path / "runs", instances(sample, "double")
    evaluated = pronominal(
        *("evaluate", "--dataset", sample, "--config", "double", "--out", runs, "--json"),
        *("--system", "first-mention"),
    )
    key = exported(sample, "double", Request("antecedent", 3), tmp_path / "export")
    lazy = [lambda _: "A", lambda _: "neither"]
    ask(tmp_path / "export", key, [right(rows), right(rows), lazy[0]])
    where = ("--dataset", sample, "--out", runs, "--json")
    system = runs / "sample.double.test.first-mention"
    before = {file.name: file.read_bytes() for file in system.iterdir()}
    done = pronominal("annotate", "baseline", tmp_path / "export", *where, "--beside", runs)
    assert json.loads(done.stdout)["human"]["overall"]["accuracy"] == 1
    assert json.loads(done.stdout).keys() == {"human", "first-mention"}
    # no row is cut off, so the system's run stays as it is
    assert {file.name: file.read_bytes() for file in system.iterdir()} == before
    one = ("--annotator", "cem", "--label", "cem")
    done = pronominal("annotate", "baseline", tmp_path / "export", *where, *one)
    assert 0.4 < json.loads(done.stdout)["cem"]["overall"]["accuracy"] < 0.6
    page = tmp_path / "report.html"
    done = pronominal("report", runs, "--out", page)
    assert done.returncode == 0, done.stderr
    assert "human – first-mention" in page.read_text()  # a paired test
    assert all(f">{label}<" in page.read_text() for label in ("human", "cem", "first-mention"))
    scored = ("score", "sample", "--dataset", sample, "--config", "double", "--json")
    file = runs / "sample.double.test.human"
    again = pronominal(*scored, "--predictions", file)
    assert json.loads(again.stdout)["overall"]["accuracy"] == 1
    assert json.loads(evaluated.stdout).keys() == {"first-mention"}
    # other answers are not written over a run under the same label
    ask(tmp_path / "export", key, lazy)
    refused = pronominal("annotate", "baseline", tmp_path / "export", *where)
    assert refused.returncode == 2
    assert "another run already" in refused.stderr


def test_systems_are_cut_to_the_rows_of_a_sample(sample: Path, tmp_path: Path) -> None:
    """The paper's human baseline is about 100 rows of 1,269."""
    runs = tmp_path / "runs"
    pronominal(
        *("evaluate", "--dataset", sample, "--config", "double", "--out", runs, "--json"),
        *("--system", "first-mention", "--system", "nearest-mention"),
    )
    key = exported(sample, "double", Request("antecedent", 2, 50), tmp_path / "export")
    rows = instances(sample, "double")
    ask(tmp_path / "export", key, [right(rows)] * 2)
    where = ("--dataset", sample, "--beside", runs, "--json", "--out")
    done = pronominal("annotate", "baseline", tmp_path / "export", *where, tmp_path / "cut")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert list(scores) == ["human", "first-mention", "nearest-mention"]
    assert {one["overall"]["n"] for one in scores.values()} == {50}
    asked = [row for row in rows.values() if row.id in key.rows]
    first = [min(row.candidates, key=lambda c: c.start) == row.candidates[0] for row in asked]
    share = sum(is_0 == (row.label == 0) for is_0, row in zip(first, asked, strict=True)) / 50
    assert scores["first-mention"]["overall"]["accuracy"] == pytest.approx(share)
    refused = pronominal("annotate", "baseline", tmp_path / "export", *where, runs)
    assert "another run already" in refused.stderr
    none = ("--dataset", sample, "--beside", tmp_path / "export", "--out", tmp_path / "none")
    refused = pronominal("annotate", "baseline", tmp_path / "export", *none)
    assert "no finished run over sample/double/test" in refused.stderr


FILLERS: dict[str, tuple[Callable[[FillingInstance], str], float]] = {
    "right": (lambda row: row.options[row.label], 1),
    "shouting": (lambda row: f" {row.options[row.label].upper()} ", 1),
    "wrong set": (lambda row: row.options[(row.label + 1) % 4], 0),
    "wrong form": (lambda row: "hers", 0),
}


@pytest.mark.parametrize("filler", FILLERS)
def test_people_fill_in_ruffs_blanks(own_ruff: str, tmp_path: Path, filler: str) -> None:
    rule, accuracy = FILLERS[filler]
    rows: dict[str, Any] = instances(own_ruff, "human")
    key = exported(own_ruff, "human", Request("blank", 2), tmp_path / "export")
    answers = ask(tmp_path / "export", key, [lambda item: rule(rows[item.row])] * 2)
    scores = human_baseline(answers, key.asked_rows(own_ruff), tmp_path / "runs")
    assert scores["human"]["n"] == len(rows)
    assert scores["human"]["accuracy"] == accuracy


@pytest.mark.parametrize(
    ("config", "task", "items"),
    [
        # every form where none is right, else the right one
        ("no_context", "grammaticality", 4),
        ("distractors_1", "grammaticality", 1),
        # introduction and distractor, introduction alone
        ("distractors_1", "reference", 2),
        ("distractors_0", "reference", 1),
    ],
)
def test_ruffs_texts_are_validated(
    own_ruff: str, tmp_path: Path, config: str, task: str, items: int
) -> None:
    key = exported(own_ruff, config, Request(task, sample=6), tmp_path / "export")
    assert len(key.items) == 6 * items


@pytest.mark.parametrize(
    ("config", "task", "cause"),
    [
        ("distractors_1", "antecedent", "asks for a pronoun"),
        ("no_context", "reference", "no form of the pronoun is right"),
    ],
)
def test_questions_without_an_answer_are_not_asked(
    own_ruff: str, tmp_path: Path, config: str, task: str, cause: str
) -> None:
    with pytest.raises(InputError, match=cause):
        exported(own_ruff, config, Request(task), tmp_path / "export")
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize("task", ["grammaticality", "blank"])
def test_tasks_without_an_antecedent_make_no_baseline(
    sample: Path, tmp_path: Path, task: str
) -> None:
    key = exported(sample, "double", Request(task, 2, 5), tmp_path)
    words = {"grammaticality": "not sure", "blank": "they"}
    answers = ask(tmp_path, key, [lambda _: words[task]] * 2)
    with pytest.raises(InputError, match="not asked for an answer that a system could give"):
        human_baseline(answers, key.asked_rows(str(sample)), tmp_path / "runs")


@given(st.lists(st.sampled_from([0, 1, "neither"]), min_size=1, max_size=7))
def test_a_majority_is_more_than_half(said: list[int | str]) -> None:
    found = majority(said)
    more = [one for one in set(said) if said.count(one) > len(said) / 2]
    assert more == ([] if found is None else [found])
