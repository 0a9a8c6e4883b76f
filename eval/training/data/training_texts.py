"""The texts of a training: rows in their versions, documents, and the same with other pronouns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pronominal.errors import InputError
from pronominal.eval.training.data.row_documents import RowDocument
from pronominal.eval.training.data.versions import LeftOut, Version, originals_first
from pronominal.pronoun_replacement import UncertainFormError, other_pronouns, replaced_pronouns
from pronominal.pronouns import PRONOUN_SETS, PronounSet
from pronominal.spans import AnnotatedDocument

Unit = tuple["TrainingText", ...]
"""What stays together in a batch."""


@dataclass(frozen=True, slots=True)
class TrainingText:
    """A text to learn.

    Attributes:
        id: of the row or document.
        version: ``original`` or ``switched``; with a pronoun set behind it where that was written.
        gold: its words and clusters.
    """

    id: str
    version: str
    gold: AnnotatedDocument


def training_texts(
    rows: Sequence[tuple[Version[RowDocument], ...]],
    documents: Sequence[AnnotatedDocument],
    *,
    pairs: bool,
) -> list[Unit]:
    """Return rows and documents as texts; with `pairs` the versions of a row stay together."""
    grouped = rows if pairs else [(version,) for version in originals_first(rows)]
    units: list[Unit] = [
        tuple(TrainingText(one.instance.id, one.name, one.content.gold) for one in versions)
        for versions in grouped
    ]
    for number, gold in enumerate(documents, start=sum(map(len, units))):
        name = gold.document.key or f"document {number}"
        units.append((TrainingText(name, "original", gold),))
    return units


def with_further_pronouns(
    units: Sequence[Unit], sets: Sequence[PronounSet]
) -> tuple[list[Unit], list[LeftOut]]:
    """Return each text once more with each pronoun set, where every form is certain; and the rest.

    A text that had these pronouns before, or none, is learnt as it is alone and not listed.

    Raises:
        InputError: no text can be written with one of the sets.
    """
    further: list[Unit] = []
    left_out: list[LeftOut] = []
    for new in sets:
        before = len(further)
        for unit in units:
            written = []
            for text in unit:
                try:
                    gold = _with_pronouns(text.gold, new)
                except UncertainFormError as refusal:
                    version = f"{text.version}, {new.name}"
                    left_out.append(LeftOut("train", text.id, version, str(refusal)))
                else:
                    if gold is not None:
                        name = f"{text.version}, {new.name}"
                        written.append(TrainingText(text.id, name, gold))
            if written:
                further.append(tuple(written))
        if len(further) == before:
            raise InputError(
                f"no text can be written with the pronouns of {new.name}",
                cure="leave the set out, or give texts with singular pronouns",
            )
    return further, left_out


def _with_pronouns(gold: AnnotatedDocument, new: PronounSet) -> AnnotatedDocument | None:
    """Return a document whose entities have other pronouns; None where there are none of another.

    Entities whose forms are not certain keep their pronouns; `UncertainFormError` where none are.
    In a row, whose other pronouns may refer to the same entity or to another one, a pronoun is
    replaced only if no other of its set is there.
    """
    # each sentence gets an end: no form is told by the words of the next one
    ended = [[*sentence, "."] for sentence in gold.document.words]
    flat = [*chain.from_iterable(ended)]
    number_of = [number for number, ws in enumerate(gold.document.words) for _ in ws]
    written, refusal = flat, None
    for words in _pronouns(gold):
        places = [word + number_of[word] for word in words]
        if all(flat[place].lower() in new.forms for place in places):
            continue
        try:
            if not gold.complete and other_pronouns(flat, places):
                raise UncertainFormError("what another pronoun of the set refers to is not known")
            written = replaced_pronouns(written, places, new)
        except UncertainFormError as error:
            refusal = error
    if written == flat:
        if refusal is not None:
            raise refusal
        return None
    left = iter(written)
    sentences = [[next(left) for _ in sentence][:-1] for sentence in ended]
    return replace(gold, document=replace(gold.document, words=sentences))


def _pronouns(gold: AnnotatedDocument) -> Iterator[list[int]]:
    """Yield for each cluster with third-person pronouns of persons which words these are."""
    words = [*chain.from_iterable(gold.document.words)]
    forms = frozenset().union(*(one.forms for one in PRONOUN_SETS))
    for cluster in gold.clusters:
        places = [span.start for span in cluster if span.end - span.start == 1]
        pronouns = [place for place in places if words[place].lower() in forms]
        if pronouns:
            yield pronouns
