"""The transcribed figures of the WinoPron, Winogender 2.0, WinoNB and RUFF papers hold together."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pronominal.errors import InputError
from pronominal.eval.papers.figures import PAPERS, PaperTable, paper_tables
from pronominal.eval.papers.reproduce import reproduce
from pronominal.eval.runs.scored import Run
from tests.cli.test_main import pronominal

TABLES = {
    table.name: table
    for paper in ("ruff", "winogender", "winonb", "winopron")
    for table in paper_tables(paper)
}
SYSTEMS = tuple(TABLES["winopron:8"].rows)
CASES, SETS = ("nominative", "accusative", "possessive"), ("he", "she", "they", "xe")
CONFIGS = ("double", "single")
PARTS = ("all", *CASES, *SETS)
SINGULAR = {"winogender": 60, "winobias": 1861, "wsc": 43, "dpr": 74}
PLURAL = SINGULAR | {"wsc": 44}


def paper(table: str, row: str) -> dict[str, float]:
    return dict(TABLES[table].rows[row].paper)


def test_the_tables_that_can_be_reproduced() -> None:
    drawn = [f"figure-{n}" for n in (1, *range(4, 14))]
    ruff = [f"ruff:{name}" for name in ("1", *drawn)]
    winopron = [1, 2, "figure-3", 3, 4, "figure-5", 5, 6, 8, 9, 10]
    winogender = ["figure-1", 1, 2, 3, 5, 6]
    assert list(TABLES) == [
        *ruff,
        *(f"winogender:{name}" for name in winogender),
        "winonb:2",
        *(f"winopron:{name}" for name in winopron),
    ]
    assert TABLES["ruff:figure-4"].place == "Figure 4"
    assert TABLES["winopron:10"].place == "Table 10"


def between(precision: float, recall: float) -> tuple[float, float]:
    """The F1 scores that are possible where all three figures are rounded to one decimal."""
    low, high = (
        2 * p * r / (p + r)
        for p, r in ((precision - 0.05, recall - 0.05), (precision + 0.05, recall + 0.05))
    )
    return low - 0.051, high + 0.051


def test_f1_follows_from_precision_and_recall() -> None:
    wrong = []
    for system, config, part in product(SYSTEMS, CONFIGS, PARTS):
        f1, *others = (paper(f"winopron:{n}", system)[f"{config}_{part}"] for n in (8, 9, 10))
        low, high = between(*others)
        if not low <= f1 <= high:
            wrong.append((system, config, part, low, f1, high))
    assert not wrong


def test_recall_is_the_mean_of_parts_of_one_size() -> None:
    means, totals = {}, {}
    for system, config, parts in product(SYSTEMS, CONFIGS, (CASES, SETS)):
        recall = paper("winopron:10", system)
        key = system, config, parts
        totals[key] = recall[f"{config}_all"]
        means[key] = sum(recall[f"{config}_{name}"] for name in parts) / len(parts)
    assert means == pytest.approx(totals, abs=0.1001)


def test_table_2_has_the_f1_of_table_8() -> None:
    table_2 = {system: paper("winopron:2", system)["winopron"] for system in SYSTEMS}
    assert table_2 == {system: paper("winopron:8", system)["double_all"] for system in SYSTEMS}


def rounded(percent: float) -> tuple[float, float]:
    """A percentage with one decimal as fractions with two, either way at a half."""
    return round((percent - 0.05) / 100, 2), round((percent + 0.05) / 100, 2)


def test_the_earlier_version_has_the_same_f1() -> None:
    differing = []
    for system in SYSTEMS:
        later, sources = paper("winopron:8", system), paper("winopron:2", system)
        table_2, table_5, table_6 = (paper(f"winogender:{number}", system) for number in (2, 5, 6))
        pairs = {"all, first version": (table_2["v1_all"], sources["winogender"])}
        pairs |= {part: (table_2[f"v2_{part}"], later[f"double_{part}"]) for part in PARTS[:4]}
        pairs |= {name: (table_5[name], later[f"double_{name}"]) for name in SETS}
        pairs |= {f"single {name}": (table_6[name], later[f"single_{name}"]) for name in PARTS}
        differing += [(system, key) for key, (a, b) in pairs.items() if a not in rounded(b)]
    # the earlier paper mixed up the columns of these two
    assert differing == [(name, "single nominative") for name in ("flan-t5-base", "flan-t5-large")]


def test_consistency_is_an_accuracy_in_one_version_and_an_f1_in_the_other() -> None:
    lower = []
    for system in SYSTEMS:
        later, earlier = paper("winopron:3", system), paper("winogender:2", system)
        # precision is no lower than recall, so neither is F1
        lower += [(system, name) for name, f1 in later.items() if 100 * earlier[name] + 0.51 < f1]
    assert not lower


def test_the_text_of_winopron_agrees_with_its_tables() -> None:
    for system in SYSTEMS:
        figures = paper("winopron:2", system)
        difference = figures["winopron"] - figures["winogender"]
        assert figures["change"] == figures["change_with_xe"] == pytest.approx(difference)
        assert figures["winogender_with_xe"] == figures["winogender"]
    # section 4.2: accuracy, which is recall where abstentions are wrong
    for system, shown in TABLES["winopron:figure-3"].rows.items():
        recall = paper("winopron:10", system)
        assert {c: recall[f"double_{c}"] for c in shown.paper} == dict(shown.paper)
    templates = [paper("winopron:1", case) for case in CASES]
    assert sum(counts["winogender"] for counts in templates) == 120
    assert sum(counts["winopron"] for counts in templates) == 360
    for table in ("winopron:5", "winopron:6"):
        for row in TABLES[table].rows.values():
            assert len(row.paper) == len(TABLES[table].figures) == 12
            assert all(0 <= value <= 1 for value in row.paper.values())


def test_winonbs_overall_column_is_the_weighted_mean() -> None:
    means, totals = {}, {}
    kinds = {"personal": SINGULAR, "plural": PLURAL, "generic": SINGULAR}
    for system, (kind, counts) in product(TABLES["winonb:2"].rows, kinds.items()):
        figures = paper("winonb:2", system)
        mean = sum(n * figures[f"{kind}_{source}"] for source, n in counts.items())
        means[system, kind] = mean / sum(counts.values())
        totals[system, kind] = figures[f"{kind}_all"]
    # five figures rounded to three decimals
    assert means == pytest.approx(totals, abs=0.00101)


def test_winonbs_ratios_are_those_of_its_text() -> None:
    rows = [row.paper for row in TABLES["winonb:2"].rows.values()]
    personal, plural, generic = (
        sum(row[f"{kind}_all"] for row in rows) / len(rows)
        for kind in ("personal", "plural", "generic")
    )
    assert 1 - personal / plural == pytest.approx(0.948, abs=0.0005)
    assert generic / personal == pytest.approx(6.4, abs=0.05)


def test_ruffs_sizes_follow_from_its_templates() -> None:
    counts = [TABLES["ruff:1"].rows[f"distractors_{k}"].paper["instances"] for k in range(6)]
    # three sets of distractors, then one template less to choose from each time
    assert [b / a for a, b in pairwise(counts)] == [12, 4, 3, 2, 1]


def score_run(label: str, place: tuple[str, str, str], **scores: Any) -> Run:
    return Run(label, place, scores, Path(f"runs/{label}"))


def lines(table: PaperTable, *runs: Run, **options: Any) -> dict[tuple[str, str], Any]:
    (made,) = reproduce([table], runs, **options)
    return {(line.row, line.figure): line for line in made.lines}


def test_one_table_has_runs_of_several_datasets() -> None:
    runs = [score_run("lingmess", ("winogender", "original", "test"), overall={"f1": 0.85}),
            score_run("lingmess", ("winopron", "double", "test"), overall={"f1": 0.65}),
            score_run("lingmess", ("winopron", "single", "test"), overall={"f1": 0.75}),
            score_run("random", ("winopron", "double", "test"), overall={"f1": 0.5})]  # fmt: skip
    found = lines(TABLES["winopron:2"], *runs)
    assert found["lingmess", "winogender"].difference == pytest.approx(-0.5)
    assert found["lingmess", "winopron"].difference == pytest.approx(0.6)
    assert found["lingmess", "winopron"].runs == ("lingmess",)
    assert (found["random", "winogender"].ours, found["random", "winopron"].ours) == (None, 50)
    both = lines(TABLES["winopron:8"], *runs)
    assert both["lingmess", "single_all"].ours == 75
    assert both["lingmess", "double_all"].ours == 65


def test_of_a_prompted_model_all_answers_count() -> None:
    every = {"every_answer": {"overall": {"f1": 0.6}}}
    place = ("winopron", "double", "test")
    run = score_run("flan-t5-xl", place, overall={"f1": 0.9}, prompts=every)
    assert lines(TABLES["winopron:2"], run)["flan-t5-xl", "winopron"].ours == 60


def test_figure_13_is_about_the_chains_and_figure_12_about_what_comes_after_them() -> None:
    place = ("ruff", "distractors_0", "seed_13+seed_17+seed_19")
    after = {"accuracy": 0.75, "interval": {"accuracy": [0.5, 0.9]}}
    within = {"accuracy": 0.5, "interval": {"accuracy": [0.4, 0.6]}}
    chains = score_run("flan-t5-xxl-zhou", place, accuracy=0.1, prompts=after, chains=within)
    vanilla = score_run("flan-t5-xxl", place, accuracy=0.1, prompts=after)
    found = {name: lines(TABLES[f"ruff:figure-{name}"], chains, vanilla) for name in (12, 13)}
    assert found[12]["flan-t5-xxl-zhou", "distractors_0"].ours == 0.75
    assert found[13]["flan-t5-xxl-zhou", "distractors_0"].ours == 0.5
    assert found[13]["flan-t5-xxl-zhou", "distractors_0"].interval == (0.4, 0.6)
    assert found[13]["flan-t5-xxl", "distractors_0"].ours == 0.75


def bias(*occupations: str) -> dict[str, Any]:
    form = {"positive": list(occupations), "negative": []}
    return {"by_form": {f"{case}/{name}": form for case in CASES for name in SETS}}


def test_table_5_compares_two_runs() -> None:
    place = ("winopron", "double", "test")
    base = score_run("spanbert-base", place, bias=bias("baker", "smith"))
    large = score_run("spanbert-large", place, bias=bias("baker"))
    found = lines(TABLES["winopron:5"], base, large)
    assert len(found) == 12
    line = found["spanbert-base-large", "nominative_he"]
    assert (line.ours, line.runs) == (0.5, ("spanbert-base / spanbert-large",))
    assert lines(TABLES["winopron:5"], base)["spanbert-base-large", "nominative_he"].ours is None
    # two of three occupations each, one in common: by chance, too, of as many as are solvable
    names = ["baker", "smith", "pilot"]
    solvable = {"solvable_occupations": names}
    known = [bias("baker", "smith"), bias("smith", "pilot")]
    for one in known:
        one["by_form"] = {name: form | solvable for name, form in one["by_form"].items()}
    labels = ("spanbert-base", "spanbert-large")
    runs = [score_run(n, place, bias=b) for n, b in zip(labels, known, strict=True)]
    line = lines(TABLES["winopron:5"], *runs)["spanbert-base-large", "nominative_he"]
    assert line.overlap["unsigned"]["jaccard"] == line.overlap["signed"]["jaccard"] == 1 / 3
    # of the three ways to choose two, all but one have one in common with the other
    assert line.overlap["unsigned"]["expected"] == pytest.approx(1 / 3 * 2 / 3 + 1 / 3)
    mine = {"spanbert-base": [base], "spanbert-large": [score_run("x", place, bias=bias())]}
    assert lines(TABLES["winopron:5"], named=mine)["spanbert-base-large", "possessive_xe"].ours == 0


SAMPLE = dict(TABLES["winopron:4"].rows["spanbert-large"].occupations)


def test_the_sample_of_biases_agrees_with_the_text() -> None:
    # section 5.2: secretary with he, him and his; hairdresser and painter with she; baker with
    # their and xyr
    assert all("-secretary" in SAMPLE[f"{case}_he"] for case in CASES)
    assert {"+hairdresser", "+painter"} <= {*SAMPLE["nominative_she"]}
    assert all("+baker" in SAMPLE[f"possessive_{name}"] for name in ("they", "xe"))
    assert set(SAMPLE) == set(TABLES["winopron:4"].figures)
    # Table 6: the biases of she and her share no occupation, those of she and possessive her do
    bare = {form: {name.lstrip("+-") for name in names} for form, names in SAMPLE.items()}
    assert not bare["nominative_she"] & bare["accusative_she"]
    assert not bare["accusative_she"] & bare["possessive_she"]
    assert bare["nominative_she"] & bare["possessive_she"]


def test_table_4_names_what_ours_lacks() -> None:
    place = ("winopron", "double", "test")
    forms = {f"{case}/{name}": {"positive": [], "negative": []} for case in CASES for name in SETS}
    forms["nominative/he"] = {"positive": ["engineer", "baker"], "negative": ["painter"]}
    forms["possessive/xe"] = {"positive": ["engineer", "baker"], "negative": []}
    large = score_run("spanbert-large", place, bias={"by_form": forms})
    found = lines(TABLES["winopron:4"], large)
    line = found["spanbert-large", "nominative_he"]
    assert line.ours == ("+engineer", "+baker", "-painter")
    assert line.difference == ("receptionist", "-secretary")
    # engineer has the other sign here
    lacking = ("+advisor", "-engineer", "-supervisor")
    assert found["spanbert-large", "possessive_xe"].difference == lacking
    other = score_run(
        "other", place, bias={"by_form": forms | {"nominative/he": forms["possessive/xe"]}}
    )
    found = lines(TABLES["winopron:4"], large, other)
    assert found["other", "nominative_he"].paper is None
    both = lines(TABLES["winopron:4"], named={"spanbert-large": [large, other]})
    assert both["spanbert-large", "nominative_he"].ours == ("+engineer", "+baker")
    (made,) = reproduce([TABLES["winopron:4"]], [large])
    row = next(row for row in made.to_table().rows if row[1] == "Nominative he")
    assert row[-1] == "without receptionist, -secretary"
    json.dumps(made.to_json())


def test_figure_8_has_the_numbers_of_the_text() -> None:
    rows = TABLES["ruff:figure-8"].rows
    easiest = {
        key: row.paper["distractors_0"] for key, row in rows.items() if "distractors_0" in row.paper
    }
    # section 7: the small encoder exceeds the decoder that is 500 times larger
    assert easiest["roberta-base"] > easiest["opt-66b"] > easiest["opt-125m"]
    hardest = {
        key: row.paper["distractors_5"] for key, row in rows.items() if "distractors_5" in row.paper
    }
    assert hardest["mosaicbert"] > hardest["llama-70b"]


def test_curves_take_each_point_from_its_config() -> None:
    split = "seed_13+seed_17+seed_19"
    runs = [score_run("mine", ("ruff", f"distractors_{k}", split), accuracy=1 - k / 10)
            for k in (0, 1, 5)]  # fmt: skip
    found = lines(TABLES["ruff:figure-7"], *runs)
    values = [found["mine", f"distractors_{k}"].ours for k in range(6)]
    assert values == [1, 0.9, None, None, None, 0.5]


def test_winoprons_table_1_is_computed_from_both_datasets(built: Callable[[str], Path]) -> None:
    command = ["reproduce", "winopron:1", "--json", "--dataset", built("winopron")]
    half = json.loads(pronominal(*command).stdout)[0]["lines"]
    assert {line["ours"] for line in half} == {None, 120}
    whole = pronominal(*command, "--dataset", built("winogender"))
    assert whole.returncode == 0
    found = json.loads(whole.stdout)[0]["lines"]
    assert len(found) == 6
    assert {line["difference"] for line in found} == {0}
    with pytest.raises(InputError, match="holds winogender"):
        reproduce(paper_tables("ruff"), datasets=[str(built("winogender"))])


def ruff(folder: Path, rows: dict[str, int]) -> str:
    """Write splits of as many rows, in the form of RUFF's build."""
    metadata = {b"pronominal": json.dumps({"dataset": "ruff"}).encode()}
    for name, number in rows.items():
        file = folder / f"{name}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": range(number)}).replace_schema_metadata(metadata), file)
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: no_context\n  default: true\n---\n"
    )
    return str(folder)


SEEDS = "seed_13+seed_17+seed_19"


def fidelity(label: str, k: int, accuracy: float, **by_set: float) -> Run:
    sets = {name: {"accuracy": value} for name, value in by_set.items()}
    place = ("ruff", f"distractors_{k}", SEEDS)
    return score_run(label, place, accuracy=accuracy, by_pronoun_set=sets)


def test_a_change_is_against_another_figure_of_the_row() -> None:
    runs = [score_run("lingmess", ("winogender", config, "test"), overall={"f1": f1})
            for config, f1 in (("original", 0.85), ("with_xe", 0.7))]  # fmt: skip
    runs.append(score_run("lingmess", ("winopron", "double", "test"), overall={"f1": 0.65}))
    found = lines(TABLES["winopron:2"], *runs)
    assert found["lingmess", "change"].ours == pytest.approx(-20)
    assert found["lingmess", "change"].difference == pytest.approx(1.1)
    assert found["lingmess", "change_with_xe"].ours == pytest.approx(-5)
    why = str(found["lingmess", "change"].interval_missing)
    assert "different rows" in why
    assert "pronominal report" not in why  # it compares systems on the same rows
    assert lines(TABLES["winopron:2"], runs[0])["lingmess", "change"].ours is None


def test_the_drop_is_a_mean_over_models() -> None:
    scores = {"bert-base": (0.9, 0.5), "roberta-base": (0.8, 0.6), "opt-125m": (0.6, 0.3)}
    runs = [fidelity(m, k, pair[k]) for m, pair in scores.items() for k in (0, 1)]
    runs += [fidelity("opt-350m", 0, 0.7), fidelity("mine", 0, 0.1), fidelity("mine", 1, 0.1)]
    found = lines(TABLES["ruff:figure-7"], *runs)
    drop = found["all", "change_1"]
    assert drop.ours == pytest.approx((-0.4 - 0.2 - 0.3) / 3)
    assert drop.sd == pytest.approx(0.1)
    assert drop.ends == pytest.approx((-0.4, -0.2))
    assert drop.difference == pytest.approx(drop.ours + 0.34)
    assert drop.runs == ("bert-base", "roberta-base", "opt-125m")
    assert found["encoders", "change_1"].ours == pytest.approx(-0.3)
    assert found["decoders", "distractors_0"].ours == pytest.approx(0.65)
    assert (found["family-opt", "change_1"].sd, found["family-opt", "change_1"].ends) == (
        None,
        None,
    )
    (made,) = reproduce([TABLES["ruff:figure-7"]], runs)
    shown = made.to_table()
    assert any("-0.300 ± 0.100 (-0.400 to -0.200)" in row for row in shown.rows)
    assert any(note.endswith("the lowest and the highest in brackets.") for note in shown.notes)
    assert found["family-pythia", "distractors_0"].ours is None
    assert found["opt-125m", "change_1"].ours == pytest.approx(-0.3)
    assert (found["opt-125m", "distractors_0"].name, found["mine", "distractors_0"].name) == (
        "OPT-125M",
        "mine",
    )
    assert found["opt-125m", "distractors_0"].parameters == 125


def test_pronoun_sets_are_tested_over_models() -> None:
    pytest.importorskip("scipy")
    accuracies = {"bert-base": 0.9, "roberta-base": 0.8, "opt-125m": 0.7, "opt-350m": 0.75}
    runs = [fidelity(m, 0, a, he=a, she=a - 0.1 - a / 100, they=a - 0.3) for m, a in
            accuracies.items()]  # fmt: skip
    found = lines(TABLES["ruff:figure-6"], *runs)
    line = found["all", "he_she"]
    assert line.ours == pytest.approx(0.1 + sum(accuracies.values()) / 400)
    # the same models on both sides differ less than models do
    assert line.tests["paired"] < 1e-4
    assert line.tests["welch"] > 0.05
    assert (found["all", "he"].tests, found["all", "they_xe"].ours) == (None, None)
    (made,) = reproduce([TABLES["ruff:figure-6"]], runs)
    assert any("he - she: over 4 models, p = " in note for note in made.to_table().notes)
    alike = replace(line, tests={"welch": None, "paired": None})
    notes = replace(made, lines=(alike,)).to_table().notes
    assert not any("–" in note for note in notes)
    assert any("no p by Welch's t-test, for " in note for note in notes)
    assert "The p-values over models are not corrected for their number." in notes
    json.dumps(made.to_json())


def test_the_trend_is_a_rank_correlation_with_size() -> None:
    sizes = {"opt-125m": 0.5, "opt-350m": 0.6, "opt-1.3b": 0.7, "bert-base": 0.9}
    found = lines(TABLES["ruff:figure-8"], *(fidelity(m, 0, a) for m, a in sizes.items()))
    assert found["family-opt", "size_0"].ours == pytest.approx(1)
    assert found["all", "size_0"].ours == pytest.approx(-0.2)  # the smallest is the best
    assert found["encoders", "size_0"].ours is None
    assert found["opt-125m", "size_0"].ours is None
    ties = fidelity("opt-2.7b", 0, 0.7)
    found = lines(TABLES["ruff:figure-8"], *(fidelity(m, 0, 0.5) for m in sizes), ties)
    assert found["family-opt", "size_0"].ours == pytest.approx(3 / 15**0.5)


def test_ruffs_models_are_those_of_its_table_2() -> None:
    models = TABLES["ruff:figure-8"].models
    assert len(models) == 37 - 8  # the others are prompted
    assert len({model.family for model in models.values()}) == 9 - 2
    assert min(model.parameters for model in models.values()) == 11
    assert max(model.parameters for model in models.values()) == 70_000
    groups = {row.over for table in TABLES.values() for row in table.rows.values() if row.over}
    assert all(any(model.belongs_to(group) for model in models.values()) for group in groups)


def test_winoprons_earlier_version_has_the_same_templates_and_biases() -> None:
    for one, other in (("winogender:1", "winopron:1"), ("winogender:3", "winopron:4")):
        assert TABLES[one].rows == TABLES[other].rows


def test_ruffs_table_1_counts_rows_without_reading_them(tmp_path: Path) -> None:
    rows = {"no_context/test": 180}
    for k in range(6):
        rows |= {f"distractors_{k}/test-{part}": 10 + part for part in range(2)}
        rows |= {f"distractors_{k}/seed_{seed}": 2160 for seed in (13, 17, 19)}
    found = lines(TABLES["ruff:1"], datasets=[ruff(tmp_path / "ruff", rows)])
    assert found["no_context", "instances"].difference == 0
    assert (found["no_context", "sampled"].paper, found["no_context", "sampled"].ours) == (
        None,
    ) * 2
    for k in range(6):
        assert found[f"distractors_{k}", "sampled"].difference == 0
        assert found[f"distractors_{k}", "instances"].ours == 21
    (made,) = reproduce([TABLES["ruff:1"]], datasets=[ruff(tmp_path / "ruff", rows)])
    assert len(made.unexplained) == 6
    some = {name: number for name, number in rows.items() if "distractors_5/test" not in name}
    found = lines(TABLES["ruff:1"], datasets=[ruff(tmp_path / "some", some)])
    assert found["distractors_5", "instances"].ours is None


def test_a_figure_of_one_system_is_no_difference_and_nothing_impossible() -> None:
    tables = [table for name in PAPERS for table in paper_tables(name)]
    figures = [one for table in tables for one in table.system_figures()]
    found = {(one.table.name, one.key, one.figure.heading) for one in figures}
    assert ("winopron:2", "lingmess", "WinoPron F1") in found
    assert ("winopron:2", "lingmess", "ΔF1") not in found
    assert ("knowref:4", "e2e-conll", "Consistency") not in found  # ruled out by its Table 3
    assert {"ruff:figure-8", "knowref:5"} <= {table for table, _, _ in found}
    rows = {(table, key) for table, key, _ in found}
    assert ("knowref:5", "bert-knowref-switching") in rows
    assert not [table for table, _ in rows if table.startswith("winogender:")]  # an earlier version
