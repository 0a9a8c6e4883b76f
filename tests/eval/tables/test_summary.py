"""What is printed first: one table that fits, and sentences that say what is in the scores."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pronominal.eval.statistics.paired_tests import AGAINST, PLANNED, against
from pronominal.eval.statistics.parts import AGAINST_REST, with_rest
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.comparison import measure_table
from pronominal.eval.tables.findings import below_chance, comparisons, findings, planned_comparisons
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary import LINES, WIDTH, summarised, terminal_width
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.task import Task

ACCURACY = Measure(
    "accuracy",
    "Accuracy",
    ("accuracy",),
    chance=0.5,
    divisions={"pronoun_set": ("by_pronoun_set", "*", "accuracy")},
)
PAIRS = Measure("pairs", "Pairs", ("pairs",), chance=0.25)
COLUMNS = (
    SummaryColumn(ACCURACY, division="pronoun_set", group="by pronoun set"),
    SummaryColumn(PAIRS, heading="both", group="right in"),
)


def block(value: float, half: float = 0.05, **more: Any) -> dict[str, Any]:
    ends = [max(0.0, value - half), min(1.0, value + half)]
    return {"accuracy": value, "n": 100, "units": 40, "interval": {"accuracy": ends}, **more}


def scores(value: float, xe: float, pairs: float = 0.5) -> Scores:
    whole = np.full((2, 40), 10.0)
    sets = with_rest([block(value), block(xe)], whole * [[value], [xe]], whole)
    made = block(value, by_pronoun_set=dict(zip(("he", "xe"), sets, strict=True)), pairs=pairs)
    made["interval"]["pairs"] = [pairs - 0.05, pairs + 0.05]
    made["intervals"] = {"level": 0.95, "units": 40, "unit": "occupation"}
    return Scores(made)


def compared(given: Mapping[str, Scores], margin: float | None = None) -> dict[str, Scores]:
    right = {name: round(40 * one["accuracy"]) for name, one in given.items()}
    units = {name: [float(unit < n) for unit in range(40)] for name, n in right.items()}
    arrays = {name: np.asarray(shares) for name, shares in units.items()}
    tests = against({"accuracy": arrays}, margin=margin)
    return {name: one | {AGAINST: tests[name]} for name, one in given.items()}


def summary(given: Mapping[str, Scores]) -> Any:
    return summarised(
        *("mine/default/test: 100 rows", ACCURACY, COLUMNS, given),
        units="occupations",
        remarks=["A remark."],
        notes=["A note."],
        rest="The rest.",
    )


@pytest.mark.parametrize("systems", [1, 2, 9, 10, 40])
@pytest.mark.parametrize("letters", [1, 12, 60])
def test_the_table_fits(systems: int, letters: int) -> None:
    given = {f"{'s' * letters}{number}": scores(0.6, 0.5) for number in range(systems)}
    made = summary(given)
    about, table, *_ = str(made).split("\n\n")
    assert about == "mine/default/test: 100 rows"
    assert len(table.splitlines()) <= LINES
    assert max(map(len, str(made).splitlines())) <= WIDTH
    assert ("more systems" in table) == (systems > 9)
    assert "by pronoun set" in table.splitlines()[0]
    assert "The rest.\n" in str(made)


def test_columns_that_do_not_fit_are_left_out() -> None:
    parts = {f"set_number_{number:02}": block(0.6) for number in range(20)}
    made = str(summary({"a": Scores(block(0.6, by_pronoun_set=parts))}))
    assert max(map(len, made.splitlines())) <= WIDTH
    left_out = made[made.index("Left out: ") :]
    shown = made[made.index("System") : made.index("───")]
    for part in parts:
        assert (part in shown) != (part in left_out)
    assert "60.0 [55.0, 65.0]" in made


def of_sets(number: int, **more: Any) -> Any:
    parts = {f"set{place:02}": block(0.6, **more) for place in range(number)}
    return summary({"a-system-of-mine": Scores(block(0.6, by_pronoun_set=parts, **more))})


def test_intervals_give_way_before_columns_do_and_never_that_of_the_headline() -> None:
    made = str(of_sets(7))
    assert "Left out" not in made
    assert "set06" in made[made.index("System") : made.index("───")]
    assert "No interval for set00" in made
    narrow = str(of_sets(10))
    assert "60.0 [55.0, 65.0]" in narrow
    assert narrow.count("set09") == 1
    assert narrow.count("set01") == 2  # its heading, and why it has no interval


def test_a_wider_terminal_and_latex_have_more_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "220")
    assert terminal_width() == WIDTH
    of_rows = replace(of_sets(1), about="mine/default/test: 100 rows, " + "word " * 20)
    assert len(of_rows.opening.splitlines()) == 2
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    assert terminal_width() == 220
    assert len(of_rows.opening.splitlines()) == 1
    for shown in (str(of_sets(9)), of_sets(9).to_latex()):
        assert shown.count("[55.0, 65.0]") == 10
        assert "No interval" not in shown
        assert "Left out" not in shown


def test_deviations_are_explained_and_every_figure_of_few_units_is_marked() -> None:
    made = of_sets(7, sd=0.01, units=4)
    for shown in (str(made), made.to_latex()):
        assert "Sample standard deviation over the samples" in shown
        assert "Of too few independent units" in shown
    (row,) = made.in_terminal().rows
    assert row[1] == "60.0‡ ±1.0 [55.0, 65.0]"
    assert row[2:] == ("60.0‡",) * 7


def test_what_only_a_terminal_or_a_sentence_has_is_not_in_other_tables() -> None:
    parts = {f"set{number:02}": block(0.6) for number in range(8)}
    blocks = {name: Scores(block(value, by_pronoun_set=parts)) for name, value in
              (("a", 0.5), ("b", 0.9))}  # fmt: skip
    for one in blocks.values():
        one.content["intervals"] = {"level": 0.95, "units": 40, "unit": "occupation"}
    made = summary(compared(blocks))
    assert "--full" in str(made)
    for written in (made.to_latex(), made.to_markdown()):
        assert "--full" not in written
    assert "Holm" in made.to_markdown()
    assert "Holm" not in made.to_latex()
    assert made.to_markdown().count("mine/default/test") == 1


def test_sentences_compare_the_best_with_the_others() -> None:
    given = compared({"a": scores(0.5, 0.5), "b": scores(0.9, 0.9), "c": scores(0.875, 0.875)})
    better, alike, rest = comparisons(ACCURACY, given)
    assert better.startswith("b is better than a by 40.0 [")
    assert alike.startswith("No difference was found between b and c (+2.5 [")
    assert rest == "1 further comparison is in the paired tests."
    assert len([*comparisons(ACCURACY, compared({one: given[one] for one in "ab"}))]) == 1


def test_equal_figures_are_called_the_same() -> None:
    given = compared({one: scores(0.9, 0.9) for one in "abc"})
    same, rest = comparisons(ACCURACY, given)
    assert same.startswith("a has the same figure here as b (+0.0 [")
    assert ", p = 1.000) and c (+0.0 [" in same
    assert rest == "1 further comparison is in the paired tests."


def test_few_units_are_said_to_show_nothing() -> None:
    given = compared({"a": scores(0.9, 0.9), "b": scores(0.9, 0.9), "c": scores(0.1, 0.1)})
    for one in given.values():
        for test in one[AGAINST]["accuracy"].values():
            test["n"] = 4
    told, rest = comparisons(ACCURACY, given)
    assert told.startswith("Fewer than 10 units do not tell which is better: a against b (+0.0 [")
    assert " and c (+80.0 [" in told
    assert rest == "1 further comparison is in the paired tests."


def test_comparisons_are_further_ones_only_after_another() -> None:
    given = compared({"a": scores(0.5, 0.5), "b": scores(0.9, 0.9)})
    none = {"interval": {"difference": None}, "interval_missing": {"difference": "why"}}
    for label, other in ("ab", "ba"):
        given[label][AGAINST]["accuracy"][other] |= none
    told = "1 comparison is in the paired tests, without a verdict: why."
    assert [*comparisons(ACCURACY, given)] == [told]


def test_pairs_that_no_sentence_compares_are_counted() -> None:
    shares = dict(zip("abcdefg", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), strict=True))
    *told, rest = comparisons(ACCURACY, compared({one: scores(x, x) for one, x in shares.items()}))
    assert len(told) == 4
    assert rest == "17 further comparisons are in the paired tests."


def test_what_was_planned_comes_first_and_all_else_is_exploratory() -> None:
    given = compared({"a": scores(0.5, 0.5), "b": scores(0.9, 0.9), "c": scores(0.875, 0.875)})
    planned = {label: one | {PLANNED: {AGAINST: one[AGAINST]}} for label, one in given.items()}
    made = summary(planned)
    assert made.planned[0].startswith("Planned: b is better than a by 40.0 [")
    assert made.planned[-1].startswith("Planned: no difference was found between b and c (+2.5 [")
    assert all(sentence.startswith("Exploratory: ") for sentence in made.sentences)
    for shown in (str(made), made.to_markdown(), made.to_html()):
        assert shown.rindex("Planned: ") < shown.index("Exploratory: ")
        assert shown.index("Exploratory: ") < shown.index("System")


def test_every_planned_measure_is_answered_and_its_margin() -> None:
    given = compared({"a": scores(0.875, 0.5), "b": scores(0.9, 0.9)}, margin=0.01)
    undefined = {"interval": {"difference": None}, "interval_missing": {"difference": "why"}}
    planned = {}
    for label, one in given.items():
        test = one[AGAINST]["accuracy"]
        none = {other: found | undefined for other, found in test.items()}
        tests = {"bias": none, "of_mine": test, "accuracy": test}
        planned[label] = one | {PLANNED: {AGAINST: tests}}
    bias, own, accuracy = planned_comparisons(ACCURACY, [ACCURACY, PAIRS], planned)
    assert bias.startswith("Planned, by bias: a and b cannot be compared: why.")
    assert own.startswith("Planned, by of mine: no difference was found between b and a (")
    assert accuracy.startswith("Planned: no difference was found between b and a (+2.5 [")
    assert ", not shown within ±1 [" in accuracy


def test_a_verdict_needs_an_interval_that_leaves_0_out() -> None:
    given = compared({"a": scores(0.5, 0.5), "b": scores(0.9, 0.9)})
    for label, other in ("ab", "ba"):
        test = given[label][AGAINST]["accuracy"][other]
        test |= {"p_holm": 0.008, "difference": 0.012, "interval": {"difference": [-0.074, 0.099]}}
    (told,) = comparisons(ACCURACY, given)
    first, second = told.split("p = 0.008")
    assert first == "No difference was found between b and a (+1.2 [-7.4, +9.9], "
    assert second == ", but the interval holds 0)."
    assert "| b | 90.0 [" in summary(given).to_markdown()


def test_a_measure_of_answered_rows_alone_says_how_many() -> None:
    answered = Measure("answered", "Answered", ("answered",))
    column = SummaryColumn(replace(PAIRS, answered=answered))
    one = scores(0.9, 0.9, pairs=0.1) | {"answered": 0.2}
    one["interval"]["answered"] = [0.1, 0.3]
    told = [*below_chance([column], {"a": one})]
    assert told == ["Pairs of a: 10.0 [5.0, 15.0] (a answered 20.0 [10.0, 30.0]); guessing "
                    "gets 25."]  # fmt: skip


def test_a_command_to_copy_is_not_broken() -> None:
    command = "'pronominal report runs-of-a-long-name another-folder'"
    for words in range(1, 20):
        told = str(replace(summary({"a": scores(0.6, 0.6)}), rest=f"{'word ' * words}{command}."))
        assert f"{command}." in told


def test_one_unit_is_one_and_p_is_explained_where_there_is_one() -> None:
    one = scores(0.6, 0.6)
    assert "interval over 40 occupations.\n" in str(summary({"a": one}))
    assert "Holm" not in str(summary({"a": one}))
    assert "Holm" in str(summary(compared({"a": one, "b": one})))
    single = Scores({**one.content, "intervals": {**one["intervals"], "units": 1}})
    assert "interval over 1 occupation." in str(summary({"a": single}))


def test_intervals_are_shown_where_there_is_room() -> None:
    few = str(summary({"a": scores(0.6, 0.5)}))
    assert "No interval" not in few
    assert "50.0‡ [45.0, 55.0]" in few or "50.0 [45.0, 55.0]" in few
    parts = {name: block(0.6) for name in ("he", "she", "they", "xe", "ey")}
    many = summary({"a": Scores(block(0.6, by_pronoun_set=parts))})
    (note,) = (note for note in many.in_terminal().notes if "No interval" in note)
    assert note.startswith("No interval for he, she, they, xe, ey: no room; see --full")
    assert "No interval" not in many.to_markdown()


def test_a_shorter_heading_is_said_to_be_what_other_tables_have() -> None:
    one = summary({"a": scores(0.6, 0.5)})
    assert "Elsewhere 'both' is Pairs." in one.in_terminal().notes
    assert "'both' is Pairs" not in one.to_markdown()
    assert "Pairs" in one.full.columns


def test_equivalent_systems_are_called_so() -> None:
    given = compared({"a": scores(0.875, 0.875), "b": scores(0.9, 0.9)}, margin=0.5)
    (told,) = comparisons(ACCURACY, given)
    assert told.startswith("b and a are equivalent: closer than 50 points (+2.5 [")
    assert ", within ±50 [" in told


def test_losses_chance_and_both_are_named() -> None:
    given = {"a": scores(0.9, 0.6), "b": scores(0.9, 0.5, pairs=0.1), "c": scores(0.5, 0.5)}
    told = [*findings(ACCURACY, COLUMNS, given), *below_chance(COLUMNS, given)]
    assert told == [
        "On xe, b loses 40.0 [34.9, 45.1] (p < 0.001) and a 30.0 [24.9, 35.1] (p < 0.001), "
        "compared with all their other pronoun sets.",
        "No difference from guessing (50) was found for c.",
        "Pairs of b: 10.0 [5.0, 15.0]; guessing gets 25.",
    ]


def test_what_holds_of_several_systems_or_parts_alike_is_said_once() -> None:
    parts = np.array([[20.0] * 40, [10.0] * 40, [10.0] * 40])
    sets = with_rest([block(1.0), block(0.5), block(0.5)], parts, parts * 0 + 20)
    by_set = dict(zip(("he", "she", "xe"), sets, strict=True))
    given = {one: Scores(block(0.3, by_pronoun_set=by_set)) for one in "ab"}
    lost, chance = findings(ACCURACY, COLUMNS, given)
    assert lost.startswith("a and b lose 25.0 [")
    assert lost.endswith(") on each of she and xe, compared with all their other pronoun sets.")
    assert chance == "a and b are worse than guessing, which gets 50."


def lost(p: float, low: float = -0.2, n: int = 40) -> Scores:
    one = scores(0.9, 0.8)
    rest = {"n": n, "difference": -0.1, "interval": {"difference": [low, low + 0.19]}, "p": p}
    one["by_pronoun_set"]["xe"] |= {AGAINST_REST: rest}
    return one


def test_a_part_is_lower_only_where_the_correction_the_interval_and_the_units_say_so() -> None:
    def told(**systems: Scores) -> str:
        return " ".join(findings(ACCURACY, COLUMNS, systems))

    assert "a loses 10.0 [1.0, 20.0] (p = 0.010) on xe, compared" in told(a=lost(0.01))
    # of ten systems, p-values as small are chance; so is a part of few units
    assert "lose" not in told(**{f"s{n}": lost(0.01) for n in range(10)})
    assert "lose" not in told(a=lost(0.01, n=9))
    assert "lose" not in told(a=lost(0.01, low=-0.18))


def test_what_is_of_few_units_is_no_finding() -> None:
    few = np.full((2, 4), 10.0)
    sets = with_rest([block(0.9), block(0.1)], few * [[0.9], [0.1]], few)
    told = block(0.9, by_pronoun_set=dict(zip(("he", "xe"), sets, strict=True)))
    assert [*findings(ACCURACY, COLUMNS, {"a": Scores(told)})] == []


def test_the_best_is_bold_only_beyond_chance() -> None:
    clear = summary(compared({"a": scores(0.5, 0.5), "b": scores(0.9, 0.5)}))
    assert "**90.0** [85.0, 95.0]" in clear.to_markdown()
    assert "b & \\textbf{90.0} & " in clear.to_latex()
    assert r"\label{tab:mine-default-test}" in clear.to_latex()
    assert r"\caption{mine/default/test: 100 rows}" in clear.to_latex()
    close = summary(compared({"a": scores(0.875, 0.5), "b": scores(0.9, 0.5)}))
    assert "**9" not in close.to_markdown()
    assert "textbf" not in close.to_latex()


def test_of_many_systems_the_best_are_shown() -> None:
    given = {f"s{n:02}": scores(n / 40, n / 40) for n in range(20)}
    task = Task(
        name="mine", score=lambda answered: Scores({}), measures=(ACCURACY,), headline="accuracy"
    )
    printed = str(task.summarise(given, "about", "rest")).split("\n\n")[1]
    assert [label for label in given if f"\n{label} " in printed] == [*given][-8:]
    assert "… and 12 more systems" in printed


def test_labels_that_differ_at_their_ends_stay_apart() -> None:
    given = {f"{'a' * 40}-seed-{n}": scores(0.9, 0.6) for n in (13, 17)}
    printed = str(summary(given))
    assert "seed-13" in printed.splitlines()[4] + printed.splitlines()[5]
    assert "seed-17" in printed.splitlines()[5] + printed.splitlines()[6]


def test_a_sentence_names_five_systems_at_most() -> None:
    given = {f"s{n:02}": scores(0.5, 0.5) for n in range(20)}
    told = [*findings(ACCURACY, COLUMNS, given)]
    assert told[0].endswith(" was found for s00, s01, s02, s03, s04 and 15 more.")


def test_html_holds_no_markup_of_strangers() -> None:
    made = summary({"<b>x": scores(0.9, 0.6)}).to_html()
    assert "&lt;b&gt;x" in made
    assert ">Accuracy</th>" in made


def test_a_table_says_which_measures_are_of_another_number() -> None:
    pairs = Measure("both", "Both", ("consistency", "both"))
    one = block(0.6) | {"consistency": {"n": 90, "pairs": 90, "both": 0.5}}
    (made,) = measure_table("Performance", [pairs, ACCURACY], "rows", {"a": Scores(one)})
    assert made.rows[0][1] == "100"
    assert "Both: n 90." in made.notes
