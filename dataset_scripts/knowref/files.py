"""KnowRef's upstream files, each read into the same kind of sentence."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.knowref.recipes import fingerprint
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, KNOWREF60K, TEST
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError, redacted
from pronominal.instances import ResolutionInstance
from pronominal.json_files import parse_json
from pronominal.spans import Mention
from pronominal.switching import locate_candidates

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
        text = self.text
        for pronoun in reversed(self.pronouns):
            text = text[: pronoun.start] + name + text[pronoun.end :]
        return text

    @property
    def fingerprint(self) -> str:
        """The first 64 bits of the SHA-256 of the sentence, its pronouns left out, in hex."""
        return fingerprint(self.filled(LOST))


Faults = list[InputError]


def read_test(sources: Sources, faults: Faults | None = None) -> list[Sentence]:
    """Read the test sentences; errors of a row are raised, or gathered in `faults` if given."""
    return _parsed(parse_record, *_records(sources, KNOWREF, TEST), faults)


def read_train(sources: Sources, faults: Faults | None = None) -> list[Sentence]:
    """Read the paper's development sentences, which the 60k copy calls ``val.json``."""
    records, file = _records(sources, KNOWREF60K, "data/val.json")
    if records[-2:-1] == records[-1:]:
        # upstream's last row is there twice
        del records[-1]
    return _parsed(parse_record, records, file, faults)


def read_validation(sources: Sources, faults: Faults | None = None) -> list[Sentence]:
    """Read the validation sentences from their substitution pairs, called ``dev.tsv``."""
    pairs, file = read_pairs(sources, "data/dev.tsv"), sources.locate(KNOWREF60K, "data/dev.tsv")
    return _parsed(_parse_pair, pairs, file, faults)


def _parsed(
    parse: Callable[[int, Any, RowLocation], Sentence],
    records: Iterable[Any],
    file: str,
    faults: Faults | None,
) -> list[Sentence]:
    sentences = []
    for row, record in enumerate(records):
        try:
            sentences.append(parse(row, record, RowLocation(file, f"row {row}")))
        except InputError as error:
            if faults is None:
                raise
            faults.append(error)
    return sentences


def _records(sources: Sources, upstream: Upstream, name: str) -> tuple[list[Any], str]:
    """Return the records of a JSON array, one at least, and the name of their file in errors."""
    file = sources.locate(upstream, name)
    records = parse_json(sources.read(upstream, name), file=file, cure="fetch it again")
    if not isinstance(records, list) or not records:
        raise InputError("there is no array of sentences", cure="fetch it again", file=file)
    return records, file


def read_pairs(sources: Sources, name: str) -> list[list[Mapping[str, str]]]:
    """Read a table of substitution pairs: for each index its two rows."""
    cells = [row.cells for row in sources.table(KNOWREF60K, name, PAIRS)]
    return [list(pair) for _, pair in groupby(cells, key=lambda row: row["index"])]


def parse_record(row: int, record: Any, at: RowLocation) -> Sentence:
    """Read one JSON record; candidates may be strings or lists of one string.

    The label comes from ``correct_candidate``: ``correct_candidate_idx`` is wrong in 299 rows.
    """
    names = (_string(record, "candidate0", at), _string(record, "candidate1", at))
    correct = _string(record, "correct_candidate", at)
    text, pronouns = unbracketed(_string(record, "sentence_with_pronoun", at), at)
    if correct not in names:
        raise at.refuse("the correct candidate is neither of the two", "write one of them")
    return Sentence(row, text, pronouns, names, names.index(correct))


def unbracketed(marked: str, at: RowLocation) -> tuple[str, tuple[Mention, ...]]:
    """Return a sentence without its brackets, and the pronouns that were in them."""
    text = BRACKETS.sub(r"\1", marked)
    pronouns = tuple(
        # two brackets less for each pronoun before
        Mention(bracket[1], bracket.start() - 2 * index, bracket.end() - 2 * index - 2)
        for index, bracket in enumerate(BRACKETS.finditer(marked))
    )
    if not pronouns or "[" in text or "]" in text:
        cause = "no pronoun, or half of one, is in square brackets"
        raise at.refuse(cause, "put the pronoun in brackets")
    return text, pronouns


def _parse_pair(row: int, pair: Sequence[Mapping[str, str]], at: RowLocation) -> Sentence:
    """Read the two substitutions of a row: they differ in the one token that was the pronoun."""
    again, index = "fetch the file again", pair[0]["index"]
    if len(pair) != 2 or index != str(row):
        cause = f"{len(pair)} substitutions of index {redacted(index)} instead of 2 of {row}"
        raise at.refuse(cause, again)
    names = (pair[0]["candidate0"], pair[0]["candidate1"])
    tokens = [joined(substitution).split(" ") for substitution in pair]
    differing = [i for i, (one, other) in enumerate(zip(*tokens, strict=False)) if one != other]
    if len(tokens[0]) != len(tokens[1]) or len(differing) != 1:
        raise at.refuse("the substitutions do not differ in exactly one token", again)
    if tuple(words[differing[0]] for words in tokens) != names:
        raise at.refuse("the substitutions do not hold the candidates", again)
    labels = [substitution["label"] for substitution in pair]
    if sorted(labels) != ["0", "1"]:
        raise at.refuse("not exactly one substitution is labelled right", again)
    before, after = tokens[0][: differing[0]], tokens[0][differing[0] + 1 :]
    start = sum(len(token) + 1 for token in before)
    text = " ".join((*before, LOST, *after))
    return Sentence(row, text, (Mention(LOST, start, start + 1),), names, labels.index("1"))


def joined(substitution: Mapping[str, str]) -> str:
    """Return the whole sentence; where upstream cuts it in two means nothing."""
    return f"{substitution['sentence1']} {substitution['sentence2']}"


def _string(record: Any, key: str, at: RowLocation) -> str:
    value = record.get(key) if isinstance(record, dict) else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str) or not value:
        raise at.refuse(f"the field '{key}' is missing or no text", "fetch the file again")
    return value
