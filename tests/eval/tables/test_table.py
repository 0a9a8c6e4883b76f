import csv
import io
import re
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from pronominal.decisions import NONE, Decision
from pronominal.eval.scores.winopron.score import score
from pronominal.eval.scores.winopron.task import TASK as WINOPRON
from pronominal.eval.tables.table import LATEX_GAP, LATEX_LETTERS, Table
from pronominal.pronouns import CASES
from tests.eval.scores.tables import tables_of

SMALL = Table(
    "50% & more",
    ("System", "Accuracy"),
    (("first_mention", "50.0 [40.0, 60.0]"), ("a|b", "–"), ("c", "0.0↓"), ("[d]", "100.0†")),
    ("† is a mark.",),
)


def scores(sets: tuple[str, ...] = ("he", "xe"), cases: tuple[str, ...] = CASES) -> dict[str, Any]:
    """Three systems on 30 pairs; with one case in a pair or with two."""
    table = pa.Table.from_pylist(
        [
            {
                "id": f"{pair}-{label}-{name}",
                "label": label,
                "case": cases[(pair + (label if pair < 2 else 0)) % len(cases)],
                "pronoun_set": name,
                "template_id": f"{pair}-{label}",
                "pair_id": str(pair),
                "occupation": str(pair),
                "candidates": [{"start": 0}, {"start": 1}],
            }
            for pair in range(30)
            for label in (0, 1)
            for name in sets
        ]
    )
    labels, count = table["label"].to_pylist(), table.num_rows
    return {
        "gold": score(table, [Decision(label) for label in labels]),
        "silent": score(table, [NONE] * count),
        "first": score(table, [Decision(0)] * count),
    }


def cells(table: Table, system: str) -> dict[str, str]:
    row = next(row for row in table.rows if row[0] == system)
    return dict(zip(table.columns, row, strict=True))


def printed(table: Table, width: int) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(table.to_rich())
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_columns_that_go_below_stand_beside_all_that_names_a_row() -> None:
    cases = [(system, case) for system in ("one", "other") for case in ("nominative", "possessive")]
    sets = ("he", "she", "they", "xe")
    rows = tuple((*names, *(f"{number}.5" for number, _ in enumerate(sets))) for names in cases)
    wide = Table("Accuracy", ("System", "Case", *sets), rows)
    parts = [part for part in printed(wide, 34).split("\n\n") if part.strip()]
    assert len(parts) == 2
    assert all(part.count("nominative") == 2 for part in parts)
    named_once = Table("Accuracy", ("System", "Case", *sets), rows[::2])
    first, second = (part for part in printed(named_once, 34).split("\n\n") if part.strip())
    assert "nominative" in first
    assert "nominative" not in second


def test_performance() -> None:
    performance, *_ = tables_of(WINOPRON, scores())
    gold, first = cells(performance, "gold"), cells(performance, "first")
    assert gold["Accuracy"] == "100.0 [88.6, 100.0]"
    assert first["n"] == "120"
    # right in half of the sentences about every occupation, which is not to say in half of all
    assert first["Precision"] == first["Recall"] == first["F1"] == "50.0 [33.2, 66.8]"
    assert first["None"] == "0.0 [0.0, 11.4]"
    assert cells(performance, "silent")["Answered"] == "0.0 [0.0, 11.4]"
    assert "Differ" not in performance.columns


def test_precision_without_choices_is_marked_and_explained() -> None:
    performance, *_ = tables_of(WINOPRON, scores())
    assert cells(performance, "silent")["Precision"] == "100.0†"
    assert any(note.startswith("†") for note in performance.notes)
    performance, *_ = tables_of(WINOPRON, {"gold": scores()["gold"]})
    assert not any("†" in note for note in performance.notes)


def test_intervals_are_explained() -> None:
    compared = tables_of(WINOPRON, scores())
    note = "[ ]: 95% interval over 30 occupations."
    assert all(note in table.notes for table in compared[:3])


def test_readings_that_differ_have_a_column() -> None:
    compared = scores()
    compared["first"]["readings_differ"] = 7
    performance, *_ = tables_of(WINOPRON, compared)
    assert cells(performance, "first")["Differ"] == "7"
    assert cells(performance, "gold")["Differ"] == "–"


def test_one_column_for_each_set_that_is_there() -> None:
    _, by_form, *_ = tables_of(WINOPRON, scores(sets=("he", "ze")))
    assert by_form.columns == ("System", "nominative", "accusative", "possessive", "he", "ze")
    assert cells(by_form, "first")["he"].startswith("50.0 [")


def test_undefined_values_are_dashes() -> None:
    _, by_form, *_ = tables_of(WINOPRON, scores(cases=("nominative",)))
    assert cells(by_form, "gold")["nominative"].startswith("100.0 [")
    assert "accusative" not in by_form.columns


def test_consistency_is_compared_with_chance() -> None:
    _, _, consistency, *_ = tables_of(WINOPRON, scores(cases=("nominative",)))
    assert cells(consistency, "first")["Disambiguation consistency"] == "0.0↓ [0.0, 11.4]"
    assert cells(consistency, "first")["Pronoun consistency"].startswith("50.0 [")
    both = "Pronoun consistency, Disambiguation consistency"
    assert f"{both}: chance is 25; ↓: the whole interval is below." in consistency.notes
    assert not any("left out" in note for note in consistency.notes)


def test_groups_left_out_are_told() -> None:
    _, _, consistency, *_ = tables_of(WINOPRON, scores())
    assert "Disambiguation consistency: 8 groups of one sentence are left out." in consistency.notes


def test_tables_of_groups_without_members() -> None:
    _, _, consistency, *_ = tables_of(WINOPRON, scores(sets=("he",)))
    assert cells(consistency, "gold")["Pronoun consistency"] == "–"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_cell_is_cut_in_a_terminal(width: int) -> None:
    for table in tables_of(WINOPRON, scores()):
        lines = printed(table, width).splitlines()
        assert max(map(len, lines)) <= width
        for cell in (*table.columns, *(cell for row in table.rows for cell in row)):
            assert any(cell in line for line in lines)


def test_the_headline_and_the_share_answered_stand_in_one_line() -> None:
    compared = scores(sets=("he", "she", "they", "xe"))
    compared["first-mention"] = {**compared.pop("first"), "readings_differ": 1440}
    performance, *_ = tables_of(WINOPRON, compared)
    lines = printed(performance, 120).splitlines()
    first = next(line for line in lines if "System" in line)
    assert first.split()[:4] == ["System", "n", "Accuracy", "Answered"]
    assert max(map(len, lines)) <= 120


def test_brackets_of_a_name_are_no_markup() -> None:
    assert "[d]" in printed(SMALL, 80)


def test_markdown() -> None:
    assert SMALL.to_markdown().splitlines() == [
        "**50% & more**",
        "",
        "| System | Accuracy |",
        "| --- | ---: |",
        "| first_mention | 50.0 [40.0, 60.0] |",
        r"| a\|b | – |",
        "| c | 0.0↓ |",
        "| [d] | 100.0† |",
        "",
        "- † is a mark.",
    ]


def test_latex() -> None:
    latex = SMALL.to_latex()
    assert r"\caption{50\% \& more}" in latex
    assert r"first\_mention & 50.0 [40.0, 60.0] \\" in latex
    assert r"c & 0.0$^\downarrow$ \\" in latex
    assert r"\begin{tabular}{lr}" in latex
    assert [f"\\{rule}" in latex for rule in ("toprule", "midrule", "bottomrule")] == [True] * 3
    assert latex.isascii()


def test_latex_is_no_wider_than_the_text() -> None:
    ends = "88.8 [80.0, 95.5]"
    names = ("System", "Accuracy", "he", "she", "they", "xe", "Sets right", "Pairs right")
    wide = Table("Wide", names, ((("toy-nine-in-ten", *(ends,) * 7)),), best=frozenset({(0, 2)}))
    latex = wide.to_latex()
    assert r"\begin{adjustbox}{max width=\textwidth}" in latex
    figures, intervals = (line for line in latex.splitlines() if line.startswith(("toy", " &")))
    assert figures == rf"toy-nine-in-ten & 88.8 & \textbf{{88.8}}{' & 88.8' * 5} \\"
    assert intervals == r" & \scriptsize [80.0, 95.5]" * 7 + r" \\"
    assert r"\shortstack[r]{Sets\\right}" in latex
    in_small = len("toy-nine-in-ten") + 7 * (len("[80.0, 95.5]") * 7 / 9 + LATEX_GAP / 2)
    assert in_small < 1.3 * LATEX_LETTERS < len(" ".join(wide.rows[0]))
    used = set(re.findall(r"\\(toprule|begin\{adjustbox\})", SMALL.to_latex()))
    assert used == {"toprule", r"begin{adjustbox}"}
    assert r"\scriptsize" not in SMALL.to_latex()


def test_signs_that_latex_has_only_in_formulas() -> None:
    signs = Table("p | q", ("▲ ▼", "p"), (("a…", "<0.001"), ("−", "1 ±0.5")), ("≈: > 0.05",))
    latex = signs.to_latex()
    assert latex.isascii()
    for written in ("$<$0.001", r"$-$ & 1 $\pm$0.5", "p $|$ q", r"a\ldots{}"):
        assert written in latex


def test_csv() -> None:
    assert list(csv.reader(io.StringIO(SMALL.to_csv()))) == [
        list(SMALL.columns),
        *map(list, SMALL.rows),
    ]


def test_no_cell_of_a_csv_is_a_formula() -> None:
    cells = ('=HYPERLINK("x")', "@SUM(A1)", "-2+3", "+1.0", "-3.2 [-4.0, -1.1]", "-0.5%", "a=b")
    table = Table("Title", ("System", *cells[1:]), (cells,))
    rows = list(csv.reader(table.to_csv().splitlines()))
    assert rows[1] == [
        *('\'=HYPERLINK("x")', "'@SUM(A1)", "'-2+3", "+1.0", "-3.2 [-4.0, -1.1]", "-0.5%", "a=b"),
    ]
    assert rows[0][1] == "'@SUM(A1)"
