"""Noun phrases from the tags and entities of a spaCy pipeline."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from pronominal.dataset_scripts.construction.noun_phrases import Phrase
from pronominal.errors import InputError

PIPELINE = "en_core_web_sm"
BATCH = 256
"""Sentences that spaCy reads at a time."""

BASE = re.compile(r"D?J*N+")
"""A determiner, adjectives and numbers, and nouns; the paper says *flat* tags and no more."""
RELEASED = re.compile(r"D?J*N+I?D?J*N*")
"""The released code's rule, which takes *the mayor of the town* for one noun phrase."""

CODES = {"DT": "D", "JJ": "J", "JJR": "J", "JJS": "J", "CD": "J", "IN": "I"}
PERSON = ("PERSON", "PER")


class TaggedPhrases:
    """Finds noun phrases in part-of-speech tags, and persons by the entity of their last word.

    Args:
        pipeline: name or folder of a spaCy pipeline with a tagger and entities.
        grammar: what makes a noun phrase, over one letter for each word (`CODES`; N is a noun).
    """

    def __init__(self, pipeline: str = PIPELINE, grammar: re.Pattern[str] = BASE) -> None:
        self._pipeline, self._grammar = pipeline, grammar

    def __call__(self, texts: Sequence[str]) -> list[list[Phrase]]:
        """Return the phrases of each text, from left to right.

        `InputError` if the pipeline gives no tags or no entities, or cannot be loaded.
        """
        documents = list(loaded(self._pipeline).pipe(texts, batch_size=BATCH))
        self._refuse_without(documents, "part-of-speech tags", "TAG")
        self._refuse_without(documents, "entities", "ENT_IOB", "ENT_TYPE")
        return [list(self._phrases(document)) for document in documents]

    def _refuse_without(self, documents: Sequence[Any], what: str, *annotations: str) -> None:
        found = (one.has_annotation(name) for one in documents for name in annotations)
        if documents and not any(found):
            cure = f"name one with a tagger and entities, such as {PIPELINE}"
            raise InputError(f"the pipeline {self._pipeline} gives no {what}", cure=cure)

    def _phrases(self, document: Any) -> Iterator[Phrase]:
        tags = [word.tag_ for word in document]
        codes = "".join("N" if tag.startswith("NN") else CODES.get(tag, "x") for tag in tags)
        for found in self._grammar.finditer(codes):
            # the released rule may end with a preposition; every rule takes a noun
            end = found.start() + len(found[0].rstrip("DJI"))
            start = found.start() + len(codes[found.start() : end].rstrip("N"))
            nouns = document[start:end]
            key = " ".join((word.lemma_ or word.text).lower() for word in nouns)
            yield Phrase(nouns.start_char, nouns.end_char, key, nouns[-1].ent_type_ in PERSON)


@cache
def loaded(pipeline: str) -> Any:
    """Load a pipeline once for each process; its parser is left out, nothing here reads it."""
    try:
        import spacy
    except ImportError as error:
        cure = "pip install 'pronominal[construct]', or add --proper-names-only"
        raise InputError("noun phrases need spaCy", cure=cure) from error
    try:
        return spacy.load(pipeline, exclude=["parser"])
    except (OSError, ValueError) as error:
        is_package = pipeline.isidentifier()
        cure = f"python -m spacy download {pipeline}" if is_package else "check --pipeline"
        # spaCy goes on for a paragraph
        said = str(error).partition("\n")[0].partition(". ")[0]
        cause = f"the spaCy pipeline {pipeline} cannot be loaded ({said})"
        raise InputError(cause, cure=f"{cure}, or add --proper-names-only") from error
