"""Any model that writes as a coreference system: it copies each text and marks the clusters."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.adapters.contract.systems import contract_clusters, refuse_bare_string
from pronominal.adapters.lm.coreference.asked_model import asked_model, asks, generated
from pronominal.adapters.lm.coreference.copies import Copy, OtherTextError, copy_of
from pronominal.adapters.lm.coreference.marking import RESERVED, MarksError, read_marks, request
from pronominal.adapters.lm.thoughts.reading import Reply, as_replies
from pronominal.spans import Cluster, Span

STEP = 64
"""Copies may have so many tokens, or a multiple of it."""

_EXAMPLE = "\n\nText:"
"""What begins a further example."""

_OTHER_MARKS = re.compile(r"[][{}<>|【】⟦⟧]|\(\(|\)\)")
"""What a copy has more of than its text where marks are not written as they were asked for."""

_FENCE = re.compile(r"```\w*\n(?P<copy>.*?)\n?```", re.DOTALL)


class MarkingModel:
    """Asks a model to copy each text with its clusters marked.

    A mark counts where the copy is the text, letter by letter or but for ways of writing quotation
    marks, dashes and white space; or, where at least nine of ten words and all pronouns are in
    their places and no word is another, if each of its own words is. Nothing is looked for
    elsewhere in the text. A text whose copy or marks are worse is refused, and counts as failed,
    and so does one that is marked with other brackets. There is no second try: answers are greedy.

    Args:
        model: a folder or a Hub id, the URL of a server of your own, or an object with a method
            ``generate``.
        settings: those of ``lm-prompts`` or, for a URL, of ``lm-server``.

    Attributes:
        copies: for each of the texts that were answered last, its copy.
    """

    name = "lm-coref"
    chunk = 16
    asks = staticmethod(asks)

    def __init__(self, model: Any, **settings: Any) -> None:
        self._model = asked_model(model, settings)
        self._limit: int | None = settings.get("max_new_tokens")
        self.checkpoint = getattr(self._model, "checkpoint", None)
        asked = getattr(self._model, "question", None) or "generation"
        self.question = f"clusters marked in a copy of the text, {asked}"
        self.copies: list[Copy] = []
        self._answers: dict[str, Reply] = {}

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans.

        Raises:
            RefusedTextError: a text cannot be marked, or was not copied or marked as asked.
        """
        refuse_bare_string(texts)
        for index, text in enumerate(texts):
            if RESERVED.search(text):
                cause = "the text has double square brackets, which marks are written with"
                raise RefusedTextError(cause, cure="ask another system", index=index)
        # a refused text is followed by the others again, one by one
        if not self._answers.keys() >= {*texts}:
            self._answers = self._asked(texts)
        read = [self._read(text, index) for index, text in enumerate(texts)]
        self.copies = [copy for _, copy in read]
        return [clusters for clusters, _ in read]

    def _asked(self, texts: Sequence[str]) -> dict[str, Reply]:
        """Return what the model writes for each text; no text has a limit from another one."""
        answers: dict[str, Reply] = {}
        for limit, group in groupby(sorted(dict.fromkeys(texts), key=self._tokens), self._tokens):
            together = [*group]
            try:
                written = generated(self._model, [request(text) for text in together], limit)
            except RefusedTextError as error:
                index = [*texts].index(together[error.index])
                raise RefusedTextError(error.cause, cure=error.cure, index=index) from error
            if len(written) != len(together) or not all(isinstance(one, str) for one in written):
                cause = f"{len(together)} prompts were not answered with as many strings"
                raise FailedCallError(cause, cure="return one string for each prompt")
            answers |= dict(zip(together, as_replies(written), strict=True))
        return answers

    def _tokens(self, text: str) -> int:
        """Return how long a copy may be: three tokens for four letters and marks, and 40 more.

        Rounded up, so that texts of similar length are asked together.
        """
        return self._limit or -(-(3 * len(text) // 4 + 40) // STEP) * STEP

    def _read(self, text: str, index: int) -> tuple[list[Cluster], Copy]:
        if self._answers[text].unfinished:
            cure = "give the model more tokens"
            raise RefusedTextError("the model was cut off while it thought", cure=cure, index=index)
        try:
            return clusters_in(self._answers[text], text)
        except (MarksError, OtherTextError) as error:
            cure = "ask another model, or one that is not limited in what it writes"
            raise RefusedTextError(
                f"the copy is no copy: {error}", cure=cure, index=index
            ) from error


def clusters_in(answer: str, text: str) -> tuple[list[Cluster], Copy]:
    """Return the clusters that a model's answer marks in a text, and its copy.

    Raises:
        MarksError: the marks are not balanced, or in other brackets.
        OtherTextError: the copy is not of this text.
    """
    marked = read_marks(_copy_in(answer, text))
    if len(_OTHER_MARKS.findall(marked.plain)) > len(_OTHER_MARKS.findall(text)):
        raise MarksError("it has brackets or bars that the text has not")
    copy = copy_of(marked.plain, text)
    entities: dict[str, list[Span | None]] = {}
    for number, span in marked.marks:
        entities.setdefault(number, []).append(copy.located(span))
    return contract_clusters(entities.values()), copy


def _copy_in(answer: str, text: str) -> str:
    """Return an answer without a fence round it, or a further example than the text has itself."""
    fence = _FENCE.fullmatch(answer.strip())
    copy = fence["copy"] if fence else answer
    return _EXAMPLE.join(copy.split(_EXAMPLE)[: text.count(_EXAMPLE) + 1]).strip()
