"""What must hold of KnowRef's files; known faults (facts of the release) are not reported."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.knowref.files import (
    LOST,
    Faults,
    Sentence,
    joined,
    read_pairs,
    read_test,
    read_train,
    read_validation,
)
from pronominal.dataset_scripts.knowref.recipes import recipes
from pronominal.dataset_scripts.knowref.reddit import (
    SPLITS,
    Label,
    hydrated_file,
    read_hydrated,
    read_ids,
    read_labels,
)
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, KNOWREF60K, SPREADSHEET, TEST, held
from pronominal.dataset_scripts.tables.violations import RowLocation, Violation, summarise_repeats
from pronominal.errors import InputError
from pronominal.pronouns import HE, SHE, THEY
from pronominal.switching import Unswitchable, switch

FORMS = {*HE.forms, *SHE.forms, *THEY.forms}
SWITCHED = ("question_id", "substitution0", "substitution1", "label")


@dataclass(frozen=True, slots=True)
class Expected:
    """One split: where it is read from and what is known about it.

    Attributes:
        upstream: the repository of its file.
        file: its file.
        read: reads that file.
        rows: number of rows.
        pairs: the same sentences as substitution pairs.
        switched: the same sentences and, but for validation, upstream's switched ones.
        unswitchable: rows with one name for both candidates or with a candidate not in the text.
        repeats: rows with the sentence and pronoun of an earlier row.
        two_pronouns: rows in which two pronouns are in brackets.
        other_names: rows whose sentence upstream's `switched` has with the candidates' names.
        ill_switched: rows that upstream switched letter by letter, inside longer names and words.
    """

    upstream: Upstream
    file: str
    read: Callable[[Sources, Faults], list[Sentence]]
    rows: int
    pairs: str
    switched: str
    unswitchable: frozenset[int]
    repeats: frozenset[int] = frozenset()
    two_pronouns: frozenset[int] = frozenset()
    other_names: frozenset[int] = frozenset()
    ill_switched: frozenset[int] = frozenset()


EXPECTED = {
    "test": Expected(
        KNOWREF,
        TEST,
        read_test,
        1269,
        "data/test.tsv",
        "data_switched/test.tsv",
        unswitchable=frozenset({237, 645, 646, 1084}),
        repeats=frozenset({305, *range(406, 426), 629, 848, 1104}),
        two_pronouns=frozenset({476}),
        other_names=frozenset({645, 646}),
        ill_switched=frozenset({6, 733, 1110}),
    ),
    "train": Expected(
        KNOWREF60K,
        "data/val.json",
        read_train,
        5219,
        "data/train.tsv",
        "data_switched/train.tsv",
        unswitchable=frozenset(
            {28, 88, 165, 761, 764, 819, 836, 1060, 2253, 2680, 3005, 3082, 3384, 3610, 3964}
            | {4508, 4519, 4896, 5040}
        ),
        ill_switched=frozenset({74, 580, 931, 941, 1042, 3003, 3651, 4146, 4780}),
    ),
    "validation": Expected(
        KNOWREF60K,
        "data/dev.tsv",
        read_validation,
        2236,
        "data/dev.tsv",
        "data_switched/val.tsv",
        unswitchable=frozenset({30, 700, 716, 843, 1224, 1575, 1853, 1947}),
    ),
}


def violations(sources: Sources) -> Iterator[Violation]:
    """Check every file of the sources, by itself and against the others.

    The test alone is checked when they are downloaded.
    """
    for split, expected in EXPECTED.items():
        if split == "test" or held(sources, expected.upstream, expected.file):
            yield from summarise_repeats(_split_violations(sources, split))
    for split in SPLITS:
        if sources.root and hydrated_file(sources.root, split).exists():
            try:
                read_hydrated(sources, split)
            except InputError as error:
                yield Violation.of(error)
    yield from sources.changed_files()


def _split_violations(sources: Sources, split: str) -> Iterator[Violation]:
    expected = EXPECTED[split]
    file, faults = sources.locate(expected.upstream, expected.file), Faults()
    sentences = expected.read(sources, faults)
    yield from map(Violation.of, faults)
    count = len(sentences) + len(faults)
    if count != expected.rows:
        yield Violation(file, None, f"{count} rows instead of {expected.rows}")
    for row, message in _sentences(split, sentences):
        yield Violation(file, f"row {row}", message)
    by_row = {sentence.row: sentence for sentence in sentences}
    for check in (_pairs, _switched, _released):
        try:
            yield from check(sources, split, by_row)
        except InputError as error:
            yield Violation.of(error)


def _sentences(split: str, sentences: Sequence[Sentence]) -> Iterator[tuple[int, str]]:
    """Check each sentence by itself, and that none is there twice."""
    expected = EXPECTED[split]
    first: dict[tuple[str, int], int] = {}
    for sentence in sentences:
        row, pronoun = sentence.row, sentence.pronoun
        known = {LOST} if split == "validation" else FORMS
        if pronoun.text.lower() not in known:
            yield row, "the word in brackets is no third-person pronoun"
        if (len(sentence.pronouns) > 1) != (row in expected.two_pronouns):
            yield row, f"{len(sentence.pronouns)} pronouns are in brackets"
        instance = sentence.instance(split)
        if any(candidate.start > pronoun.start for candidate in instance.candidates):
            yield row, "a candidate stands after the pronoun only"
        try:
            switch(instance)
            if row in expected.unswitchable:
                yield row, "the candidates can be switched, unlike upstream's"
        except Unswitchable as refusal:
            if row not in expected.unswitchable:
                yield row, f"cannot be switched: {refusal.reason}"
        earlier = first.setdefault((sentence.text, pronoun.start), row)
        if (earlier != row) != (row in expected.repeats):
            yield row, f"the sentence of row {earlier}" if earlier != row else "repeats no row"


def _pairs(sources: Sources, split: str, sentences: Mapping[int, Sentence]) -> Iterator[Violation]:
    """Compare with the substitution pairs; the test's labels are blanked there."""
    name = EXPECTED[split].pairs
    if not held(sources, KNOWREF60K, name):
        return
    for row, pair in enumerate(read_pairs(sources, name)):
        if (sentence := sentences.get(row)) is None:
            continue
        at = RowLocation(sources.locate(KNOWREF60K, name), f"row {row}")
        if list(map(joined, pair)) != list(map(sentence.filled, sentence.names)):
            yield at.violation("the substitutions are not those of the sentence")
        labels = ["0", "0"] if split == "test" else [str(1 - sentence.label), str(sentence.label)]
        if [one["label"] for one in pair] != labels:
            yield at.violation("the labels are not those of the sentence")


def _switched(
    sources: Sources, split: str, sentences: Mapping[int, Sentence]
) -> Iterator[Violation]:
    """Compare with the pairs of original and switched row, whose substitutions are shuffled."""
    expected = EXPECTED[split]
    if not held(sources, KNOWREF60K, expected.switched):
        return
    rows = sources.table(KNOWREF60K, expected.switched, SWITCHED)
    step = 1 if split == "validation" else 2
    for row, sentence in sentences.items():
        at = RowLocation(rows[0].file, f"row {row}")
        pair = [line.cells for line in rows[row * step : (row + 1) * step]]
        if row not in expected.other_names and not _holds(pair[:1], sentence):
            yield at.violation("not the sentence and the answer of the original")
        skipped = expected.unswitchable | expected.two_pronouns | expected.ill_switched
        if step == 1 or row in skipped:
            continue
        try:
            ours = switch(sentence.instance(split))
        except Unswitchable:
            continue
        first, second = (candidate.text for candidate in ours.candidates)
        other = Sentence(row, ours.text, (ours.pronoun,), (first, second), ours.label)
        if not _holds(pair[1:], other):
            yield at.violation("not the switched sentence and its answer")


def _holds(lines: Sequence[Mapping[str, str]], sentence: Sentence) -> bool:
    """Say whether the first line has the sentence's substitutions and labels the right one."""
    if not lines or lines[0]["label"] not in ("0", "1"):
        return False
    substitutions = [lines[0]["substitution0"], lines[0]["substitution1"]]
    if int(lines[0]["label"]) != sentence.label:
        substitutions.reverse()
    return substitutions == list(map(sentence.filled, sentence.names))


def _released(
    sources: Sources, split: str, sentences: Mapping[int, Sentence]
) -> Iterator[Violation]:
    """Compare Reddit text with the released ids and labels, and with our fingerprints."""
    if split not in SPLITS:
        return
    for recipe in recipes():
        sentence = sentences.get(recipe.row) if recipe.split == split else None
        if sentence is not None and sentence.fingerprint != recipe.fingerprint:
            file = sources.locate(KNOWREF60K, EXPECTED[split].file)
            yield Violation(file, f"row {recipe.row}", "not the sentence of our fingerprint")
    if held(sources, KNOWREF, f"redditID_{SPLITS[split]}_final.txt"):
        read_ids(sources, split)
    if not held(sources, KNOWREF, SPREADSHEET):
        return
    file = sources.locate(KNOWREF, SPREADSHEET, SPLITS[split])
    for row, label in enumerate(read_labels(sources, split)):
        sentence = sentences.get(row)
        if sentence and label != Label(sentence.names, sentence.names[sentence.label]):
            message = "not the candidates or answer of the sentence"
            yield Violation(file, f"row {row}", message)
