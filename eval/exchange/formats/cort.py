"""cort, whose mention ranking is KnowRef's Latent (Martschat and Strube, 2015).

``cort-predict-raw -in FOLDER/*.txt`` reads raw texts and writes ``KEY.txt.out`` beside them: a
sentence a line, words apart, with ``<mention>`` tags that give each mention's first and last word
over all sentences, its entity and its antecedent. An entity whose number is 0 is not written, but
its antecedents are. ``cort-predict-conll`` reads and writes CoNLL-2012's format instead.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.eval.exchange.documents import (
    ExportedText,
    PredictedDocument,
    WordedText,
    half_open,
    linked,
)
from pronominal.eval.exchange.text_files import answer_files, whole_text

GENRE = "wb_"

MENTION = re.compile(r"<mention (?P<attributes>[^<>]*)>")
ATTRIBUTE = re.compile(r'\b(\w++)="(\d++)"')
TAG = re.compile(r"<mention [^<>]*>|</mention>")


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write a folder of raw texts, and beside them what cort writes where there are clusters."""
    with new_folder(out) as folder:
        for text in texts:
            key = text.key(GENRE)
            (folder / f"{key}.txt").write_bytes(text.instance.text.encode())
            if text.clusters is not None:
                tagged = _tagged(text.words(spaces=False))
                (folder / f"{key}.txt.out").write_bytes(tagged.encode())


def read(folder: Path) -> Iterator[PredictedDocument]:
    """Yield what cort has written beside each text, with any ``-suffix``."""
    for file in answer_files(folder, "*.txt.*"):
        content = whole_text(file)
        words = TAG.sub("", content).split()
        try:
            mentions = [dict(ATTRIBUTE.findall(m["attributes"])) for m in MENTION.finditer(content)]
            place = {one["id"]: (int(one["span_start"]), int(one["span_end"])) for one in mentions}
            named = [[place[name] for name in cluster] for cluster in linked(_links(mentions))]
            clusters = half_open(named, len(words))
        except (KeyError, ValueError) as error:
            cure = "give what cort-predict-raw wrote"
            raise InputError(f"no output of cort ({error})", cure=cure, file=file) from error
        key = file.name.rpartition(".txt.")[0]
        yield PredictedDocument(file.name, key, words, clusters)


def _links(mentions: list[dict[str, str]]) -> Iterator[list[str]]:
    entities: dict[int, list[str]] = {}
    for mention in sorted(mentions, key=lambda one: int(one["id"])):
        if "entity" in mention:
            entities.setdefault(int(mention["entity"]), []).append(mention["id"])
    yield from (entities[number] for number in sorted(entities))
    yield from ([one["antecedent"], one["id"]] for one in mentions if "antecedent" in one)


def _tagged(text: WordedText) -> str:
    words = text.flat
    clusters = enumerate(text.clusters(), start=1)
    mentions = chain.from_iterable([(entity, span) for span in c] for entity, c in clusters)
    for name, (entity, (start, end)) in enumerate(mentions):
        tag = f'<mention id="{name}" span_start="{start}" span_end="{end - 1}" entity="{entity}">'
        words[start] = tag + words[start]
        words[end - 1] += "</mention>"
    rest = iter(words)
    return "".join(" ".join(next(rest) for _ in sentence) + "\n" for sentence in text.sentences)
