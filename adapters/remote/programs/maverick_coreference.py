"""Answers JSONL with the clusters of Maverick (Martinelli et al., 2024).

It runs where pronominal cannot be installed and imports nothing of it:
``python maverick_coreference.py [MODEL [DEVICE]]``.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Iterable, TextIO  # noqa: UP035 - as the other programs

PUBLISHED = "sapienzanlp/maverick-mes-ontonotes"


def load_model(name: str = PUBLISHED, device: str = "cpu") -> Any:
    """Load a model: a Hub id, or a checkpoint file."""
    from maverick import Maverick

    return Maverick(hf_name_or_path=name, device=device)


def load_words() -> Any:
    """Return spaCy's blank English pipeline with its rule-based sentence splitter."""
    import spacy

    words = spacy.blank("en")
    words.add_pipe("sentencizer")
    return words


def clusters_of(model: Any, words: Any, text: str) -> list[list[tuple[int, int]]]:
    """Return the clusters of a text as half-open character offsets.

    Given a text, Maverick takes its sentences to lie one space apart and ends mentions one
    character early (``maverick_model.py``, ``preprocess``), so it is given words.
    """
    sentences = [[t for t in sentence if not t.is_space] for sentence in words(text).sents]
    tokens = [token for sentence in sentences for token in sentence]
    if not tokens:
        return []
    answer = model.predict([[t.text for t in sentence] for sentence in sentences if sentence])
    return [
        [(tokens[first].idx, tokens[last].idx + len(tokens[last])) for first, last in cluster]
        for cluster in answer["clusters_token_offsets"]
    ]


def answer_lines(model: Any, words: Any, lines: Iterable[str], out: TextIO) -> None:
    """Answer every line of JSON with the clusters of its text."""
    for line in lines:
        asked = json.loads(line)
        answer: dict[str, Any] = {"id": asked["id"]}
        try:
            answer["clusters"] = clusters_of(model, words, asked["text"])
        except Exception as error:
            # its words may quote the text
            answer["error"] = type(error).__name__
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr
    answer_lines(load_model(*sys.argv[1:]), load_words(), sys.stdin, answers)
