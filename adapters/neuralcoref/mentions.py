"""Which spans of a parsed text are mentions: the rules of neuralcoref 4.0 (``neuralcoref.pyx``).

Labels are those of spaCy's English pipelines: Penn Treebank tags and ClearNLP's dependencies.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

NEVER_MENTIONS = frozenset({"i", "me", "my", "you", "your"})
PRONOUN_TAGS = frozenset({"PRP", "PRP$"})
CONTENT_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
MENTION_TAGS = CONTENT_TAGS | PRONOUN_TAGS | {"DT", "IN"}
PROPER_TAGS = frozenset({"NNP", "NNPS"})
LIST_TAGS = frozenset({"CC", ","})
INNER_DEPENDENCIES = frozenset({"det", "compound", "appos"})
SUBJECT_DEPENDENCIES = frozenset({"nsubj", "dep"})
NO_BORDER_POS = frozenset({"CCONJ", "SCONJ", "INTJ", "ADP"})
NO_BORDER_WORDS = frozenset({"'s", ",", ".", "!", "?", ":", ";"})
ENTITIES = frozenset(
    {"PERSON", "NORP", "FACILITY", "ORG", "GPE", "LOC", "PRODUCT", "EVENT"}
    | {"WORK_OF_ART", "LANGUAGE"}
)

PRONOMINAL, NOMINAL, PROPER, LIST = range(4)


@dataclass(frozen=True, slots=True)
class Mention:
    """A span that may refer; places count tokens of the text.

    Attributes:
        start: its first token.
        end: the token behind its last one.
        root: its head word.
        governor: the head of its head word, itself where there is none.
        sentence: the number of its sentence.
        sentence_start: the first token of its sentence.
        sentence_end: the token behind the sentence's last one.
        type: `PRONOMINAL`, `NOMINAL`, `PROPER` or `LIST`.
        text: its text in lower case.
        root_text: its head word in lower case.
        content_words: its nouns in lower case.
    """

    start: int
    end: int
    root: int
    governor: int
    sentence: int
    sentence_start: int
    sentence_end: int
    type: int
    text: str
    root_text: str
    content_words: frozenset[str]


def find_mentions(document: Any, blacklist: bool) -> list[Mention]:
    """Return the mentions of a parsed spaCy ``Doc``, in the order of their head words.

    `blacklist` leaves out first and second person pronouns.
    """
    borders = {(entity.start, entity.end) for entity in document.ents if entity.label_ in ENTITIES}
    for sentence in document.sents:
        borders.update(pair for pair in _noun_phrases(sentence, blacklist) if pair[0] < pair[1])
    numbers = [number for number, sentence in enumerate(document.sents) for _ in sentence]
    # an end behind the text is upstream's, see `_owner_of_a_clause`; spaCy cuts it off
    mentions = [_mention(document[start:end], numbers) for start, end in sorted(borders)]
    return sorted(mentions, key=lambda mention: (mention.root, mention.start))


def _noun_phrases(sentence: Any, blacklist: bool) -> Iterator[tuple[int, int]]:
    for token in sentence:
        if blacklist and token.lower_ in NEVER_MENTIONS:
            continue
        if token.tag_ not in MENTION_TAGS or token.dep_ in INNER_DEPENDENCIES:
            continue
        if token.tag_ in PRONOUN_TAGS:
            yield token.i, token.i + 1
            if token.n_lefts or token.n_rights:  # joined with another, as in "he and Ann"
                yield token.left_edge.i, token.right_edge.i + 1
        elif token.lower_ == "'s":
            yield from _owner_of_a_clause(token)
        else:
            start, end = _trimmed(sentence, token.left_edge.i, token.right_edge.i)
            if start == end and token.tag_ == "IN" and token.dep_ == "mark":
                head = token.head
                start, end = _trimmed(sentence, head.left_edge.i, head.right_edge.i)
            if start < end and sentence.doc[start].lower_ != "'s":
                yield start, end


def _owner_of_a_clause(token: Any) -> Iterator[tuple[int, int]]:
    """Yield the subject above a clitic that was tagged as a noun, one token longer, as upstream."""
    head = token.head
    for _ in range(100):  # as many steps as upstream climbs; at a root it stays where it is
        if head.i == 0:
            return
        if head.dep_ == "nsubj":
            parts = [child for child in head.children if child.dep_ in SUBJECT_DEPENDENCIES]
            first = min([head.i, *(child.left_edge.i for child in parts)])
            last = max([head.i, *(child.right_edge.i for child in parts)])
            start, end = _trimmed(token.sent, first, last)
            yield start, end + 1
            return
        head = head.head


def _trimmed(sentence: Any, first: int, last: int) -> tuple[int, int]:
    """Return a phrase without conjunctions, punctuation and the like at its borders."""
    document = sentence.doc

    def is_no_border(place: int) -> bool:
        token = document[place]
        return token.pos_ in NO_BORDER_POS or token.lower_ in NO_BORDER_WORDS

    while last >= first and last > sentence.start and is_no_border(last):
        last -= 1
    while first <= last and first < sentence.end - 1 and is_no_border(first):
        first += 1
    return first, last + 1


def _mention(span: Any, numbers: list[int]) -> Mention:
    sentence, root = span.sent, span.root
    return Mention(
        start=span.start,
        end=span.end,
        root=root.i,
        governor=root.head.i,
        sentence=numbers[span.start],
        sentence_start=sentence.start,
        sentence_end=sentence.end,
        type=_type(span),
        text=span.text.lower(),
        root_text=root.lower_,
        content_words=frozenset(token.lower_ for token in span if token.tag_ in CONTENT_TAGS),
    )


def _type(span: Any) -> int:
    if any(token.tag_ in LIST_TAGS and token.ent_type_ not in ENTITIES for token in span):
        return LIST
    if span.root.tag_ in PRONOUN_TAGS:
        return PRONOMINAL
    if span.root.ent_type_ in ENTITIES or span.root.tag_ in PROPER_TAGS:
        return PROPER
    return NOMINAL
