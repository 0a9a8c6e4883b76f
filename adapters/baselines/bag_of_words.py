"""The floor of reading: logistic regression over words and their positions, without names.

Whoever claims that a system understands the sentence has to show more than this one, which knows
neither the order of words nor any word that its training rows do not have.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pronominal.adapters.baselines.instance_by_instance import InstanceByInstance
from pronominal.adapters.checkpoints.files import open_checkpoint
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.errors import InputError
from pronominal.instances import ResolutionInstance
from pronominal.spans import Span
from pronominal.switching import occurrences

CONFIG, WEIGHTS = "config.json", "weights.json"
"""The files of a checkpoint: how it was trained, and the regression."""

ROLES = ("start", "first", "second", "pronoun")
"""A word's role: the last of these before it, the mentions in the order of the text."""

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class WordWeights:
    """A logistic regression for "the first mention is right".

    Attributes:
        intercept: logit without any word.
        words: what a role-tagged word that occurs adds to it.
    """

    intercept: float
    words: Mapping[str, float]

    def probability(self, words: frozenset[str]) -> float:
        """Return how probable it is that the first mention is right, in (0, 1)."""
        known = sorted(words & self.words.keys())
        logit = self.intercept + math.fsum(self.words[word] for word in known)
        return 1 / (1 + math.exp(-logit))


class BagOfWords(InstanceByInstance):
    """Chooses by the words between and around the mentions, the names themselves removed.

    An instance and its switched version have the same words in the same roles, so that every
    answer goes along with the candidates. A candidate that is not in the text has
    the probability 0; where the other one is, that has 1. Two candidates in one place have the same
    probability, which is no choice. Make one with ``pronominal train bag-of-words``.

    Args:
        checkpoint: the folder of a trained regression, or its Hub id.
    """

    name = "bag-of-words"
    dtype, device = "float64", "cpu"

    def __init__(self, checkpoint: str) -> None:
        self.checkpoint = open_checkpoint(checkpoint, weights=(WEIGHTS,), config=CONFIG, others=())
        self._weights = _read(self.checkpoint.folder / WEIGHTS)
        self.parameters = len(self._weights.words) + 1

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        first = first_mentioned(instance)
        if first is None:
            located = [float(candidate.located) for candidate in instance.candidates]
            return [share / (sum(located) or 1) for share in located]
        probability = self._weights.probability(role_tagged_words(instance))
        return [probability if i == first else 1 - probability for i in (0, 1)]


def first_mentioned(instance: ResolutionInstance) -> int | None:
    """Return the index of the candidate that is mentioned first; None where there is no order.

    There is none where a candidate has no place in the text, or both have the same.
    """
    starts = [candidate.start for candidate in instance.candidates]
    if len(starts) != 2 or min(starts) < 0 or starts[0] == starts[1]:
        return None
    return starts.index(min(starts))


def role_tagged_words(instance: ResolutionInstance) -> frozenset[str]:
    """Return the words of a text with their roles, such as ``second:because``.

    Both candidates have their own place in the text (`first_mentioned`). Every whole-word
    occurrence of a candidate's name is taken out, and so is the pronoun, whose form KnowRef's
    validation sentences have lost. Words are in lower case; a punctuation mark is a word.
    """
    names = [candidate.text for candidate in instance.candidates]
    mentions = sorted(candidate.span for candidate in instance.candidates)
    places = [*mentions, instance.pronoun.span]
    removed = places + [Span(start, end) for start, end, _ in occurrences(instance.text, names)]
    anchors = sorted(zip(places, ROLES[1:], strict=True), reverse=True)
    words = set()
    for match in _WORD.finditer(instance.text):
        if not any(start < match.end() and match.start() < end for start, end in removed):
            before = (role for span, role in anchors if 0 <= span.end <= match.start())
            words.add(f"{next(before, ROLES[0])}:{match.group().lower()}")
    return frozenset(words)


def save_word_weights(weights: WordWeights, config: Mapping[str, Any], folder: Path) -> None:
    """Write a regression, and how it was trained, into a folder that is there: JSON, no code."""
    for name, content in ((CONFIG, config), (WEIGHTS, asdict(weights))):
        text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=name == WEIGHTS)
        (folder / name).write_text(text + "\n", encoding="utf-8", newline="\n")


def _read(path: Path) -> WordWeights:
    cause, cure = "the weights are damaged", "train it again or fetch the folder again"
    faults = (OSError, ValueError, LookupError, TypeError, AttributeError)
    more = (ArithmeticError, RecursionError)
    with input_error_on(*faults, *more, cause=cause, cure=cure, file=path, quoted=False):
        given = json.loads(path.read_text(encoding="utf-8"))
        words = {str(word): float(weight) for word, weight in given["words"].items()}
        weights = WordWeights(float(given["intercept"]), words)
    if not all(map(math.isfinite, (weights.intercept, *words.values()))):
        raise InputError("a weight is not a number", cure="train it again", file=path)
    return weights
