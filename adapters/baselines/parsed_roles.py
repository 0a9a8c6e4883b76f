"""Grammatical roles and distances from the dependency trees of a spaCy pipeline."""

from typing import Any

from pronominal.adapters.baselines.surface_roles import MentionSyntax, Role
from pronominal.adapters.checkpoints.spacy_pipelines import open_spacy
from pronominal.errors import InputError, extra_needed
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention

ROLES: dict[str, Role] = {
    **dict.fromkeys(("nsubj", "nsubjpass", "nsubj:pass", "csubj"), "subject"),
    **dict.fromkeys(("dobj", "obj"), "object"),
}
"""Labels of spaCy's English pipelines (ClearNLP's) and of Universal Dependencies."""


class DependencySyntax:
    """Reads a mention's role from its head, and counts the arcs between two heads.

    Between sentences the arcs to both roots count, and one more for each sentence.
    """

    def __init__(self, pipeline: str) -> None:
        with extra_needed("gap", "a pipeline"):
            self._spacy = open_spacy(pipeline, "leave the pipeline out")
        if "parser" not in self._spacy.pipe_names:
            raise InputError(
                "the spaCy pipeline has no parser", cure="give one that parses", file=pipeline
            )

    def read(self, instance: ResolutionInstance) -> tuple[Role, list[MentionSyntax]]:
        """Return the pronoun's role, and the syntax of each candidate."""
        document = self._spacy(instance.text)
        pronoun = _head(document, instance.pronoun)
        heads = [_head(document, candidate) for candidate in instance.candidates]
        return _role(pronoun), [
            MentionSyntax(_role(head), _distance(head, pronoun)) for head in heads
        ]


def _head(document: Any, mention: Mention) -> Any:
    return document.char_span(mention.start, mention.end, alignment_mode="expand").root


def _role(token: Any) -> Role:
    return ROLES.get(token.dep_, "other")


def _distance(one: Any, other: Any) -> tuple[int, ...]:
    up, down = ([token, *token.ancestors] for token in (one, other))
    shared = next((token for token in up if token in down), None)
    if shared is not None:
        return 0, up.index(shared) + down.index(shared), abs(one.i - other.i)
    first, second = sorted((one.i, other.i))
    sentences = sum(first < sentence.start <= second for sentence in one.doc.sents)
    return sentences, len(up) + len(down), second - first
