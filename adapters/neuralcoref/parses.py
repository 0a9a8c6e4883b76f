"""Tags, dependencies and entities from a spaCy pipeline that the user names."""

from spacy.tokens import Doc

from pronominal.adapters.checkpoints.spacy_pipelines import open_spacy
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.errors import InputError
from pronominal.spans import Document

NEEDED = ("TAG", "POS", "DEP")
"""What mentions are found by; entities are read where there are any."""


class Parses:
    """A spaCy pipeline with a tagger and a parser."""

    def __init__(self, pipeline: str) -> None:
        self.pipeline = pipeline
        self._spacy = open_spacy(pipeline, "name another as pipeline")
        self._require_parse(self._spacy("Anna said that she was tired."))

    def read(self, text: str, index: int) -> Doc:
        """Parse a text; `RefusedTextError`, with its index, if the pipeline cannot read so much."""
        if len(text) > self._spacy.max_length:
            raise RefusedTextError(
                f"{len(text)} characters, and the spaCy pipeline reads at most "
                f"{self._spacy.max_length}",
                cure="split the text",
                index=index,
            )
        return self._spacy(text)

    def read_document(self, document: Document) -> Doc:
        """Parse words and sentences as they are."""
        words = [word for sentence in document.words for word in sentence]
        starts: list[bool | int | None] = [
            place == 0 for sentence in document.words for place in range(len(sentence))
        ]
        return self._spacy(Doc(self._spacy.vocab, words=words, sent_starts=starts))

    def _require_parse(self, parsed: Doc) -> None:
        for annotation in NEEDED:
            if not parsed.has_annotation(annotation):
                raise InputError(
                    f"the spaCy pipeline gives no {annotation}",
                    cure="name one with a tagger and a parser, such as en_core_web_sm",
                    file=self.pipeline,
                )
