"""KnowRef's upstream files, each read into the same kind of sentence."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pronominal.dataset_scripts.building.sources import Sources, read_table
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, KNOWREF60K
from pronominal.errors import InputError, shown
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention
from pronominal.switching import locate_candidates
from pronominal.text_files import decoded

LOST = "_"
"""Stands for the pronoun of a validation sentence, whose form no upstream file has."""

BRACKETS = re.compile(r"\[([^\[\]]+)\]")
PAIRS = ("index", "sentence1", "sentence2", "label", "candidate0", "candidate1")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One row of upstream, whatever file it was read from.

    Attributes:
        row: its position in its upstream file, from 0.
        text: the sentence without brackets.
        pronouns: what stood in brackets; the first is the target.
        names: candidate 0 and candidate 1.
        label: index of the right candidate; 0 where both have the same name.
    """

    row: int
    text: str
    pronouns: tuple[Mention, ...]
    names: tuple[str, str]
    label: int

    @property
    def pronoun(self) -> Mention:
        """The pronoun to resolve."""
        return self.pronouns[0]

    def instance(self, split: str) -> ResolutionInstance:
        """Return the sentence with its candidates located."""
        return ResolutionInstance(
            id=f"{split}-{self.row}",
            text=self.text,
            pronoun=self.pronoun,
            candidates=locate_candidates(self.text, self.names, self.pronoun.span),
            label=self.label,
        )

    def filled(self, name: str) -> str:
        """Return the sentence with every bracketed pronoun replaced."""
        pieces: list[str] = []
        done = 0
        for pronoun in self.pronouns:
            pieces += (self.text[done : pronoun.start], name)
            done = pronoun.end
        return "".join((*pieces, self.text[done:]))

    @property
    def fingerprint(self) -> str:
        """The first 64 bits of the SHA-256 of the sentence, its pronouns left out, in hex."""
        return hashlib.sha256(self.filled(LOST).encode()).hexdigest()[:16]


Faults = list[InputError]


def read_test(sources: Sources, faults: Faults | None = None) -> list[Sentence]:
    """Read the test sentences; see `read_all` for what `faults` does."""
    place = sources.place(KNOWREF, "knowref_test.json")
    records = read_array(sources.read(KNOWREF, "knowref_test.json"), place)
    return list(read_all(parse_record, records, place, faults))


def read_train(sources: Sources, faults: Faults | None = None) -> list[Sentence]:
    """Read the paper's development sentences, which the 60k copy calls ``val.json``."""
    place = sources.place(KNOWREF60K, "data/val.json")
    records = read_array(sources.read(KNOWREF60K, "data/val.json"), place)
    if records[-2:-1] == records[-1:]:
        # upstream's last row stands there twice
        del records[-1]
    return list(read_all(parse_record, records, place, faults))


def read_validation(sources: Sources, faults: Faults | None = None) -> list[Sentence]:
    """Read the validation sentences from their substitution pairs, called ``dev.tsv``."""
    place = sources.place(KNOWREF60K, "data/dev.tsv")
    return list(read_all(_parse_pair, read_pairs(sources, "data/dev.tsv"), place, faults))


def read_all(
    parse: Callable[[int, Any, str], Sentence],
    records: Iterable[Any],
    place: str,
    faults: Faults | None,
) -> Iterator[Sentence]:
    """Parse every record; errors of a row are raised, or gathered in `faults` if that is given."""
    for row, record in enumerate(records):
        try:
            yield parse(row, record, place)
        except InputError as error:
            if faults is None:
                raise
            faults.append(error)


def read_array(content: bytes, place: str) -> list[Any]:
    """Parse a JSON array of at least one record; `InputError` names the line of what is broken."""
    text = decoded(content, file=place, cure="fetch it again")
    try:
        records = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not valid JSON ({error.msg})",
            cure="fetch it again",
            file=place,
            row=f"line {error.lineno}",
        ) from error
    if not isinstance(records, list) or not records:
        raise InputError("there is no array of sentences", cure="fetch it again", file=place)
    return records


def read_pairs(sources: Sources, name: str) -> list[list[Mapping[str, str]]]:
    """Read a table of substitution pairs: for each index its two rows."""
    table = read_table(sources.read(KNOWREF60K, name), PAIRS, sources.place(KNOWREF60K, name))
    cells = [row.cells for row in table]
    return [list(pair) for _, pair in groupby(cells, key=lambda row: row["index"])]


def parse_record(row: int, record: Any, place: str) -> Sentence:
    """Read one JSON record; candidates may be strings or lists of one string.

    The label comes from ``correct_candidate``: ``correct_candidate_idx`` is wrong in 299 rows.
    """
    names = (_string(record, "candidate0", row, place), _string(record, "candidate1", row, place))
    correct = _string(record, "correct_candidate", row, place)
    text, pronouns = unbracketed(_string(record, "sentence_with_pronoun", row, place), row, place)
    if correct not in names:
        raise InputError(
            "the correct candidate is neither of the two",
            cure="write one of them",
            file=place,
            row=f"row {row}",
        )
    return Sentence(row, text, pronouns, names, names.index(correct))


def unbracketed(marked: str, row: int, place: str) -> tuple[str, tuple[Mention, ...]]:
    """Return a sentence without its brackets, and the pronouns that stood in them."""
    pieces: list[str] = []
    pronouns = []
    length = done = 0
    for bracket in BRACKETS.finditer(marked):
        before, pronoun = marked[done : bracket.start()], bracket.group(1)
        start = length + len(before)
        pronouns.append(Mention(pronoun, start, start + len(pronoun)))
        pieces += (before, pronoun)
        length, done = start + len(pronoun), bracket.end()
    text = "".join((*pieces, marked[done:]))
    if not pronouns or "[" in text or "]" in text:
        raise InputError(
            "no pronoun, or half of one, is in square brackets",
            cure="put the pronoun in brackets",
            file=place,
            row=f"row {row}",
        )
    return text, tuple(pronouns)


def _parse_pair(row: int, pair: Sequence[Mapping[str, str]], place: str) -> Sentence:
    """Read the two substitutions of a row: they differ in the one token that was the pronoun."""

    def refuse(cause: str) -> InputError:
        return InputError(cause, cure="fetch the file again", file=place, row=f"row {row}")

    if len(pair) != 2 or pair[0]["index"] != str(row):
        index = shown(pair[0]["index"])
        raise refuse(f"{len(pair)} substitutions of index {index} instead of 2 of {row}")
    names = (pair[0]["candidate0"], pair[0]["candidate1"])
    tokens = [joined(substitution).split(" ") for substitution in pair]
    differing = [
        index for index, (one, other) in enumerate(zip(*tokens, strict=False)) if one != other
    ]
    if len(tokens[0]) != len(tokens[1]) or len(differing) != 1:
        raise refuse("the substitutions do not differ in exactly one token")
    if tuple(words[differing[0]] for words in tokens) != names:
        raise refuse("the substitutions do not hold the candidates")
    labels = [substitution["label"] for substitution in pair]
    if sorted(labels) != ["0", "1"]:
        raise refuse("not exactly one substitution is labelled right")
    before, after = tokens[0][: differing[0]], tokens[0][differing[0] + 1 :]
    start = sum(len(token) + 1 for token in before)
    text = " ".join((*before, LOST, *after))
    return Sentence(row, text, (Mention(LOST, start, start + 1),), names, labels.index("1"))


def joined(substitution: Mapping[str, str]) -> str:
    """Return the whole sentence; where upstream cuts it in two means nothing."""
    return f"{substitution['sentence1']} {substitution['sentence2']}"


def _string(record: Any, key: str, row: int, place: str) -> str:
    value = record.get(key) if isinstance(record, dict) else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str) or not value:
        raise InputError(
            f"the field '{key}' is missing or no text",
            cure="fetch the file again",
            file=place,
            row=f"row {row}",
        )
    return value
