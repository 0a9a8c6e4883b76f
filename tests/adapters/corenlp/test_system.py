"""Stanford CoreNLP through its server: a stub speaks the documented JSON, counting as Java does."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import InputError, Span
from pronominal.adapters import SYSTEMS, load
from pronominal.adapters.contract.self_check import SelfCheckWarning
from pronominal.adapters.corenlp.answers import clusters_of
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run
from tests.adapters.remote.own_server import Handler, serving

NAMES = ("corenlp-neural", "corenlp-rule", "corenlp-statistical")


def units(text: str) -> int:
    """How long Java says a text is."""
    return len(text.encode("utf-16-le")) // 2


def annotate(text: str) -> dict[str, Any]:
    """Answer as the server does: the first word of a text and every word "she" are a chain."""
    sentences: list[dict[str, Any]] = []
    chain, pieces = [], [text[m.start() : m.end()] for m in re.finditer(r"[^.]*\.?", text)]
    offset = 0
    for number, sentence in enumerate(filter(None, pieces), 1):
        tokens: list[dict[str, Any]] = []
        for index, match in enumerate(re.finditer(r"[\w𝒜-𝓩🐌]+|[^\w\s]", sentence), 1):
            start = offset + units(sentence[: match.start()])
            word = match.group()
            tokens.append(
                {
                    "index": index,
                    "word": word,
                    "originalText": word,
                    "characterOffsetBegin": start,
                    "characterOffsetEnd": start + units(word),
                }
            )
            if word == "she" or (number, index) == (1, 1):
                place = {"sentNum": number, "startIndex": index, "endIndex": index + 1}
                chain.append({"id": len(chain), "text": word, **place})
        sentences.append({"index": number - 1, "tokens": tokens})
        offset += units(sentence)
    alone = {"9": chain[:1]}  # singletons are in the answers of some versions
    return {"sentences": sentences, "corefs": {"3": chain, **alone}}


@dataclass
class Server:
    """Annotates; fails as it is told to.

    Attributes:
        failures: status and body of the next answers; 0 closes the connection without any.
        fails_at: a word whose texts fail, with status and body.
        answer: what it answers to everything, if not an annotation.
        dead: whether it closes every connection.
        dies_at: after how many texts it does so.
        asked: the texts so far.
        properties: those of the last request.
    """

    failures: list[tuple[int, str]] = field(default_factory=list)
    fails_at: tuple[str, int, str] | None = None
    answer: bytes | None = None
    asked: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    dead: bool = False
    dies_at: int | None = None
    url: str = ""

    def reply(self, path: str, body: bytes) -> tuple[int, bytes]:
        self.properties = json.loads(parse_qs(urlsplit(path).query)["properties"][0])
        # as upstream: decoded, whatever the header says, and then trimmed
        text = unquote(body.decode()).strip("".join(map(chr, range(33))))
        self.asked.append(text)
        if self.fails_at is not None and self.fails_at[0] in text:
            return self.fails_at[1], self.fails_at[2].encode()
        answer = json.dumps(annotate(text), ensure_ascii=False).encode()
        return 200, self.answer or answer


@pytest.fixture
def server(pauses: list[float]) -> Iterator[Server]:
    found = Server()

    class Annotator(Handler):
        def asked(self, content: bytes) -> None:
            if found.dead or len(found.asked) == found.dies_at:
                self.close_connection = True
                return
            status, body = found.reply(self.path, content)
            if found.failures:
                status, said = found.failures.pop(0)
                body = said.encode()
            self.answer(status, body)

    with serving(Annotator) as found.url:
        yield found


def served(server: Server, name: str = "corenlp-neural", **settings: Any) -> Any:
    return load(name, url=server.url, **settings)


def words(text: str, clusters: list[list[Span]]) -> list[list[str]]:
    return [[text[start:end] for start, end in cluster] for cluster in clusters]


ANNOTATORS = {
    "corenlp-neural": ("tokenize,ssplit,pos,lemma,ner,parse,coref", "neural"),
    "corenlp-rule": ("tokenize,ssplit,pos,lemma,ner,parse,dcoref", None),
    "corenlp-statistical": ("tokenize,ssplit,pos,lemma,ner,depparse,coref", "statistical"),
}


@pytest.mark.parametrize("name", NAMES)
def test_each_system_asks_for_its_algorithm(server: Server, name: str) -> None:
    system = served(server, name, text_timeout=7, properties={"threads": "2"})
    assert system.name == name
    assert system.self_check == ()
    annotators, algorithm = ANNOTATORS[name]
    sent = {"annotators": annotators, "outputFormat": "json", "timeout": "7000", "threads": "2"}
    assert server.properties == sent | ({"coref.algorithm": algorithm} if algorithm else {})


TEXTS = {
    "two sentences": ("Anna slept. Then she sang, and she ate.", ["Anna", "she", "she"]),
    "astral characters": ("𝒜𝒷𝒸 saw a 🐌. Then she sang 🐌🐌 as she ate.", ["𝒜𝒷𝒸", "she", "she"]),
    "white space around": (" \n\tAnna slept. Then she sang. \n", ["Anna", "she"]),
    "percent signs": ("Anna wrote 5%20 and 100% + 1, and she slept.", ["Anna", "she"]),
    "a line inside": ("Anna slept.\nThen she sang.", ["Anna", "she"]),
    "accents": ("Zoë ate, et she \u00adslept.", ["Zoë", "she"]),
}


@pytest.mark.parametrize(("text", "mentions"), TEXTS.values(), ids=TEXTS)
def test_offsets_are_those_of_the_text(server: Server, text: str, mentions: list[str]) -> None:
    assert words(text, served(server).cluster([text])[0]) == [mentions]


@given(st.lists(st.sampled_from([*"ab .🐌𝒜%\n", "she "]), max_size=20).map("".join))
@settings(max_examples=50)
def test_any_text_comes_back_in_code_points(text: str) -> None:
    if not text:
        return
    for cluster in clusters_of(annotate(text), text)[:1]:
        for span in cluster[1:]:
            assert span is not None
            assert text[span.start : span.end] == "she"


def test_every_text_is_answered_in_order(server: Server) -> None:
    texts = ["A" * number + " said she slept." for number in range(1, 30)]
    answers = served(server).cluster(texts)
    assert [clusters[0][0].end for clusters in answers] == [*range(1, 30)]


def test_texts_without_words_are_not_sent(server: Server) -> None:
    system = served(server)
    server.asked.clear()
    assert system.cluster(["", " \n"]) == [[], []]
    assert server.asked == []
    with pytest.raises(InputError, match="the texts are one string"):
        system.cluster("Anna slept.")


def test_nothing_coreferent(server: Server) -> None:
    assert served(server).cluster(["Rain fell."]) == [[]]


def test_a_server_that_finds_nothing_is_announced(server: Server) -> None:
    server.answer = b'{"sentences": [], "corefs": {}}'
    with pytest.warns(SelfCheckWarning, match="no cluster in any of 6 plain sentences"):
        served(server)


@pytest.mark.parametrize("status", [0, 429, 503])
def test_a_server_that_is_away_for_a_moment_is_asked_again(
    server: Server, pauses: list[float], status: int
) -> None:
    system = served(server)
    server.failures = [(status, "")] * 3
    assert len(system.cluster(["Anna said she slept."])[0]) == 1
    assert pauses == [0.25, 0.5, 1]


def test_a_dead_server_is_named(server: Server) -> None:
    system = served(server, patience=0)
    server.dead = True
    with pytest.raises(InputError, match=r"not answered for 0 seconds .*java -mx8g .* is kept"):
        system.cluster(["Anna slept."])


def test_a_run_goes_on_after_the_server_died(server: Server, sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "single")
    settings = {"url": server.url, "patience": 0, "at_once": 2}
    asked = SystemSettings("rules", "corenlp-rule", None, settings)
    whole = run(split, asked.load(), asked, tmp_path / "whole").predictions.read_bytes()
    system = asked.load()
    server.dies_at = len(server.asked) + 400
    with pytest.raises(InputError, match=r"not answered for 0 seconds .* what is done is kept"):
        run(split, system, asked, tmp_path / "cut")
    (part,) = tmp_path.glob("cut/*/predictions.jsonl")
    assert 0 < len(part.read_bytes()) < len(whole)
    server.dies_at = None
    folder = run(split, asked.load(), asked, tmp_path / "cut")
    assert folder.predictions.read_bytes() == whole
    assert b"choice" in whole


def test_one_answer_in_another_form_costs_one_row(
    server: Server, sample: Path, tmp_path: Path
) -> None:
    split = read_split(str(sample), "double")
    asked = SystemSettings("rules", "corenlp-rule", None, {"url": server.url})
    culprit = split.instances()[7]
    system = asked.load()
    server.fails_at = (culprit.text, 200, "<html>")
    folder = run(split, system, asked, tmp_path)
    assert [*folder.failures] == [culprit.id]
    assert "does not answer in CoreNLP's JSON" in folder.failures[culprit.id].cause


def test_no_server_at_all() -> None:
    with pytest.raises(InputError, match=r"http://127.0.0.1:9: .*start it .java -mx8g -cp"):
        load("corenlp-rule", url="http://127.0.0.1:9", patience=0)


LATE = "CoreNLP request timed out. Your document may be too long."
MEMORY = "java.lang.OutOfMemoryError: Java heap space"
QUOTING = "java.lang.IllegalStateException: cannot read 'the secret sentence'"
FAULTS: list[tuple[int, str, str]] = [
    (500, LATE, r"did not finish it in 60 seconds; give a longer text_timeout"),
    (500, MEMORY, r"fails at it .java.lang.OutOfMemoryError.; look at the server's own output"),
    (500, QUOTING, r"fails at it .java.lang.IllegalStateException.;"),
    (500, "the secret sentence", r"fails at it .it gives no reason.;"),
    (400, "Request is too long: 5 characters", r"fails at it .*above its -maxCharLength"),
]


@pytest.mark.parametrize(("status", "said", "cause"), FAULTS)
def test_the_text_at_fault_is_named_without_quoting_it(
    server: Server, status: int, said: str, cause: str
) -> None:
    system = served(server)
    server.fails_at = ("poison", status, said)
    with pytest.raises(InputError, match=rf"texts\[1\]: the server {cause}") as caught:
        system.cluster(["Anna slept.", "Anna ate poison.", "Anna sang."])
    assert "secret" not in str(caught.value)
    assert "poison" not in str(caught.value)


def test_a_text_at_which_the_server_failed_once_is_sent_again(server: Server) -> None:
    system = served(server)
    server.failures = [(500, LATE), (500, MEMORY)]
    assert len(system.cluster(["Anna said she slept."])[0]) == 1


def test_a_server_without_the_models_is_refused_on_load(server: Server) -> None:
    server.fails_at = ("", 500, "edu.stanford.nlp.io.RuntimeIOException: no model")
    with pytest.raises(InputError, match=r"self-check, sentence 1: .*nlp.io.RuntimeIOException"):
        served(server)


@pytest.mark.parametrize("status", [302, 401, 404])
def test_another_server_is_no_reason_to_ask_again(
    server: Server, pauses: list[float], status: int
) -> None:
    server.failures = [(status, "")]
    with pytest.raises(InputError, match=f"refuses what it is asked .HTTP {status}.; give the URL"):
        served(server)
    assert pauses == []


def mention(**places: int) -> Callable[[dict[str, Any]], object]:
    return lambda answer: answer["corefs"]["3"][0].update(places)


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "no chains": lambda answer: answer.pop("corefs"),
    "no sentences": lambda answer: answer.pop("sentences"),
    "no tokens": lambda answer: answer["sentences"][0].pop("tokens"),
    "sentence 0": mention(sentNum=0),
    "sentence 5": mention(sentNum=5),
    "token 0": mention(startIndex=0),
    "token 90": mention(endIndex=90),
    "no token": mention(endIndex=1),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN)
def test_another_protocol_is_named(
    server: Server, damage: Callable[[dict[str, Any]], object]
) -> None:
    system = served(server)
    answer = annotate("Anna slept.")
    damage(answer)
    server.answer = json.dumps(answer).encode()
    with pytest.raises(InputError, match="does not answer in CoreNLP's JSON; give the URL"):
        system.cluster(["Anna slept."])


@pytest.mark.parametrize("answer", [b"pong", b"[]", b"null", b'"x"'])
def test_no_json_of_that_kind(server: Server, answer: bytes) -> None:
    server.answer = answer
    with pytest.raises(InputError, match="does not answer in CoreNLP's JSON"):
        served(server)


@pytest.mark.parametrize("other", ["Eve ate.", "An apple a day and more."])
def test_tokens_of_another_text_are_refused(server: Server, other: str) -> None:
    system = served(server)
    server.answer = json.dumps(annotate(other)).encode()
    with pytest.raises(InputError, match=r"texts\[0\]: the server's tokens are not where it says"):
        system.cluster(["Anna slept."])


def test_the_full_stop_that_the_server_adds_has_no_characters(server: Server) -> None:
    system = served(server)
    answer = annotate("Anna ate at Acme Inc.")
    end = len("Anna ate at Acme Inc.")
    added = {"originalText": "", "characterOffsetBegin": end, "characterOffsetEnd": end}
    answer["sentences"][0]["tokens"].append({"word": ".", **added})
    answer["corefs"]["3"].append({"sentNum": 1, "startIndex": 7, "endIndex": 8})
    server.answer = json.dumps(answer).encode()
    assert system.cluster(["Anna ate at Acme Inc."]) == [[]]


def test_control_characters_come_back_as_they_are(server: Server) -> None:
    system = served(server)
    text = "Anna\x01 said she slept."
    server.answer = json.dumps(annotate(text)).replace("\\u0001", "\x01").encode()
    assert words(text, system.cluster([text])[0]) == [["Anna", "she"]]


def test_half_a_character_is_refused(server: Server) -> None:
    system = served(server)
    with pytest.raises(InputError, match=r"texts\[1\]: half of a surrogate pair"):
        system.cluster(["Anna slept.", "Anna \ud83d slept."])


@pytest.mark.parametrize("url", ["https://corenlp.run", "http://8.8.8.8:9000"])
def test_a_server_of_somebody_else_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="hosted API, whose owner may train on the sentences"):
        load("corenlp-neural", url=url)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"at_once": 0}, "nothing is asked"),
        ({"text_timeout": 0}, "no time given"),
        ({"link": "x"}, "no setting 'link'"),
        ({"url": "localhost:9000"}, "is no URL"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        load("corenlp-rule", **settings)


@pytest.mark.parametrize("name", NAMES)
def test_it_needs_no_extra(name: str) -> None:
    assert SYSTEMS[name].extra is None
    with pytest.raises(InputError, match="is no URL"):
        load(name, "somewhere")
