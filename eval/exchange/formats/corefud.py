"""CorefUD 1.x (Nedoluzhko et al., 2022): CoNLL-U with the mentions' brackets in MISC.

``Entity=(e7--1-`` opens a mention of the entity e7 and ``e7)`` closes it; between the dashes are
the entity's type, which we leave empty, and the mention's head, for which we give the first word.
We have no syntax: every sentence is a flat tree. Sentences that a mention reaches across are
written as one, for no mention may (udapi refuses it).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from pronominal.atomic import new_file
from pronominal.eval.exchange.brackets import OpenBrackets, brackets
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, WordedText
from pronominal.eval.exchange.text_files import numbered_lines

GENRE = "wb_"

ATTRIBUTES = "eid-etype-head-other"
"""What is between the dashes of an opening bracket."""

NEW_DOCUMENT = re.compile(r"# newdoc(?: id = (?P<key>.*))?\s*")
DECLARED = re.compile(r"# global\.Entity = (?P<attributes>\S+)\s*")
BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<alone>\))?|(?P<closed>[^()]+)\)")
ENTITY = re.compile(r"(?P<name>[^\[\s]+)(?:\[(?P<part>\d+)/(?P<parts>\d+)\])?")


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write texts as documents, with their clusters as entities; ids are unique in the file."""
    entities = 0
    with new_file(out) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        for text in texts:
            file.writelines(f"{line}\n" for line in _lines(text, entities))
            entities += len(text.clusters or [])


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield the documents of a file as answers; see `documents`."""
    return (document.finished() for document in documents(file))


def documents(file: Path) -> Iterator["CorefUDDocument"]:
    """Yield the documents of a file.

    A mention in parts (``e7[1/2]``) reaches from its first word to its last; empty nodes are no
    words, and a mention of nothing else is left out.
    """
    document: CorefUDDocument | None = None
    declared = ATTRIBUTES
    for number, line in numbered_lines(file):
        if document is not None:
            document.mentions.line = number
        begin = NEW_DOCUMENT.fullmatch(line)
        if begin is not None and document is not None:
            yield document
        if begin is not None:
            document = _begun(file, number, begin["key"], declared)
        elif (match := DECLARED.fullmatch(line)) is not None:
            declared = match["attributes"]
            if document is not None:
                document.declared = declared
        elif line.strip() and not line.startswith("#"):
            document = document or _begun(file, number, None, declared)
            document.add(line)
        elif document is not None and not line.strip():
            document.end_sentence()
    if document is not None:
        document.end_sentence()
        yield document


class ParsedWord(NamedTuple):
    """What a word's line says of its parse, as it stands there.

    Attributes:
        line: number of the line.
        tag: its universal part of speech; ``_`` or ``X`` without a parse.
        governor: the number, in the sentence, of the word that governs it; ``0`` for a root.
        relation: what it is to that word, such as ``conj``.
    """

    line: int
    tag: str
    governor: str
    relation: str


@dataclass(slots=True)
class CorefUDDocument:
    """A document while it is read.

    Attributes:
        place: where it begins in the file.
        key: its id; None where it has none.
        declared: what is between the dashes of an opening bracket.
        mentions: its mentions so far.
        words: its words so far.
        parse: that of each word.
        sentence_ends: number of words before the end of each sentence.
    """

    place: str
    key: str | None
    declared: str
    mentions: OpenBrackets
    words: list[str] = field(default_factory=list)
    parse: list[ParsedWord] = field(default_factory=list)
    sentence_ends: list[int] = field(default_factory=list)

    def add(self, line: str) -> None:
        """Take a word's line."""
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) != 10:
            raise self.mentions.refusal(f"{len(columns)} columns, not 10")
        if "-" in columns[0]:
            return  # a token of several words, which follow
        start = len(self.words)
        if "." not in columns[0]:
            self.words.append(columns[1])
            self.parse.append(ParsedWord(self.mentions.line, columns[3], *columns[6:8]))
        for attribute in columns[9].split("|"):
            name, _, value = attribute.partition("=")
            if name == "Entity":
                self._take(value, start)

    def _take(self, value: str, start: int) -> None:
        if BRACKET.sub("", value):
            raise self.mentions.refusal("Entity holds no brackets of mentions")
        for bracket in BRACKET.finditer(value):
            entity = bracket["closed"] or self._id(bracket["opened"])
            name, first, last = self._entity(entity)
            if bracket["opened"] and first:
                self.mentions.open(name, start)
            if last and (bracket["closed"] or bracket["alone"]):
                self.mentions.close(name, len(self.words))

    def _id(self, opened: str) -> str:
        attributes = dict(zip(self.declared.split("-"), opened.split("-"), strict=False))
        if "eid" not in attributes:
            cause = f"a bracket of Entity has no eid, declared as {self.declared}"
            raise self.mentions.refusal(cause)
        return attributes["eid"]

    def _entity(self, name: str) -> tuple[str, bool, bool]:
        """Return an entity's id, and whether this is its mention's first and last part."""
        match = ENTITY.fullmatch(name)
        if match is None:
            raise self.mentions.refusal("Entity holds a bracket without an id")
        part, parts = int(match["part"] or 1), int(match["parts"] or 1)
        return match["name"], part == 1, part == parts

    def end_sentence(self) -> None:
        """Take an empty line."""
        if len(self.words) > max((*self.sentence_ends, 0)):
            self.sentence_ends.append(len(self.words))

    def finished(self) -> PredictedDocument:
        """Return the whole document."""
        found = PredictedDocument(self.place, self.key, self.words, self.mentions.clusters())
        return replace(found, order=self.mentions.order(), zeros=self.mentions.zeros)


def _begun(file: Path, line: int, key: str | None, declared: str) -> CorefUDDocument:
    mentions = OpenBrackets(file, "the format of CorefUD 1.x", line)
    return CorefUDDocument(f"line {line}", key, declared, mentions)


def _lines(text: ExportedText, entities: int) -> Iterator[str]:
    worded, key = _whole_mentions(text.words(spaces=False)), text.key(GENRE)
    misc = iter(_misc(worded, entities))
    yield f"# newdoc id = {key}"
    yield f"# global.Entity = {ATTRIBUTES}"
    for number, sentence in enumerate(worded.sentences, start=1):
        yield f"# sent_id = {key}-{number}"
        yield f"# text = {_sentence(worded, number - 1)}"
        for index, word in enumerate(sentence, start=1):
            head, relation = ("0", "root") if index == 1 else ("1", "dep")
            yield "\t".join([str(index), word, *"_X__", head, relation, "_", next(misc)])
        yield ""


def _whole_mentions(worded: WordedText) -> WordedText:
    """Join the sentences that a mention reaches across."""
    spans = [*chain.from_iterable(worded.clusters())]
    sentences: list[list[str]] = []
    words = 0
    for sentence in worded.sentences:
        if any(start < words < end for start, end in spans):
            sentences[-1] = sentences[-1] + sentence
        else:
            sentences.append(sentence)
        words += len(sentence)
    return replace(worded, sentences=sentences)


def _sentence(worded: WordedText, number: int) -> str:
    before = sum(map(len, worded.sentences[:number]))
    own = worded.places[before : before + len(worded.sentences[number])]
    return " ".join(worded.text.instance.text[own[0].start : own[-1].end].split())


def _misc(worded: WordedText, entities: int) -> list[str]:
    ends = [*worded.places, worded.places[-1]] if worded.places else []
    glued = [one.end == other.start for one, other in pairwise(ends)]
    found = []
    for at_word, no_space in zip(brackets(worded), glued, strict=True):
        parts = at_word.written(lambda cluster: f"e{entities + cluster + 1}", "--1-")
        attributes = [f"Entity={''.join(parts)}"] if parts else []
        attributes += ["SpaceAfter=No"] if no_space else []
        found.append("|".join(attributes) or "_")
    return found
