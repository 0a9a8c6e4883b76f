"""Reads the coreference clusters of spaCy pipelines; as a program, answers JSONL with them.

It also runs where pronominal cannot be installed, on Python 3.7 or newer, and imports nothing of
it: ``python spacy_coreference.py PIPELINE [MODULE:COMPONENT ...]``.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Iterable, TextIO  # noqa: UP035 - for Python 3.7

PREFIX = "coref_clusters"
"""How the keys of spacy-experimental's span groups begin."""

_COMPOUND = ("compound", "flat", "flat:name", "pnc")


def clusters_of(doc: Any, prefix: str = PREFIX) -> list[list[tuple[int, int]]] | None:
    """Return the clusters of a document as half-open character offsets.

    They are looked for in the three places where pipelines put them: the span groups
    ``doc.spans["coref_clusters_1"]`` (spacy-experimental), ``doc._.coref_clusters`` (fastcoref,
    and neuralcoref before it) and ``doc._.coref_chains`` (coreferee).

    Args:
        doc: a spaCy ``Doc``.
        prefix: how the keys of the span groups begin.

    Returns:
        The clusters, or None if there is no such place.
    """
    numbered = re.compile(re.escape(prefix) + r"_(\d+)$")
    found = [(match, key) for key in doc.spans for match in [numbered.match(key)] if match]
    if found:
        keys = [key for _, key in sorted((int(match.group(1)), key) for match, key in found)]
        return [[(span.start_char, span.end_char) for span in doc.spans[key]] for key in keys]
    if doc.has_extension("coref_clusters"):
        return [_mentions(cluster) for cluster in doc._.coref_clusters or []]
    if doc.has_extension("coref_chains"):
        chains = doc._.coref_chains or []
        return [[_phrase(doc, m.token_indexes) for m in chain] for chain in chains]
    return None


def _mentions(cluster: Any) -> list[tuple[int, int]]:
    # neuralcoref's clusters have mentions that are spans, fastcoref's are pairs of offsets
    return [
        (m.start_char, m.end_char) if hasattr(m, "start_char") else (int(m[0]), int(m[1]))
        for m in getattr(cluster, "mentions", cluster)
    ]


def _phrase(doc: Any, indexes: Iterable[int]) -> tuple[int, int]:
    """Return the place of a coreferee mention: the head of a phrase, or several joined ones.

    Of a name its head stands there; all of the name is taken, to cover a candidate of two words.
    """
    heads = [doc[index] for index in indexes]
    names = [
        child
        for head in heads
        if head.pos_ == "PROPN"
        for child in head.children
        if child.dep_ in _COMPOUND and child.pos_ == "PROPN"
    ]
    parts = heads + names
    return min(part.idx for part in parts), max(part.idx + len(part) for part in parts)


def load_pipeline(name: str, components: Iterable[str]) -> Any:
    """Load a spaCy pipeline.

    Args:
        name: a package or a folder.
        components: modules that register components, imported first; of ``MODULE:COMPONENT`` the
            component is added to the end of the pipeline where it is not in it.
    """
    import spacy

    wanted = [component.partition(":") for component in components]
    for module, _, _ in wanted:
        __import__(module)
    nlp = spacy.load(name)
    for _, _, component in wanted:
        if component and component not in nlp.pipe_names:
            nlp.add_pipe(component)
    return nlp


def answer_lines(nlp: Any, lines: Iterable[str], out: TextIO) -> None:
    """Answer every line of JSON with the clusters of its text."""
    for line in lines:
        asked = json.loads(line)
        answer: dict[str, Any] = {"id": asked["id"]}
        try:
            # None may mean a text without clusters: spacy-experimental sets no span groups then
            answer["clusters"] = clusters_of(nlp(asked["text"])) or []
        except Exception as error:
            # its words may quote the text
            answer["error"] = type(error).__name__
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr
    answer_lines(load_pipeline(sys.argv[1], sys.argv[2:]), sys.stdin, answers)
