"""WinoNB's scores: where the answers to they went, and what names and sources do to them."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pronominal import BOTH, NONE, UNFINISHED, Decision
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.runs.predictions import Prediction, read_predictions
from pronominal.eval.scores.winonb.answers import SOURCES, clustered_pronouns, schemas_of
from pronominal.eval.scores.winonb.hypothesis_tests import across_systems, friedman
from pronominal.eval.scores.winonb.score import paired_units, score
from pronominal.eval.scores.winonb.task import TASK as WINONB
from pronominal.eval.statistics.paired_tests import against
from tests.cli.test_main import pronominal
from tests.eval.scores.tables import tables_of

NAMES = {"Ann": "fem", "Bo": "masc", "Kim": "neutral"}
GROUP, INDIVIDUAL = Decision(0), Decision(1)


def rows(names: dict[str, str], repeats: int = 0) -> list[dict[str, Any]]:
    """Two schemas of each source and number; the last `repeats` have the first one's sentence."""
    schemas = [*itertools.product(SOURCES, ("singular", "plural"), range(2))]
    return [
        {
            "id": f"{number:04d}-{name}",
            "text": f"{0 if number >= len(schemas) - repeats else number} {name} they",
            "pronoun": {"text": "they", "start": 5, "end": 9},
            **{"source": source, "number": kind, "individual": name, "association": association},
        }
        for number, (source, kind, _) in enumerate(schemas)
        for name, association in names.items()
    ]


PERSONAL = pa.Table.from_pylist(rows(NAMES))
GENERIC = pa.Table.from_pylist(rows({"someone": "someone"}))


def answers(table: pa.Table, answer) -> list[Decision]:
    return [answer(row) for row in table.to_pylist()]


def gold(row: dict[str, Any]) -> Decision:
    return Decision(int(row["number"] == "singular"))


def scored(answer, **options: Any) -> dict[str, Any]:
    return score(PERSONAL, answers(PERSONAL, answer), **options)


def blocks(scores: dict[str, Any]) -> list[dict[str, Any]]:
    divisions = (scores["by_source"], scores["by_association"], scores["by_name"])
    return [b for division in divisions for one in division.values() for b in one.values()]


def test_unfinished_answers_go_nowhere() -> None:
    scores = scored(lambda row: UNFINISHED if row["number"] == "singular" else GROUP)
    for block in (one["singular"] for one in scores["by_source"].values()):
        assert (block["unfinished"], block["neither"], block["answered"]) == (1, 0, 0)
    assert scores["by_source"]["all"]["plural"]["unfinished"] == 0
    shown = [heading for one in tables_of(WINONB, {"a": scores}) for heading in one.columns]
    assert {"Unfinished", "si.: unfinished"} <= {*shown}
    as_usual = [
        heading for one in tables_of(WINONB, {"a": scored(gold)}) for heading in one.columns
    ]
    assert not any("nfinished" in heading for heading in as_usual)


def test_always_the_group_is_right_on_plurals_only() -> None:
    scores = scored(lambda row: GROUP)
    for source in (*SOURCES, "all"):
        block = scores["by_source"][source]
        assert block["singular"]["accuracy"] == 0
        assert block["plural"]["accuracy"] == block["plural"]["group"] == 1
        low, high = block["plural"]["interval"]["accuracy"]
        assert 0.3 < low < high == 1
    assert scores["by_source"]["all"]["plural"]["n"] == 8 * len(NAMES)
    assert scores["by_association"]["fem"]["singular"]["n"] == 8
    assert scores["by_association"]["someone"]["singular"]["accuracy"] is None
    assert list(scores["by_name"]) == list(NAMES)
    assert scores["ratios"]["less_likely_than_plural"] == 1


def test_correct_is_the_share_of_all_rows() -> None:
    assert scored(gold)["overall"]["correct"] == 1
    table = PERSONAL.slice(0, PERSONAL.num_rows - 4)  # not as many plural rows as singular ones
    given = answers(table, lambda row: GROUP)
    overall = score(table, given)["overall"]
    right = [one == gold(row) for one, row in zip(given, table.to_pylist(), strict=True)]
    assert overall["correct"] == pytest.approx(sum(right) / len(right))
    assert overall["n"] == len(right)


def test_answers_add_up() -> None:
    given = itertools.cycle([INDIVIDUAL, NONE, BOTH, GROUP])
    scores = scored(lambda row: next(given))
    for block in blocks(scores):
        if block["n"]:
            parts = [block[name] for name in ("group", "individual", "neither", "both")]
            assert sum(parts) == pytest.approx(1)
    json.dumps(scores, allow_nan=False)


def test_an_absent_source_is_undefined() -> None:
    only = PERSONAL.filter(pa.compute.equal(PERSONAL["source"], "wsc"))
    block = score(only, [NONE] * only.num_rows)["by_source"]["dpr"]["singular"]
    assert block["n"] == 0
    shares = block["interval"]
    assert {block[name] for name in shares} == {*shares.values()} == {None}
    assert block["interval_missing"].keys() == shares.keys()


def lines_of(file: Path) -> list[Prediction]:
    return [prediction for _, prediction in read_predictions(file)]


def split(table: pa.Table) -> Split:
    return Split("winonb", "personal", "test", table, "digest", Path("winonb"))


def test_clusters_tell_elsewhere_from_unresolved(tmp_path: Path) -> None:
    clusters = [[[[5, 9], [20, 23]]], [], [[[5, 9]]], [[[0, 1], [20, 23]]]]
    file = tmp_path / "predictions.jsonl"
    given = [*zip(PERSONAL["id"].to_pylist(), itertools.cycle(clusters), strict=False)]
    lines = [Prediction(name, NONE, {"clusters": found}).line() for name, found in given]
    file.write_text("".join(lines))
    known = clustered_pronouns(PERSONAL, lines_of(file))
    scores = scored(lambda row: NONE, clustered=known)
    found = scores["by_source"]["all"]
    assert sum(found[number]["elsewhere"] * found[number]["n"] for number in found) == 12
    for block in blocks(scores):
        if block["n"]:
            assert block["elsewhere"] + block["unresolved"] == pytest.approx(block["neither"])
    shown = next(t for t in tables_of(WINONB, {"a": scores}) if t.title == "WinoNB: answers")
    heads = shown.columns
    assert "si.: elsewhere" in heads
    assert "si.: neither" not in heads
    # beside a system without clusters, of whose answers neither is all that is known
    mixed = {"a": scores, "b": scored(lambda row: NONE)}
    shown = next(one for one in tables_of(WINONB, mixed) if one.title == "WinoNB: answers")
    row = dict(zip(shown.columns, shown.rows[1], strict=True))
    assert row["si.: neither"].startswith("100.0‡ [")  # of eight schemas
    assert row["si.: elsewhere"] == "–"
    # an empty last line is no line without clusters
    file.write_text("".join([*lines, "\n"]))
    assert (clustered_pronouns(PERSONAL, lines_of(file)) == known).all()
    # one line without clusters, and no one knows
    file.write_text("".join([*lines[:-1], Prediction(given[-1][0], NONE).line()]))
    assert clustered_pronouns(PERSONAL, lines_of(file)) is None
    assert scored(lambda row: NONE)["by_source"]["all"]["singular"]["unresolved"] is None
    assert clustered_pronouns(PERSONAL, []) is None


def test_ratios_are_those_of_the_paper() -> None:
    # right on one of eight singular schemas and on all plural ones; on half of the generic ones
    def personal(row):
        return gold(row) if row["number"] == "plural" or row["id"] < "0001" else GROUP

    def generic(row):
        return INDIVIDUAL if row["source"] in SOURCES[:2] else GROUP

    scores = scored(personal, generic=(GENERIC, answers(GENERIC, generic)))
    assert scores["ratios"]["less_likely_than_plural"] == pytest.approx(7 / 8)
    assert scores["ratios"]["generic_to_personal"] == pytest.approx(4)
    assert scores["generic"]["by_source"]["all"]["singular"]["accuracy"] == 0.5
    assert scored(personal)["ratios"]["generic_to_personal"] is None
    never = scored(lambda row: GROUP, generic=(GENERIC, answers(GENERIC, generic)))
    assert never["ratios"]["generic_to_personal"] is None
    means = tables_of(WINONB, {"a": scores, "b": never})
    ratios = next(table for table in means if table.title == "WinoNB: ratios")
    # the means of singular accuracy are 1/16, of plural 1, of generic 1/2
    assert ratios.rows[-1][:3] == ("Ratio of the means", "93.8", "8.0")


def test_a_row_that_repeats_a_sentence_is_no_unit_of_its_own() -> None:
    table = pa.Table.from_pylist(rows(NAMES, repeats=3))
    schemas = schemas_of(table)
    assert len(schemas) == 16
    assert len(set(schemas.values())) == 13
    assert {schemas[f"{row:04d}"] for row in (0, 13, 14, 15)} == {0}
    assert score(table, answers(table, gold))["intervals"]["units"] == 13


def test_the_names_association_is_tested_over_schemas() -> None:
    def not_of_men(row):
        wrong = row["association"] == "masc" and row["source"] in ("winobias", "dpr")
        return GROUP if wrong else gold(row)

    tests = scored(not_of_men)["tests"]["association"]
    overall = tests["singular"]["all"]
    assert overall["fem-masc"]["n"] == 8
    assert overall["fem-masc"]["difference"] == pytest.approx(0.5)
    # four schemas differ, all the same way: of sixteen changes of sign two are as far from 0
    assert overall["fem-masc"]["p"] == 1 / 16
    # of fifteen tests, three associations on all rows and on each source's
    assert overall["fem-masc"]["p_holm"] == 15 / 16
    assert overall["fem-masc"]["minimum_detectable_effect"] > 0.5
    assert overall["fem-neutral"]["p"] == overall["fem-neutral"]["p_holm"] == 1
    assert tests["singular"]["dpr"]["fem-masc"]["p"] == 1 / 4  # of two schemas
    assert tests["plural"]["all"]["fem-masc"]["difference"] == 0


@pytest.mark.parametrize("sources", [3, 4, 5])
def test_friedman_is_that_of_scipy(sources: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    accuracies = np.random.default_rng(sources).integers(0, 5, (7, sources)) / 4  # some tie
    found, theirs = friedman(accuracies), stats.friedmanchisquare(*accuracies.T)
    assert found["statistic"] == pytest.approx(theirs.statistic, rel=1e-9)
    assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)


def test_sources_are_ranked_over_systems() -> None:
    order = {source: number for number, source in enumerate(SOURCES)}

    def easier_and_easier(row):
        return gold(row) if order[row["source"]] * 3 > int(row["id"][:4]) % 2 * 4 else GROUP

    scores = {name: scored(easier_and_easier) for name in "abc"}
    found = across_systems(scores)["friedman"]
    assert found["singular"]["systems"] == 3
    assert found["singular"]["p"] < 0.05
    # every system right on all plurals: nothing to rank
    assert found["plural"] == {"n": 3, "systems": 3, "statistic": None, "p": None}
    assert across_systems({"a": scores["a"]})["friedman"]["singular"]["p"] is None


def test_paired_tests_are_over_schemas() -> None:
    given = {"gold": gold, "group": lambda row: GROUP, "again": gold}
    generic = {name: (GENERIC, answers(GENERIC, answer)) for name, answer in given.items()}
    made = {
        n: paired_units(PERSONAL, answers(PERSONAL, a), generic=generic[n])
        for n, a in given.items()
    }
    measures = ("singular", "plural", *(f"singular_{s}" for s in SOURCES), "generic_singular")
    assert tuple(made["gold"]) == measures
    tests = against({m: {name: made[name][m] for name in made} for m in measures})
    assert tests["gold"]["singular"]["group"]["n"] == 8
    assert tests["gold"]["singular"]["group"]["difference"] == 1
    for measure in measures:
        assert tests["gold"][measure]["again"]["p"] == 1
    assert tests["gold"]["plural"]["group"]["p"] == 1
    scores = {name: scored(given[name]) | {"against": tests[name]} for name in given}
    assert len(tables_of(WINONB, scores)) == len(tables_of(WINONB, {"gold": scored(gold)})) + len(
        measures
    )


@pytest.mark.parametrize("source", SOURCES)
def test_a_sources_units_are_its_singular_schemas(source: str) -> None:
    def only_there(row):
        """Right on the singulars of one source and on the plurals of all others."""
        return INDIVIDUAL if row["source"] == source else GROUP

    units = paired_units(PERSONAL, answers(PERSONAL, only_there))
    parts = {other: units[f"singular_{other}"].T for other in SOURCES}
    shares = {other: (part / whole).tolist() for other, (part, whole) in parts.items()}
    assert shares == {other: [float(other == source)] * 2 for other in SOURCES}


SENTENCES = (
    ("plumbers.someone.1.someone.txt", "The plumbers told someone that they will leave."),
    (
        "plumbers.someone.0.someone.txt",
        "Someone hid from May while the plumbers ate what they had.",
    ),
)


def built(folder: Path) -> Path:
    lines = ["source\tsentid\tsentence", *("\t".join(("wsc", *row)) for row in SENTENCES)]
    for version in ("v0", "v1"):
        path = folder / "winonb" / version / "winonb_someone.tsv"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(lines))
    sources = Sources(folder, allow_changed=True)
    write_dataset(dataset_script("winonb"), sources, BuildOptions(), folder / "built")
    return folder / "built" / "winonb"


def test_the_command_runs_someone_beside_the_names(tmp_path: Path) -> None:
    where = built(tmp_path)
    evaluate = ["evaluate", "--dataset", where, "--config", "personal", "--out", tmp_path / "runs"]
    systems = ["--system", "random", "--system", "first-mention", "--json"]
    scores = json.loads(pronominal(*evaluate, *systems).stdout)
    assert {"generic", "against", "across_systems"} <= scores["random"].keys()
    run = tmp_path / "runs" / "winonb.{}.test.random"
    score = ["score", "winonb", "--dataset", where, "--config", "personal", "--json"]
    files = ["--predictions", str(run).format("personal"), "--generic", str(run).format("generic")]
    again = json.loads(pronominal(*score, *files).stdout)
    assert again["ratios"] == scores["random"]["ratios"]
