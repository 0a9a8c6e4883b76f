"""CoNLL's scores of files are those that the reference scorer's own test cases have.

``tests/cases/conll_scorer.json`` has the cases of conll/reference-coreference-scorers (and of LEA's
reference implementation, which adds its values to the same cases): a letter is a mention, a string
an entity, and each score is recall and precision as published, as fractions.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("scipy")

from pronominal import InputError
from pronominal.eval.exchange.conll_files import score_files
from tests.cli.test_main import pronominal

CASES = json.loads((ROOT / "tests" / "cases" / "conll_scorer.json").read_text())


def conll(path: Path, letters: str, entities: list[str], name: str = "own") -> Path:
    """Write a file in which every letter is a word and a mention."""
    lines = [f"#begin document ({name}); part 000"]
    for index, letter in enumerate(letters):
        cells = [f"({n})" for n, entity in enumerate(entities) for one in entity if one == letter]
        columns = [name, "0", str(index), "word", *"-*---", "-", "*", "|".join(cells) or "-"]
        lines.append("\t".join(columns))
    path.write_text("\n".join([*lines, "", "#end document", ""]))
    return path


def corefud(path: Path, letters: str, entities: list[str]) -> Path:
    lines = ["# newdoc id = own", "# global.Entity = eid-etype-head-other"]
    for index, letter in enumerate(letters, start=1):
        cells = [f"(e{n}--1-)" for n, e in enumerate(entities) for one in e if one == letter]
        misc = f"Entity={''.join(cells)}" if cells else "_"
        lines.append("\t".join([str(index), "word", *"_X__", "0", "root", "_", misc]))
    path.write_text("\n".join([*lines, "", ""]))
    return path


@pytest.mark.parametrize("write", [conll, corefud])
@pytest.mark.parametrize("case", CASES)
def test_the_reference_scorers_cases(tmp_path: Path, case: str, write: object) -> None:
    wanted = dict(CASES[case])
    sides = [wanted.pop("key"), wanted.pop("response")]
    letters = "".join(dict.fromkeys("".join(sides[0] + sides[1])))
    files = [write(tmp_path / str(n), letters, side) for n, side in enumerate(sides)]  # type: ignore[operator]
    found = score_files(*files, "conll2012" if write is conll else "corefud")
    for name, published in wanted.items():
        recall, precision = map(Fraction, published)
        total = recall + precision
        f1 = 2 * recall * precision / total if total else Fraction(0)
        values = [found[name][part] for part in ("recall", "precision", "f1")]
        assert values == pytest.approx([float(recall), float(precision), float(f1)]), name


def test_every_score_has_a_case_with_another_value_than_0_and_1() -> None:
    for name in ("muc", "b_cubed", "ceaf_m", "ceaf_e", "lea"):
        values = {value for case in CASES.values() for value in case.get(name, ())}
        assert values - {"0", "1"}, name


def test_documents_are_paired_by_name_and_pooled(tmp_path: Path) -> None:
    one, other = ("ab", ["ab"]), ("abc", ["abc"])
    key, response = tmp_path / "key", tmp_path / "response"
    parts = [
        conll(tmp_path / "x", *side, name=n).read_text()
        for n, side in zip("xy", (one, other), strict=True)
    ]
    key.write_text("".join(parts))
    response.write_text("".join(reversed(parts)))
    found = score_files(key, response)
    assert found["n"] == 2
    assert found["conll"]["f1"] == 1
    response.write_text(parts[0])
    with pytest.raises(InputError, match="it has 1 documents, and the key file 2"):
        score_files(key, response)
    response.write_text(parts[0] * 2)
    with pytest.raises(InputError, match="the document y is not there"):
        score_files(key, response)


def test_other_words_are_refused(tmp_path: Path) -> None:
    key = conll(tmp_path / "key", "abc", ["ab"])
    response = conll(tmp_path / "response", "ab", ["ab"])
    with pytest.raises(InputError, match="response, line 1: the document has not the words"):
        score_files(key, response)


SCORER_FILE = """#begin document (own);\x20
own\t0\t0\tshe\t(1)(2
own\t0\t1\ta\t(1
own\t0\t2\tb\t-
own\t0\t3\tc\t1)2)
own\t0\t4\t.\t-\t

own\t0\t0\ther\t(2)
own\t0\t1\t.\t_
#end document
"""


def test_files_as_the_reference_scorer_has_its_own(tmp_path: Path) -> None:
    """Five columns, no part, brackets without bars between them."""
    (tmp_path / "key").write_text(SCORER_FILE)
    (tmp_path / "response").write_text(SCORER_FILE.replace("1)2)", "2)1)").replace("\t", " "))
    found = score_files(tmp_path / "key", tmp_path / "response")
    assert (found["mentions"]["recall"], found["conll"]["f1"]) == (1, 1)
    (tmp_path / "key").write_text(SCORER_FILE.replace("(1)(2", "1|(2"))
    with pytest.raises(InputError, match=r"key, line 2: .1. is no bracket of a mention"):
        score_files(tmp_path / "key", tmp_path / "response")


NUMBERS = ("recall", "precision", "f1")
METRICS = {"muc": "muc", "bcub": "b_cubed", "ceafm": "ceaf_m", "ceafe": "ceaf_e", "blanc": "blanc"}
"""The reference scorer's names, and ours."""

PARTS = {"Identification of Mentions": "mentions", "Coreference": None, "BLANC": None}
"""What it prints of a metric, and our score where that is not the metric's; None where it is."""


def agree(key: Path, response: Path, expected: dict[str, dict[str, list[float]]]) -> None:
    """Compare percentages, which the reference scorer cuts after two decimals."""
    found = score_files(key, response)
    for metric, parts in expected.items():
        for part in PARTS.keys() & parts:
            score = found[PARTS[part] or METRICS[metric]]
            for name, printed in zip(NUMBERS, parts[part], strict=True):
                cut = 100 * score[name] - printed
                assert -1e-9 <= cut <= 0.01 + 1e-9, (response.name, metric, part, name)


def test_the_reference_scorers_own_files(goldens: Path) -> None:
    """Of two columns and of five, in their original layout."""
    folder = goldens / "conll_scorer"
    for case in json.loads((folder / "expected.json").read_text()):
        agree(folder / case["key"], folder / case["response"], case["expected"])


def test_random_files_with_repeated_mentions(goldens: Path, tmp_path: Path) -> None:
    """A mention in two clusters, or twice in one, on either side; brackets of a cluster cross."""
    for case in json.loads((goldens / "conll_scorer" / "random-public.json").read_text()):
        key, response = tmp_path / "key", tmp_path / case["id"]
        key.write_text(case["key"])
        response.write_text(case["response"])
        agree(key, response, case["expected"])


def two_columns(path: Path, *cells: str) -> Path:
    lines = ["#begin document (own);", *(f"own {cell}" for cell in cells), "#end document", ""]
    path.write_text("\n".join(lines))
    return path


def test_a_repeat_goes_only_where_the_key_has_the_mention(tmp_path: Path) -> None:
    key = two_columns(tmp_path / "key", "(1)", "(1)", "-", "(2)")
    response = two_columns(tmp_path / "response", "(7)|(5)", "(5)", "(5)|(7)", "-")
    found = score_files(key, response)
    assert found["repeats"] == {"key": 0, "response": 2}
    # the first word stays in 7, which the file begins first; the third, which is wrong, in both
    assert found["muc"] == {"recall": 0, "precision": 0, "f1": 0}
    assert found["b_cubed"]["precision"] == pytest.approx((1 / 2 + 1 / 2) / 4)
    again = two_columns(tmp_path / "again", "(5)|(7)", "(5)", "-", "-")
    assert score_files(key, again)["muc"]["f1"] == 1
    repeated = two_columns(tmp_path / "repeated", "(1)|(2)", "(1)", "-", "(2)")
    assert score_files(repeated, key)["mentions"]["f1"] == 1
    assert score_files(repeated, key)["b_cubed"]["recall"] < 1
    assert pronominal("score-conll", key, response).stderr == (
        "pronominal: the response has 2 repeated mentions; as in the reference scorer, one counts"
        " unless it stands in the response and the key has the mention, too\n"
    )


def test_mentions_of_empty_nodes_are_counted(tmp_path: Path) -> None:
    rows = [("1", "(e1--1-)"), ("1.1", "(e1--1-)"), ("2", "(e1--1-)")]
    lines = ["# newdoc id = own", "# global.Entity = eid-etype-head-other"]
    lines += ["\t".join([n, "word", *"_X__", "0", "root", "_", f"Entity={e}"]) for n, e in rows]
    file = tmp_path / "file.conllu"
    file.write_text("\n".join([*lines, "", ""]))
    assert score_files(file, file, "corefud")["zeros"] == {"key": 1, "response": 1}
    told = pronominal("score-conll", file, file, "--format", "corefud").stderr
    assert "the key has 1 mention of empty nodes, which are left out" in told


def test_a_format_without_clusters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="winopron-tsv has no clusters to score"):
        score_files(tmp_path / "key", tmp_path / "response", "winopron-tsv")


def test_singletons_may_be_left_out(tmp_path: Path) -> None:
    key = conll(tmp_path / "key", "abc", ["ab", "c"])
    response = conll(tmp_path / "response", "abc", ["ab"])
    assert score_files(key, response)["mentions"]["recall"] == pytest.approx(2 / 3)
    assert score_files(key, response, singletons=False)["mentions"]["recall"] == 1


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    key = conll(tmp_path / "key", "abcd", ["abcd"])
    response = conll(tmp_path / "response", "abcd", ["ab", "cd"])
    table = pronominal("score-conll", key, response)
    assert table.returncode == 0, table.stderr
    assert ["muc", "66.67", "100.00", "80.00"] in [
        line.split() for line in table.stdout.splitlines()
    ]
    as_json = json.loads(pronominal("score-conll", key, response, "--json").stdout)
    assert as_json["muc"]["recall"] == pytest.approx(2 / 3)
    refused = pronominal("score-conll", key, tmp_path / "none")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
