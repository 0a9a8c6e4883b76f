"""The stages before tagging: what is cut out of documents, and which sentences are read on."""

import importlib.util
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal.dataset_scripts.construction import clean, connectives, filters
from pronominal.dataset_scripts.construction.clean import CleanRules, clean_text
from pronominal.dataset_scripts.construction.connectives import (
    EARLY_PRONOUN,
    FEW_WORDS,
    MORE_CLUSTERS,
    NO_CONNECTIVE,
    ConnectiveRules,
    paper_pattern,
    released_pattern,
)
from pronominal.dataset_scripts.construction.sentences import sentences as split_documents
from pronominal.dataset_scripts.construction.sentences import split
from pronominal.dataset_scripts.construction.treebank_words import treebank_words
from tests.conftest import ROOT
from tests.dataset_scripts.construction.texts import documents, sentences

BENCHMARK = ROOT / "benchmarks" / "construction_filters.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("construction_filters", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Ann &amp; Bert left.", "Ann & Bert left."),
        ("Ann {{cite|{{inner}} x}} left.", "Ann left."),
        ("Ann {{{1}}} left.", "Ann left."),
        ("Ann {kept} left.", "Ann kept left."),
        ("Ann<br/>left <b>now</b>.", "Ann left now."),
        ("Ann<ref name=x>a book</ref> left<ref name=x/>.", "Ann left."),
        ("Ann <!-- not seen --> left.", "Ann left."),
        ("Ann (born\nlong ago) left.", "Ann left."),
        ("Ann (never closed left.", "Ann (never closed left."),
        ("[[Town|Ann]] met [[Bert]] [[File:a.png|b]].", "Ann met Bert ."),
        ("'''Ann''' met ''Bert''.", "Ann met Bert."),
        ("See [http://x.org the page] or http://y.org now.", "See the page or \ufffc now."),
        ("Ann left. http://x.org/Ann Bert stayed.", "Ann left. Bert stayed."),
        ("http://x.org\nAnn left. http://x.org/a", "Ann left."),
        ("Ann read http://x.org/a, then left.", "Ann read \ufffc, then left."),
        ("Ann left (see http://x.org/a) now.", "Ann left now."),
        (
            "Write to ann.b@mail.example.org or @ann_b or u/ann-b.",
            "Write to EMAIL or USER or USER.",
        ),
        ("Ann read www.x.org/a, then left.", "Ann read \ufffc, then left."),
        ("Ann left. www.x.org Bert stayed.", "Ann left. Bert stayed."),
        ("Ann read news.x.org/u/ann then left.", "Ann read \ufffc then left."),
        ("Write to ann(at)b.org now.", "Write to EMAIL now."),
        ("Write to ann.c [at] b [dot] org now.", "Write to EMAIL now."),
        ("Write to ann {AT} b.org now.", "Write to EMAIL now."),
        ("Write to ann at b dot com now.", "Write to EMAIL now."),
        ("Ann looked (at him) and at the dot.", "Ann looked and at the dot."),
        ("He read it on x.org and/or e.g./etc. in the U.S./UK.",) * 2,
        ("Ann met him @ noon and/or later, and u are late.",) * 2,
        ("See [the page](http://x.org/a) or ![it](/b.png) now.", "See the page or it now."),
        (
            "Ann **surely** saw *the dog*, _twice_, ~~not~~ once.",
            "Ann surely saw the dog, twice, not once.",
        ),
        ("Ann * left * by well_known_name roads.", "Ann * left * by well_known_name roads."),
        ("&gt; Ann left.\n&gt;&gt; Bert stayed.", "Ann left. Bert stayed."),
        (
            "== Life ==\nAnn left.\n* a list\n# another\n1 more\nBert stayed.",
            "Ann left.\n\nBert stayed.",
        ),
        ("Ann left.\n= References =\nBert", "Ann left. Bert"),
        ("Ann left.\n\nBert stayed.", "Ann left.\n\nBert stayed."),
        ("{| class=x\n| cell\n|}\nAnn left.", "Ann left."),
        ("Jos\u00e9 said \u2018no\u2019 \u2013 twice\u2026", "Jose said 'no' - twice..."),
        ("Ann\x00 left\x07.", "Ann left ."),
        ("Ann \u4e2d\u6587left.", "Ann left."),
        ("An M.A. she has", "An MA she has"),
        ("See verse 3:16 there.", "See verse 3 there."),
    ],
)
def test_markup_headings_lists_and_parentheses_are_taken_out(body: str, text: str) -> None:
    assert clean_text(body) == text


def test_the_released_code_cleans_in_its_own_way() -> None:
    rules = clean.RELEASED
    assert clean_text("Jos\u00e9 left.\n\nAnn stayed.", rules) == "Jos left. Ann stayed."
    assert clean_text("[[Town|Ann]] met [[Bert]].", rules) == "Town met Bert."
    quoting, article, plain = 'She said "no".', "By art. 5 she left.", "She left."
    kept = clean.clean(documents(quoting, article, plain), rules)
    assert kept.rows["body"].to_pylist() == [plain]
    assert sum(kept.dropped.values()) == 2
    assert clean.clean(documents(quoting, article, plain), CleanRules()).rows.num_rows == 3


@pytest.mark.parametrize(
    "body", ["a." * 300_000, "www." * 200_000, "a at " * 100_000, "a(" * 200_000]
)
def test_what_is_nearly_an_address_is_read_once(body: str) -> None:
    assert len(clean_text(body)) <= len(body)


@pytest.mark.parametrize("word", ["a-", "a.", "+a", "_"])
def test_a_long_word_beside_an_at_is_read_once(word: str) -> None:
    # trying an address from each of its letters would take hours
    assert not clean.EMAIL.search(f"@ {word * 500_000}")


def test_a_sentence_that_lost_a_link_is_dropped() -> None:
    broken = "Ann told Bert to look at \ufffc because he wanted to know."
    kept = filters.filters(sentences(broken, broken.replace("\ufffc", "it")))
    assert kept.rows.num_rows == 1
    assert kept.dropped == {"a link was taken out of it": 1}
    released = clean_text("See http://y.org now, @ann.", clean.RELEASED)
    assert released == "See now, @ann."


def test_masked_users_are_counted() -> None:
    kept = clean.clean(documents("Ask @ann.", "Ask u/ann.", "Ask a@b.org.", "Ask Ann."))
    assert kept.noted == {clean.MASKED: 3}
    # what is masked is the cleaned text, not what markup held
    kept = clean.clean(documents("Ask a&#64;b.org.", "Ann left. http://b.org/u/ann", "Ask a(at)b."))
    assert kept.noted == {clean.MASKED: 2}


def test_what_was_mended_is_counted() -> None:
    kept = clean.clean(documents("Ann <i>left</i>.", "Bert\x01 left.", "()", "No."))
    assert (kept.rows.num_rows, sum(kept.dropped.values())) == (3, 1)
    assert sorted(kept.noted.values()) == [1, 1]


@pytest.mark.parametrize(
    "sign", ["(", "{{", "<!--", "[[", "<ref>", "{|", "<", "{", "[a](", "*", " *a", "> ", "~~"]
)
def test_a_sign_that_is_never_closed_takes_no_time(sign: str) -> None:
    # work that grew with the square of the length would be a billion steps
    assert len(clean_text(sign * 50_000)) <= 50_000 * len(sign)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Ann left. Bert stayed.", 2),
        ("Mr. Smith met Dr. Jones. They left!", 2),
        ("J. Smith left. I stayed.", 2),
        ("It was he and I. Ann left.", 2),
        ("She lives in the U.S. Army town.", 1),
        ("Was it so? Yes! It was.", 3),
        ("Ann left. and came back.", 1),
        ('He asked "Why?" Ann left.', 2),
        ("No end here", 1),
        ("", 0),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, number: int) -> None:
    found = list(split(text))
    assert len(found) == number
    assert " ".join(found) == text


def test_a_blank_line_ends_a_sentence() -> None:
    found = split_documents(documents("Ann left\n\nBert stayed. Then he left."))
    assert found.rows["text"].to_pylist() == ["Ann left", "Bert stayed.", "Then he left."]
    assert found.rows["document"].to_pylist() == ["0"] * 3


def words(number: int) -> str:
    return " ".join(["Word", *["word"] * (number - 1)]) + "."


@pytest.mark.parametrize(
    ("text", "paper", "released"),
    [
        (words(8), False, False),
        (words(9), True, False),
        (words(10), True, False),
        (words(11), True, True),
        (words(33), True, True),
        (words(34), False, False),
        (words(12).lower(), False, False),
        (words(12)[:-1], False, False),
        (words(12)[:-1] + ";", True, True),
        (words(12)[:-1] + "?", True, True),
        (words(12)[:-1] + ",", False, False),
        (words(12).replace("Word word", "Word 3"), False, False),
        (words(12).replace("Word word", "Word a=b"), False, False),
        (words(12).replace("Word word", "Word <a"), False, False),
        (words(12).replace("Word word", "Word a+b"), False, False),
        (words(12).replace("Word word", 'Word "a"'), False, True),
        (words(12).replace("Word word", "\u00c4word word"), False, False),
    ],
)
def test_length_ends_and_math(text: str, paper: bool, released: bool) -> None:
    assert (filters.filters(sentences(text)).rows.num_rows == 1) == paper
    assert (filters.filters(sentences(text), filters.RELEASED).rows.num_rows == 1) == released


PASSES = None
PAPER_CASES = [
    ("Adam carried Bruno home when he was too weak to walk.", PASSES),
    ("Adam sings better than Bruno today but in his school days he did not.", PASSES),
    ("Adam seemed to be robbed by Paula, but he came back soon, but tired.", PASSES),
    ("Adam came to where Vera was tied, but she had got free.", PASSES),
    ("Adam trusts Bruno, and though he is late the bus waits.", PASSES),
    ("Adam trusts Bruno; he is never late.", PASSES),
    ("Adam trusts Bruno and he is never late.", NO_CONNECTIVE),
    ("Adam trusts Bruno because Clara is never late.", NO_CONNECTIVE),
    ("Adam trusts Bruno as butter trusts him.", NO_CONNECTIVE),
    ("He trusts Bruno because he is never late.", EARLY_PRONOUN),
    ("Adam gave his dog to Bruno because he was late.", EARLY_PRONOUN),
    ("Adam trusts her, because she is never late.", EARLY_PRONOUN),
    ("He left with Bruno, because Clara was late.", EARLY_PRONOUN),
    ("Adam left so soon, after Bruno came when he was late, but tired.", MORE_CLUSTERS),
    ("Adam was there, because he was late.", FEW_WORDS),
    ("Adam was with Bruno, because he was late.", PASSES),
]


@pytest.mark.parametrize(("text", "reason"), PAPER_CASES)
def test_the_papers_connective_rule(text: str, reason: str | None) -> None:
    found = paper_pattern(text, ConnectiveRules())
    assert (found if isinstance(found, str) else None) == reason
    kept = connectives.connectives(sentences(text))
    assert kept.rows.num_rows == (reason is None)
    if reason is None:
        row = kept.rows.to_pylist()[0]
        for name in ("connective", "pronoun"):
            mention = row[name]
            assert text[mention["start"] : mention["end"]] == mention["text"]
        assert row["connective"]["end"] <= row["pronoun"]["start"]


def test_one_cluster_can_be_asked_for() -> None:
    text = "Adam came to where Vera was tied, but she had got free."
    strict = ConnectiveRules(most_clusters=1)
    assert paper_pattern(text, strict) == MORE_CLUSTERS
    assert not isinstance(paper_pattern(text.replace("to where", "as"), strict), str)


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Adam carried Bruno home when he was too weak to walk.", True),
        # a comma counts only between two word characters
        ("Adam helped Bruno hide, he was followed by the guards.", False),
        ("Adam helped Bruno hide,he was followed by the guards.", True),
        # pronouns are looked for up to the second content word only
        ("Adam helped Bruno as he would when he was young.", True),
        ("Adam saw it with Bruno when he was young.", False),
        ("Adam helped Adam when he was young.", False),
        ("Adam was here when he was young.", False),
        ("Adam helped Bruno when Clara was young.", False),
        ("Adam helped " + "so " * 28 + "Bruno when he was young.", False),
    ],
)
def test_the_released_codes_pattern(benchmark: ModuleType, text: str, passes: bool) -> None:
    assert isinstance(released_pattern(text, connectives.RELEASED), tuple) == passes
    assert benchmark.has_pattern(text) == passes


def test_the_stages_accept_what_a_straight_port_accepts(benchmark: ModuleType) -> None:
    texts = benchmark.varied_sentences(2_400, seed=1)
    accepted = benchmark.by_stages(texts)
    assert accepted == benchmark.by_port(texts)
    assert 200 < len(accepted) < 2_200


SIGNS = """. , ; : ! ? ' ` - " ( ) [ ] { } * & / _ ... -- '' cannot gonna wanna 'tis more'n d'ye"""
WORDS = "n't 's 'll lemme a Word U.S. O'Neil"
PIECES = st.sampled_from([" ", "  ", *SIGNS.split(), *WORDS.split()])


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_words_are_those_of_nltk(text: str) -> None:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    quotes = {"``", "''", '"'}
    theirs = [word for word in NLTKWordTokenizer().tokenize(text) if word not in quotes]
    assert [word for word in treebank_words(text) if word not in quotes] == theirs


@settings(max_examples=200)
@given(st.text(alphabet="ab .\n(){}[]<>|='-!/\u00e9\x00", max_size=80))
def test_cleaned_text_is_printable_ascii(body: str) -> None:
    text = clean_text(body)
    assert all(line.isascii() and line.isprintable() for line in text.split("\n\n"))
    assert "  " not in text


def test_nothing_in_nothing_out() -> None:
    for stage in (clean.clean, split_documents):
        assert stage(documents()).rows.num_rows == 0
    for stage in (filters.filters, connectives.connectives):
        assert stage(sentences()).rows.num_rows == 0
