"""Answers JSONL with the clusters of AllenNLP's coreference model.

It runs where pronominal cannot be installed, on Python 3.7 or newer, and imports nothing of it:
``python allennlp_coreference.py [ARCHIVE]``.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Iterable, TextIO  # noqa: UP035 - for Python 3.7

PUBLISHED = (
    "https://storage.googleapis.com/allennlp-public-models/coref-spanbert-large-2021.03.10.tar.gz"
)


def load_predictor(archive: str = PUBLISHED) -> Any:
    """Load a model archive: a file, or an address from which AllenNLP fetches it."""
    from allennlp_models.coref.predictors.coref import CorefPredictor

    return CorefPredictor.from_path(archive)


def clusters_of(predictor: Any, text: str) -> list[list[tuple[int, int]]]:
    """Return the clusters of a text as half-open character offsets.

    The predictor's answer for a text has tokens without their places, so it is given the tokens
    that its own spaCy pipeline would find.
    """
    if not text.strip():
        return []
    tokens = predictor._spacy.make_doc(text)
    answer = predictor.predict_tokenized([token.text for token in tokens])
    return [
        [(tokens[first].idx, tokens[last].idx + len(tokens[last])) for first, last in cluster]
        for cluster in answer["clusters"]
    ]


def answer_lines(predictor: Any, lines: Iterable[str], out: TextIO) -> None:
    """Answer every line of JSON with the clusters of its text."""
    for line in lines:
        asked = json.loads(line)
        answer: dict[str, Any] = {"id": asked["id"]}
        try:
            answer["clusters"] = clusters_of(predictor, asked["text"])
        except Exception as error:
            # its words may quote the text
            answer["error"] = type(error).__name__
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr
    answer_lines(load_predictor(*sys.argv[1:]), sys.stdin, answers)
