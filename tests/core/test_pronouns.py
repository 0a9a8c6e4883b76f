import pytest

from pronominal import CASES, PRONOUN_SETS, InputError, load_pronoun_sets

ZE = """
[ze]
nominative = "ze"
accusative = "zir"
possessive = "zir"
reflexive = "zirself"
"""


def test_the_four_sets_have_the_papers_forms() -> None:
    forms = {pronouns.name: [pronouns.form(case) for case in CASES] for pronouns in PRONOUN_SETS}
    assert forms == {
        "he": ["he", "him", "his"],
        "she": ["she", "her", "her"],
        "they": ["they", "them", "their"],
        "xe": ["xe", "xem", "xyr"],
    }


def test_a_user_adds_a_set(tmp_path) -> None:
    path = tmp_path / "pronouns.toml"
    path.write_text(ZE)
    *known, ze = load_pronoun_sets(path)
    assert tuple(known) == PRONOUN_SETS
    assert [ze.form(case) for case in CASES] == ["ze", "zir", "zir"]
    assert ze.forms == {"ze", "zir", "zirself"}
    assert ze.agreement == "singular"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('[ze]\nnominative = "ze"\n', "accusative and possessive missing"),
        (ZE.replace("[ze]", "[he]"), "exists already"),
        (ZE.replace('"zirself"', "3"), "'reflexive' is not a lower-case word"),
        (ZE.replace("reflexive", "dative"), "'dative' is no form"),
        (ZE + 'agreement = "dual"\n', "agreement is unknown"),
        ('ze = "ze"\n', "table of forms"),
        ("[ze", "no pronoun sets could be read"),
    ],
)
def test_a_wrong_set_is_refused_by_name(tmp_path, text: str, cause: str) -> None:
    path = tmp_path / "pronouns.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=cause) as caught:
        load_pronoun_sets(path)
    assert str(path) in str(caught.value)
