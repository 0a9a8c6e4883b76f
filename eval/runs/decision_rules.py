"""Decision rules: how the clusters of a text become a decision about its pronoun."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from pronominal.decisions import Decision
from pronominal.instances import ResolutionInstance
from pronominal.names import unknown_name
from pronominal.spans import Cluster

DecisionRule = Callable[[ResolutionInstance, Sequence[Cluster]], Decision]
"""Takes an instance and the clusters of its text, in the system's order."""

ClusteredInstance = tuple[ResolutionInstance, Sequence[Cluster]]
"""What a decision rule takes."""


def by_offsets(instance: ResolutionInstance, clusters: Sequence[Cluster]) -> Decision:
    """Decide by the cluster that holds the pronoun's exact span.

    A mention refers to a candidate when its span covers the candidate's and no other candidate's,
    so a phrase around both refers to neither. Where the pronoun is in several clusters, their
    mentions are taken together. A candidate that is not located is never chosen.
    """
    mentions = chain.from_iterable(c for c in clusters if instance.pronoun.span in c)
    # no span covers (-1, -1), the offsets of a candidate that is not located
    candidates = [*enumerate(candidate.span for candidate in instance.candidates)]
    covered = ([i for i, span in candidates if mention.covers(span)] for mention in mentions)
    return Decision.among({indices[0] for indices in covered if len(indices) == 1})


def by_strings(instance: ResolutionInstance, clusters: Sequence[Cluster]) -> Decision:
    """Decide as the WinoPron authors do, by strings and not by offsets.

    The answer is the first string of the last cluster with a string equal to the pronoun, once
    that string has been taken out (upstream's LingMess and CAW conversion). A candidate counts
    when its noun is one of the answer's words; a comma or a clitic at the noun hides it
    (compute_performance.py). Nouns count whether or not they are located in this text.
    """
    answer = ""
    for cluster in clusters:
        strings = [instance.text[span.start : span.end] for span in cluster]
        # upstream raises on a cluster of the pronoun alone; systems never give one
        if instance.pronoun.text in strings and len(strings) > 1:
            strings.remove(instance.pronoun.text)
            answer = strings[0]
    return _named_in(answer, instance)


class StringsCarriedOver:
    """Decides on SpanBERT's clusters as the WinoPron authors did, given every row in order.

    The published figures of SpanBERT contain two faults of ``convert_spanbert_outputs.py``, which
    are kept here and nowhere else. The strings of earlier clusters stay in the list that the
    answer is the first one of, so that it may come from another cluster than the pronoun's. And
    where no cluster has a string equal to the pronoun, the row gets the **answer to the row
    before**, another text; before the first answer, where upstream stops with an error, it is
    empty. Strings are word pieces put together: words, and punctuation marks apart. A
    candidate counts as in `by_strings`.

    Attributes:
        answer: what the converter takes SpanBERT to have answered to the last row.
    """

    def __init__(self) -> None:
        self.answer = ""

    def __call__(self, instance: ResolutionInstance, clusters: Sequence[Cluster]) -> Decision:
        """Return the decision about the next row."""
        self.answer = _accumulated_answer(instance, clusters) or self.answer
        return _named_in(self.answer, instance)


DECISION_RULES: dict[str, DecisionRule] = {"offsets": by_offsets, "upstream": by_strings}
"""The decision rules by the name that ``--reading`` takes; the first is the default."""

SEQUENTIAL_RULES: dict[str, Callable[[], DecisionRule]] = {"upstream-spanbert": StringsCarriedOver}
"""Rules by which a row's decision depends on the rows before it, so that each run has its own."""


def decision_rule(name: str, earlier: Iterable[ClusteredInstance] = ()) -> DecisionRule:
    """Return a decision rule by its name.

    Args:
        name: a key of `DECISION_RULES` or of `SEQUENTIAL_RULES`.
        earlier: the rows before those that it is for; only a sequential rule takes them.

    Raises:
        InputError: there is no such rule.
    """
    if name in DECISION_RULES:
        return DECISION_RULES[name]
    if name not in SEQUENTIAL_RULES:
        raise unknown_name("reading", name, [*DECISION_RULES, *SEQUENTIAL_RULES])
    rule = SEQUENTIAL_RULES[name]()
    for row in earlier:
        rule(*row)
    return rule


def differing(instances: Sequence[ResolutionInstance], clusters: Sequence[list[Cluster]]) -> int:
    """Count the instances about which the two rules decide differently, by each text's clusters."""
    rows = zip(instances, clusters, strict=True)
    return sum(by_offsets(*row) != by_strings(*row) for row in rows)


# upstream takes these out of an answer, and no other punctuation
_DELETED = str.maketrans("", "", '".')

# what BERT's tokenizer takes for words before it cuts them into pieces
_BASIC_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")


def _accumulated_answer(instance: ResolutionInstance, clusters: Sequence[Cluster]) -> str:
    answer = ""
    strings: list[str] = []
    for cluster in clusters:
        texts = (instance.text[span.start : span.end] for span in cluster)
        strings += [" ".join(_BASIC_TOKEN.findall(text)) for text in texts]
        if instance.pronoun.text in strings and len(strings) > 1:
            strings.remove(instance.pronoun.text)
            answer = strings[0]
    return answer


def _named_in(answer: str, instance: ResolutionInstance) -> Decision:
    words = answer.lower().translate(_DELETED).split()
    nouns = [candidate.text.lower() for candidate in instance.candidates]
    return Decision.among([index for index, noun in enumerate(nouns) if noun in words])
