"""``pronominal hydrate``: KnowRef's Reddit splits for those who hold the posts and comments."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pronominal.atomic import new_file, new_folder
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.knowref.files import Sentence, unbracketed
from pronominal.dataset_scripts.knowref.recipes import Recipe, recipes
from pronominal.dataset_scripts.knowref.reddit import (
    HYDRATED,
    NO_COMMENT,
    SPLITS,
    Label,
    Post,
    hydrated_file,
    read_ids,
    read_labels,
)
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, SPREADSHEET, TEST
from pronominal.dataset_scripts.own_rows.jsonl import read_json_lines
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError

KNOWREF_FORM = "sentence_with_pronoun"
RAW = ("text", "body", "selftext")
REPORTED = 1_000
"""Lines between two reports of progress."""

Key = tuple[str, int]
"""A split and a row of it."""


@dataclass(frozen=True, slots=True)
class Hydration:
    """What became of every row of Reddit text.

    Attributes:
        filled: the sentences that were filled in, pronoun in brackets.
        missing: every other row, and why it is missing.
    """

    filled: Mapping[Key, str]
    missing: Mapping[Key, str]


def hydrate(
    texts: Path, sources: Sources, out: Path, progress: Callable[[int], None] = lambda texts: None
) -> Hydration:
    """Fill in train and validation sentences from posts and comments that the user holds.

    A sentence is filled in only if it is the published one letter by letter: its fingerprint
    is checked. A text that was deleted or edited stays missing.

    Args:
        texts: JSONL. Each line has ``post_id``, ``comment_id`` (null where the sentence stands
            in the post itself) and either ``text``, ``body`` or ``selftext``, the post or comment
            as it was written, or ``sentence_with_pronoun``, a sentence in KnowRef's own form. The
            first kind gives train rows only: validation's original sentences were not released.
        sources: the released ids, labels and test.
        out: a sources folder for ``build``; its ``knowref/hydrated`` is replaced, labels and
            test are added when they are not there. It must not be published.
        progress: called with the number of lines read so far.

    Raises:
        InputError: a line is no such object, or a released file is missing or wrong.
    """
    ids = {split: read_ids(sources, split) for split in SPLITS}
    labels = {split: read_labels(sources, split) for split in SPLITS}
    # what a build of the result reads, too
    released = {name: sources.read(KNOWREF, name) for name in (TEST, SPREADSHEET)}
    sources.refuse_changed()
    hydration = _match(_texts(texts, progress), ids, labels)
    if not hydration.filled:
        cause = "no line holds the text of a row of KnowRef"
        raise InputError(cause, cure="check its post_id and comment_id", file=texts)
    for name, content in released.items():
        if not (out / KNOWREF.folder / name).exists():
            with new_file(out / KNOWREF.folder / name) as temporary:
                temporary.write_bytes(content)
    _write(hydration, out)
    return hydration


def _match(
    texts: Iterable[tuple[Post, str, str]],
    ids: Mapping[str, list[Post]],
    labels: Mapping[str, list[Label]],
) -> Hydration:
    wanted: dict[Post, list[Recipe]] = {}
    for recipe in recipes():
        # some posts and comments gave two sentences
        wanted.setdefault(ids[recipe.split][recipe.row], []).append(recipe)
    filled: dict[Key, str] = {}
    missing = {(recipe.split, recipe.row): "no text with its ids" for recipe in recipes()}
    for post, field, text in texts:
        for recipe in wanted.get(post, ()):
            key = (recipe.split, recipe.row)
            sentence = _sentence(recipe, field, text, labels[recipe.split][recipe.row].names)
            if sentence is not None:
                filled[key] = sentence
                missing.pop(key, None)
            elif key in missing:
                missing[key] = _reason(recipe, field)
    return Hydration(filled, missing)


def _texts(path: Path, progress: Callable[[int], None]) -> Iterator[tuple[Post, str, str]]:
    """Yield the ids of each line, the field that holds its text, and the text."""
    for number, record in read_json_lines(path):
        post, comment = record.get("post_id"), record.get("comment_id")
        fields = [name for name in (KNOWREF_FORM, *RAW) if isinstance(record.get(name), str)]
        if not isinstance(post, str) or not isinstance(comment, str | None) or not fields:
            cure = f"give the ids and one of {', '.join((KNOWREF_FORM, *RAW))}"
            at = RowLocation(path, f"line {number}")
            raise at.refuse("no post_id, comment_id and text", cure)
        comment = None if comment in (None, "", NO_COMMENT) else comment.removeprefix("t1_")
        if number % REPORTED == 0:
            progress(number)
        yield (post.removeprefix("t3_"), comment), fields[0], record[fields[0]]


def _sentence(recipe: Recipe, field: str, text: str, names: tuple[str, str]) -> str | None:
    """Return the row's sentence if the text is it or holds its original."""
    if field != KNOWREF_FORM:
        return recipe.find(text, names)
    try:
        plain, pronouns = unbracketed(text, RowLocation("", ""))
    except InputError:
        return None
    sentence = Sentence(recipe.row, plain, pronouns, names, 0)
    return text if sentence.fingerprint == recipe.fingerprint else None


def _reason(recipe: Recipe, field: str) -> str:
    if field == KNOWREF_FORM:
        return "the sentence is not the published one"
    if not recipe.steps:
        return "its original was not released, so that only KnowRef's own form can be matched"
    return "the text does not hold its sentence"


def _write(hydration: Hydration, out: Path) -> None:
    with new_folder(out / HYDRATED) as temporary:
        for split in SPLITS:
            rows = sorted(row for name, row in hydration.filled if name == split)
            lines = [{"row": row, KNOWREF_FORM: hydration.filled[split, row]} for row in rows]
            if lines:
                text = "".join(f"{json.dumps(line)}\n" for line in lines)
                (temporary / hydrated_file(Path(), split).name).write_text(
                    text, encoding="utf-8", newline="\n"
                )
        listed = [f"{split}\t{row}\t{why}\n" for (split, row), why in hydration.missing.items()]
        text = "".join(("split\trow\treason\n", *listed))
        (temporary / "missing.tsv").write_text(text, encoding="utf-8", newline="\n")
