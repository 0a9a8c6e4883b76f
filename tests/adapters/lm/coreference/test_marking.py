"""Clusters that a model marks in a copy: however it errs, no offset that is not in the text."""

import re
import unicodedata
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import InputError, Span
from pronominal.adapters import load
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.lm.coreference.copies import OtherTextError
from pronominal.adapters.lm.coreference.marking import MarksError, read_marks, request
from pronominal.adapters.lm.coreference.system import clusters_in

TEXT = (
    "The old miller's daughter thanked the ferryman because he had waited. "
    "“Good – so good,” she said, and gave him two loaves of bread."
)
COPY = (
    "[[1|[[2|The old miller]]'s daughter]] thanked [[3|the ferryman]] because [[3|he]] had waited. "
    "“Good – so good,” [[1|she]] said, and gave [[3|him]] two loaves of bread."
)


class Scripted:
    """A model that writes what it is told to for each text."""

    name = "scripted"

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def generate(self, prompts: Sequence[str]) -> list[str]:
        self.asked += prompts
        return [self.answers[prompt.split("\n")[-2].removeprefix("Text: ")] for prompt in prompts]


def at(*words: str, text: str = TEXT) -> list[Span]:
    found, place = [], 0
    for one in words:
        match = re.compile(rf"\b{re.escape(one)}\b").search(text, place)
        assert match is not None
        found.append(Span(*match.span()))
        place = match.end()
    return found


DAUGHTER = at("The old miller's daughter", "she")
FERRYMAN = at("the ferryman", "he", "him")


def sorted_clusters(answer: str) -> list[list[Span]]:
    return sorted(sorted(cluster) for cluster in clusters_in(answer, TEXT)[0])


def test_a_copy_letter_by_letter() -> None:
    clusters, found = clusters_in(COPY, TEXT)
    assert found.state == "verbatim"
    assert sorted(map(sorted, clusters)) == [DAUGHTER, FERRYMAN]


@pytest.mark.parametrize(
    "change",
    [
        lambda copy: f"```\n{copy}\n```",
        lambda copy: f"```text\n{copy}\n```",
        lambda copy: f"  {copy}\n\n",
        lambda copy: f"{copy}\n\nText: Another one.\nCopy: Another one.",
        lambda copy: copy.replace("[[1|", "[[daughter|").replace("[[3|", "[[ 17 |"),
        lambda copy: copy.replace("[[3|he]] ", "[[3|he ]]"),
        lambda copy: copy.replace("so good", "[[4|]]so good"),
    ],
    ids=[
        "fence",
        "named-fence",
        "blanks",
        "goes-on",
        "numbers",
        "blank-inside",
        "empty",
    ],
)
def test_what_changes_nothing(change: Callable[[str], str]) -> None:
    clusters, found = clusters_in(change(COPY), TEXT)
    assert found.state == "verbatim"
    assert sorted(map(sorted, clusters)) == [DAUGHTER, FERRYMAN]


@pytest.mark.parametrize(
    ("old", "new"),
    [("“", '"'), ("–", "-"), ("'s", "’s"), (". ", ".\n\n"), ("waited. ", "waited.   ")],
    ids=["quotation-marks", "dash", "apostrophe", "line-break", "white-space"],
)
def test_other_ways_of_writing(old: str, new: str) -> None:
    clusters, found = clusters_in(COPY.replace(old, new), TEXT)
    assert found.state == "normalised"
    assert sorted(map(sorted, clusters)) == [DAUGHTER, FERRYMAN]


def test_composed_characters_are_one() -> None:
    text = "Zoe\u0308 said that she knew Andre\u0301."
    copy = unicodedata.normalize("NFC", "[[1|Zoe\u0308]] said that [[1|she]] knew Andre\u0301.")
    clusters, found = clusters_in(copy, text)
    assert found.state == "normalised"
    assert [text[s:e] for s, e in clusters[0]] == ["Zoe\u0308", "she"]


def test_a_word_that_is_left_out_costs_its_own_mention() -> None:
    assert sorted_clusters(COPY.replace("[[2|The old miller]]", "[[2|The miller]]")) == [FERRYMAN]
    assert sorted_clusters(COPY.replace("two loaves", "loaves")) == [DAUGHTER, FERRYMAN]


def test_a_word_that_is_added_costs_its_own_mention() -> None:
    added = COPY.replace("the ferryman]]", "the good ferryman]]")
    assert sorted_clusters(added) == [DAUGHTER, FERRYMAN[1:]]


def test_a_text_with_an_example_of_its_own_is_read_to_its_end() -> None:
    text = "Ann slept.\n\nText: Eve said that she left."
    copy = "Ann slept.\n\nText: [[1|Eve]] said that [[1|she]] left."
    for answer in (copy, f"{copy}\n\nText: Another one.\nCopy: Another one."):
        clusters, found = clusters_in(answer, text)
        assert (clusters, found.state) == ([at("Eve", "she", text=text)], "verbatim")


def test_brackets_of_the_text_are_no_marks() -> None:
    text = "Ann [a cook] | said ((yes)) that <she> left."
    copy = "[[1|Ann]] [a cook] | said ((yes)) that <[[1|she]]> left."
    clusters, found = clusters_in(copy, text)
    assert (clusters, found.state) == ([at("Ann", "she", text=text)], "verbatim")


def test_a_pronoun_set_of_the_users_own_is_not_changed() -> None:
    text = TEXT.replace(" she ", " fae ")
    with pytest.raises(OtherTextError, match="another word"):
        clusters_in(COPY, text)


def test_a_preface_is_no_part_of_the_copy() -> None:
    clusters, found = clusters_in(f"Here is your copy: {COPY} I hope this helps!", TEXT)
    assert found.state == "repaired"
    assert sorted(map(sorted, clusters)) == [DAUGHTER, FERRYMAN]


BROKEN: dict[str, tuple[str, type[Exception]]] = {
    "unclosed": (COPY.replace("[[3|he]]", "[[3|he"), MarksError),
    "not-open": (COPY.replace("[[3|he]]", "he]]"), MarksError),
    "no-number": (COPY.replace("[[3|he]]", "[[he]]"), MarksError),
    "number-behind": (COPY.replace("[[3|he]]", "[[he|3]]"), OtherTextError),
    "other-pronoun": (COPY.replace("[[1|she]]", "[[1|they]]"), OtherTextError),
    "other-candidate": (COPY.replace("ferryman", "boatman"), OtherTextError),
    "square": (COPY.replace("[[", "[").replace("]]", "]"), MarksError),
    "round": (COPY.replace("[[", "((").replace("]]", "))"), MarksError),
    "bar-alone": (COPY.replace("[[3|he]]", "3|he"), MarksError),
    "pronoun-lost": (COPY.replace("[[3|him]] ", ""), OtherTextError),
    "cut": (COPY[: len(COPY) // 2].rpartition(" ")[0], OtherTextError),
    "cut-in-a-mark": (COPY[: COPY.index("[[1|she") + 6], MarksError),
    "twice": (f"{COPY} {COPY}", OtherTextError),
    "loop": (COPY + " so good," * 40, OtherTextError),
    "another-text": ("[[1|Ann]] said [[1|she]] slept.", OtherTextError),
    "nothing": ("", OtherTextError),
    "refusal": ("I cannot help with that.", OtherTextError),
}


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "loop"])
def test_what_is_no_copy_is_refused(name: str) -> None:
    answer, error = BROKEN[name]
    with pytest.raises(error):
        clusters_in(answer, TEXT)


def test_what_loops_behind_a_whole_copy_is_not_read() -> None:
    assert sorted_clusters(BROKEN["loop"][0]) == [DAUGHTER, FERRYMAN]


def test_a_repeated_sentence_is_not_guessed_at() -> None:
    text = "Ann ran. Ann slept and Eve left when Ann sang to Tom at noon today."
    copy = "Ann ran. Ann ran. Ann slept and Eve left when [[1|Ann]] sang to Tom at noon today."
    clusters, found = clusters_in(copy.replace("Ann slept", "[[1|Ann]] slept"), text)
    assert found.state == "repaired"
    assert clusters == [at("Ann", "Ann", "Ann", text=text)[1:]]


WORDS = st.sampled_from(
    [
        *("Ann", "she", "her", "the", "cook", "Tom", "his", "xe", "and", "saw"),
        *('"yes"', "–", "it's", "don’t", "…", "e\u0301", "ok.", "no!", "  ", "\n"),
    ]
)
EDITS = (
    "drop",
    "double",
    "swap",
    "quote",
    "open",
    "close",
    "cut",
    "blank",
    "loop",
    "case",
    "number",
)


def edited(answer: str, kind: str, place: int) -> str:
    place %= len(answer) + 1
    words = answer.split(" ")
    index = place % len(words)
    one = words[index]
    changes = {
        "drop": lambda: " ".join([*words[:index], *words[index + 1 :]]),
        "double": lambda: " ".join([*words[:index], one, one, *words[index + 1 :]]),
        "swap": lambda: " ".join([*words[:index], *words[index:][:2][::-1], *words[index + 2 :]]),
        "quote": lambda: answer.replace('"', "“", 1).replace("’", "'"),
        "open": lambda: f"{answer[:place]}[[7|{answer[place:]}",
        "close": lambda: f"{answer[:place]}]]{answer[place:]}",
        "cut": lambda: answer[:place],
        "blank": lambda: f"{answer[:place]} {answer[place:]}",
        "loop": lambda: answer + answer[place:] * 3,
        "case": lambda: answer[:place] + answer[place:].upper(),
        "number": lambda: answer.replace("[[0|", "[[x|", 1).replace("1|", "|"),
    }
    return changes[kind]()


def plainly(words: str) -> str:
    ways = {**dict.fromkeys("“”", '"'), "’": "'", "–": "-", "…": "..."}
    composed = unicodedata.normalize("NFC", words)
    # words are aligned, and not the white space between them
    return "".join("".join(ways.get(one, one) for one in composed).split())


MARKED = st.tuples(st.integers(0, 12), st.integers(0, 3), st.integers(0, 2))


@settings(max_examples=400)
@given(
    words=st.lists(WORDS, min_size=2, max_size=14),
    marked=st.lists(MARKED, max_size=5),
    edits=st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 200)), max_size=4),
)
def test_no_offset_that_is_not_in_the_text(
    words: list[str],
    marked: list[tuple[int, int, int]],
    edits: list[tuple[str, int]],
) -> None:
    text, pieces = " ".join(words), list(words)
    for place, length, number in marked:
        first, last = place % len(words), min(place % len(words) + length, len(words) - 1)
        pieces[first] = f"[[{number}|{pieces[first]}"
        pieces[last] = f"{pieces[last]}]]"
    answer = " ".join(pieces)
    for kind, place in edits:
        answer = edited(answer, kind, place)
    try:
        clusters, _ = clusters_in(answer, text)
    except (MarksError, OtherTextError):
        assert edits or text != text.strip() or not text.strip()
        return
    said = {plainly(copy) for copy in _expressions(answer)}
    for cluster in clusters:
        assert len({*cluster}) == len(cluster) > 1
        for start, end in cluster:
            assert 0 <= start < end <= len(text)
            assert plainly(text[start:end]) in said


def _expressions(answer: str) -> list[str]:
    plain, marks = read_marks(answer)
    return [plain[span.start : span.end] for _, span in marks]


def test_the_system_gives_clusters_and_what_its_copies_were() -> None:
    other = "Ann slept."
    system = load("lm-coref", model=Scripted(**{TEXT: COPY, other: other}))
    first, second = system.cluster([TEXT, other])
    assert sorted(map(sorted, first)) == [DAUGHTER, FERRYMAN]
    assert second == []
    assert [copy.state for copy in system.copies] == ["verbatim", "verbatim"]


def test_a_thought_before_the_copy_is_not_read() -> None:
    system = load("lm-coref", model=Scripted(**{TEXT: f"<think>[[1|he]] or she?</think>\n{COPY}"}))
    assert sorted(map(sorted, system.cluster([TEXT])[0])) == [DAUGHTER, FERRYMAN]
    assert [copy.state for copy in system.copies] == ["verbatim"]


def test_a_text_that_was_not_copied_is_refused_and_others_are_not_asked_again() -> None:
    model = Scripted(**{TEXT: BROKEN["unclosed"][0], "Ann slept.": "Ann slept."})
    system = load("lm-coref", model=model)
    with pytest.raises(RefusedTextError, match="not closed") as error:
        system.cluster(["Ann slept.", TEXT])
    assert error.value.index == 1
    assert system.cluster(["Ann slept."]) == [[]]
    assert len(model.asked) == 2


def test_an_answer_that_is_no_string_is_refused() -> None:
    with pytest.raises(InputError, match="as many strings"):
        load("lm-coref", model=Scripted(**{TEXT: None})).cluster([TEXT])  # type: ignore


def test_a_prompt_that_the_model_refuses_is_named_by_its_text() -> None:
    class Short(Scripted):
        def generate(self, prompts: Sequence[str]) -> list[str]:
            for index, prompt in enumerate(prompts):
                if TEXT in prompt:
                    raise RefusedTextError("too long", cure="shorten it", index=index)
            return super().generate(prompts)

    system = load("lm-coref", model=Short(**{"Ann slept.": "Ann slept."}))
    with pytest.raises(RefusedTextError, match="too long") as error:
        system.cluster(["Ann slept.", "Ann slept.", TEXT])
    assert error.value.index == 2


def test_a_text_with_the_marks_own_brackets_is_refused() -> None:
    with pytest.raises(RefusedTextError, match="brackets"):
        load("lm-coref", model=Scripted()).cluster(["Ann [[saw]] Eve."])


def test_the_request_ends_with_the_text() -> None:
    assert request("A {text} of ours.").endswith("Text: A {text} of ours.\nCopy:")


@pytest.mark.parametrize("name", ["lm-coref", "lm-coref-questions"])
def test_what_does_not_write_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="does not write"):
        load(name, model=3)
    with pytest.raises(InputError, match="made already"):
        load(name, model=Scripted(), device="cpu")
    with pytest.raises(InputError, match="server's URL"):
        load(name)
