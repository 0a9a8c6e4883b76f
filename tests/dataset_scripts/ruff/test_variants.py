"""RUFF's variants: the published rows, changed in one way each."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from pronominal import InputError
from pronominal.adapters import load
from pronominal.cli.main import app
from pronominal.dataset_scripts import ruff
from pronominal.dataset_scripts.building.build import build
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import instances_of
from pronominal.dataset_scripts.ruff.assembly import Setting
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.dataset_scripts.ruff.templates import Templates
from pronominal.dataset_scripts.ruff.variants import NAMES, PUBLISHED, VARIANTS, Variant
from pronominal.eval.runs.runner import predict
from pronominal.eval.scores import SHARED
from pronominal.eval.statistics.intervals import ratio_interval
from pronominal.pronouns import PRONOUN_SETS
from tests.dataset_scripts.ruff.own_templates import own_tables, write_sources

Row = dict[str, Any]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return write_sources(tmp_path_factory.mktemp("own"), own_tables())


@pytest.fixture(scope="module")
def templates(sources: Sources) -> Templates:
    return ruff.read_templates(sources)[0]


def setting(templates: Templates, distractors: int, variant: Variant) -> Instances:
    return Instances(Setting(templates, PRONOUN_SETS, distractors, variant))


def rows(templates: Templates, distractors: int, variant: Variant, every: int = 1) -> list[Row]:
    made = setting(templates, distractors, variant)
    return made.table(np.arange(0, len(made), every)).to_pylist()


def sentences(row: Row) -> list[str]:
    return re.findall(r"[^.]+\.", row["text"])


def reordered(row: Row, place: int) -> str:
    introduction, *distractors, task = sentences(row)
    told = [*distractors[:place], introduction, *distractors[place:], task]
    return " ".join(sentence.strip() for sentence in told)


@pytest.mark.parametrize(("distractors", "every"), [(1, 7), (2, 7), (3, 7), (5, 701)])
def test_distractors_come_first(templates: Templates, distractors: int, every: int) -> None:
    published = rows(templates, distractors, PUBLISHED, every=every)
    found = rows(templates, distractors, VARIANTS["distractors-first"], every=every)
    expected = [reordered(row, distractors) for row in published]
    assert [row["text"] for row in found] == expected
    assert {row["uid"].rpartition("_")[2][:2] for row in found} == {"eo"}


@pytest.mark.parametrize("distractors", [1, 2, 3])
def test_the_introduction_stands_anywhere(templates: Templates, distractors: int) -> None:
    published = rows(templates, distractors, PUBLISHED, every=7)
    places = range(distractors + 1)
    made = setting(templates, distractors, VARIANTS["introduction-anywhere"])
    of_each = np.arange(len(made)).reshape(-1, len(places))
    found = made.table(of_each[::7].ravel()).to_pylist()
    expected = [reordered(row, place) for row in published for place in places]
    assert [row["text"] for row in found] == expected
    before = [row["uid"].split("_").index(re.findall(r"eo\d", row["uid"])[0]) for row in found]
    assert before == [place for _ in published for place in places]


@pytest.mark.parametrize("distractors", [0, 1, 2])
def test_participants_change_places(templates: Templates, distractors: int) -> None:
    published = rows(templates, distractors, PUBLISHED)
    for row, other in zip(
        rows(templates, distractors, VARIANTS["participants"]), published, strict=True
    ):
        swap = {row["occupation"]: row["participant"], row["participant"]: row["occupation"]}
        words = re.split(r"\b", other["text"])
        assert row["text"] == "".join(swap.get(word, word) for word in words)
        assert (row["target"], row["other"]) == (row["participant"], row["occupation"])


@pytest.mark.parametrize("distractors", [0, 1, 2])
def test_people_have_names(templates: Templates, distractors: int) -> None:
    published = rows(templates, distractors, PUBLISHED)
    for row, other in zip(rows(templates, distractors, VARIANTS["names"]), published, strict=True):
        text = other["text"].replace(f"The {row['occupation']}", row["target"])
        assert row["text"] == text.replace(f"The {row['participant']}", row["other"])
        assert row["target"] != row["other"]
        assert {row["target"], row["other"]} <= {*NAMES}


@pytest.mark.parametrize("distractors", [0, 1, 3])
def test_the_slot_is_in_another_case(templates: Templates, distractors: int) -> None:
    variant = VARIANTS["other-case"]
    sets = {one.name: one for one in PRONOUN_SETS}
    for row in rows(templates, distractors, variant, every=7):
        words = re.findall(r"\w+", row["text"][: row["blank"]["start"]].lower())
        assert not {*words} & {*row["options"]}
        shown = variant.shown[row["case"]]
        named = [(1, row["pronoun_set"]), (distractors, row["distractor_set"])]
        for times, name in named[: 1 + bool(distractors)]:
            assert words.count(sets[name].form(shown)) == times


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda variant: variant.name)
def test_every_variant_is_as_balanced_as_ruff(templates: Templates, variant: Variant) -> None:
    for distractors in (variant.fewest, 2):
        made, published = (setting(templates, distractors, one) for one in (variant, PUBLISHED))
        assert len(made) == len(published) * len(made.setting.places)
        for numbers in (np.arange(0, len(made), 5), made.setting.sample(13)):
            found = made.table(numbers).to_pylist()
            assert len({row["id"] for row in found}) == len(found)
            for row in found:
                start, end = row["blank"]["start"], row["blank"]["end"]
                assert row["text"][start:end] == "___"
                assert row["id"].startswith(f"{variant.name}-")
        assert len(made.setting.sample(13)) == len(published.setting.sample(13))


def right(system: str, instances: Instances, numbers: Any) -> list[bool]:
    table = instances.table(numbers)
    answers = predict(load(system), [*instances_of(table)])
    labels = table["label"].to_pylist()
    return [one.decision.choice == label for one, label in zip(answers, labels, strict=True)]


SHARES: list[tuple[Variant, int, float]] = [
    (PUBLISHED, 3, 1),
    (VARIANTS["distractors-first"], 3, 0),
    (VARIANTS["introduction-anywhere"], 1, 1 / 2),
    (VARIANTS["introduction-anywhere"], 3, 1 / 4),
    (VARIANTS["other-case"], 3, 0),
    (VARIANTS["participants"], 3, 1),
    (VARIANTS["names"], 3, 1),
]


@pytest.mark.parametrize(
    ("variant", "distractors", "share"),
    SHARES,
    ids=[f"{variant.name or 'published'}-{count}" for variant, count, _ in SHARES],
)
def test_repeating_the_first_pronoun(
    templates: Templates, variant: Variant, distractors: int, share: float
) -> None:
    made = setting(templates, distractors, variant)
    # every so many whole blocks of rows that differ in the place of the introduction only
    starts = np.arange(0, len(made), 7 * len(made.setting.places))
    numbers = (starts[:, None] + np.arange(len(made.setting.places))).ravel()
    assert np.mean(right("first-pronoun", made, numbers)) == share


def test_the_first_pronoun_is_no_better_than_chance_on_real_templates(upstream: Path) -> None:
    templates = ruff.read_templates(Sources(upstream))[0]
    found = {}
    for variant in (PUBLISHED, VARIANTS["introduction-anywhere"]):
        made = setting(templates, 3, variant)
        numbers = np.concatenate([made.setting.sample(seed) for seed in ruff.SEEDS])
        found[variant.name] = right("first-pronoun", made, numbers)
    assert all(found[""])
    # rows of a sample are drawn one by one
    answers = np.array(found["introduction-anywhere"], float)[None]
    estimate = ratio_interval(answers, np.ones_like(answers))
    assert estimate.low[0] <= 1 / 4 <= estimate.high[0]


def test_a_variant_is_a_dataset_of_its_own(sources: Sources, tmp_path: Path) -> None:
    def built(**options: Any) -> Path:
        return build("ruff", tmp_path, sources=sources.root, allow_changed=True, **options)

    published, variant = built(), built(variant="introduction-anywhere")
    assert [published.name, variant.name] == ["ruff", "ruff-introduction-anywhere"]
    split = read_split(variant, "distractors_1", "seed_13")
    assert split.dataset_name == variant.name
    assert not {*split.table["id"].to_pylist()} & {
        *read_split(published, "distractors_1").table["id"].to_pylist()
    }
    assert not (variant / "distractors_0").exists()
    assert not (variant / "human").exists()
    card = (variant / "README.md").read_text(encoding="utf-8")
    assert "This is not RUFF as published" in card
    assert "This is not RUFF" not in (published / "README.md").read_text(encoding="utf-8")


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_scores_of_ruff_and_of_a_variant_are_not_mixed(sources: Sources, tmp_path: Path) -> None:
    of = ("--sources", sources.root, "--allow-changed", "--out", tmp_path)
    made = invoke("build", "ruff", "--variant", "distractors-first", *of)
    folder = made.output.splitlines()[-1]
    assert folder == str(tmp_path / "ruff-distractors-first")
    asked = ("--dataset", folder, "--config", "distractors_1", "--split", "seed_13")
    ran = invoke("run", *asked, "--system", "last-pronoun", "--out", tmp_path / "runs")
    assert ran.exit_code == 0, ran.output
    (run,) = (tmp_path / "runs").iterdir()
    refused = invoke("score", "ruff", *asked, "--predictions", run)
    assert "holds ruff-distractors-first" in str(refused.exception)
    scored = invoke("score", "ruff-distractors-first", *asked, "--predictions", run, "--json")
    assert scored.exit_code == 0, scored.output
    assert '"accuracy": 1.0' in scored.output


def test_an_unknown_variant_is_named(sources: Sources, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'other-case'"):
        build("ruff", tmp_path, sources=sources.root, allow_changed=True, variant="other-cse")


def test_every_variant_has_the_task_of_ruff() -> None:
    shared = {name for name, task in SHARED.items() if task == "ruff"}
    assert shared == {f"ruff-{name}" for name in VARIANTS}


@pytest.mark.parametrize("table", ["task.tsv", "context.tsv"])
def test_a_name_needs_an_article_to_stand_for(tmp_path: Path, table: str) -> None:
    tables = own_tables()
    column = 2
    tables[table][1][column] = tables[table][1][column].replace("The ", "One ")
    changed = write_sources(tmp_path, tables)
    assert any("no name can stand for" in str(found) for found in ruff.violations(changed))
    with pytest.raises(InputError, match="no name can stand for"):
        build("ruff", tmp_path, sources=tmp_path, allow_changed=True, variant="names")
