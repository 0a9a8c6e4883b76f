"""Raw text to words and back to characters."""

import sys
from functools import cache
from typing import Any

from pronominal.spans import Cluster, Document, Span

RAW_TEXT_GENRE = "wb"
"""Web text: the genre of what says none, as the WinoPron authors gave it to every sentence."""


@cache
def english_pipeline(*components: str) -> Any:
    """Return spaCy's blank English pipeline, which reads texts of any length.

    All that ask for the same components share one: its exceptions take longer to read than the
    weights of a small system.
    """
    import spacy

    pipeline = spacy.blank("en")
    pipeline.max_length = sys.maxsize  # the limit is for parsers, which need more memory
    for component in components:
        pipeline.add_pipe(component)
    return pipeline


class EnglishWords:
    """Splits raw text with spaCy's rules for English; neither rule needs a trained model.

    Words are those of the blank English tokenizer, as the WinoPron authors took them, white space
    included. Sentences end where spaCy's sentencizer sees final punctuation. The authors took a
    text for one sentence, which every text of WinoPron and of KnowRef's test set is to the
    sentencizer too (of WinoNB's generic texts, 24 of 4,077 are not); longer texts need their
    sentences, because no span crosses a sentence and no window ends inside one.
    """

    def __init__(self) -> None:
        self._nlp = english_pipeline("sentencizer")

    def read(self, text: str) -> tuple[Document, list[Span]]:
        """Return the document that a text is, and the characters of each of its words."""
        tokens = self._nlp(text)
        words = [[token.text for token in sentence] for sentence in tokens.sents]
        places = [Span(token.idx, token.idx + len(token)) for token in tokens]
        return Document(words, genre=RAW_TEXT_GENRE), places


def in_characters(clusters: list[Cluster], places: list[Span]) -> list[Cluster]:
    """Turn spans of words into spans of characters, given the characters of each word."""
    return [
        [Span(places[span.start].start, places[span.end - 1].end) for span in cluster]
        for cluster in clusters
    ]
