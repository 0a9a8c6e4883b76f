"""All rules of a construction in one place: the paper's, or the released code's."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pronominal.dataset_scripts.construction import (
    clean,
    connectives,
    filters,
    noun_phrases,
    replacement,
)
from pronominal.dataset_scripts.construction.clean import CleanRules
from pronominal.dataset_scripts.construction.connectives import ConnectiveRules
from pronominal.dataset_scripts.construction.filters import FilterRules
from pronominal.dataset_scripts.construction.labels import Labelling
from pronominal.dataset_scripts.construction.noun_phrases import PhraseRules
from pronominal.dataset_scripts.construction.replacement import ReplacementRules
from pronominal.dataset_scripts.construction.tagged_phrases import PIPELINE

Choice = Literal["paper", "released"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a sentence has to be, stage by stage.

    Attributes:
        clean: how documents are cleaned.
        filters: which sentences are read on.
        connectives: which connectives and pronouns they have.
        noun_phrases: which noun phrases they have.
        replacement: how the gender giveaway is taken away.
        grammar: what makes a noun phrase in tagged text, the paper's or the released code's.
        pipeline: name or folder of a spaCy pipeline; None finds proper names without a model.
        labels: labels from the gender giveaway, or none.
        guess_genders: whether a name that both genders have has the one that gender-guesser
            answers; otherwise its gender is not known.
    """

    clean: CleanRules = field(default_factory=CleanRules)
    filters: FilterRules = field(default_factory=FilterRules)
    connectives: ConnectiveRules = field(default_factory=ConnectiveRules)
    noun_phrases: PhraseRules = field(default_factory=PhraseRules)
    replacement: ReplacementRules = field(default_factory=ReplacementRules)
    grammar: Choice = "paper"
    pipeline: str | None = PIPELINE
    labels: Labelling = "gender"
    guess_genders: bool = False

    def with_most_clusters(self, number: int) -> "Rules":
        """Return the rules with at most so many connective clusters in a sentence."""
        if self.connectives.most_clusters is None:
            return replace(self, noun_phrases=replace(self.noun_phrases, most_clusters=number))
        return replace(self, connectives=replace(self.connectives, most_clusters=number))

    def describe(self) -> dict[str, Any]:
        """Return the rules as JSON holds them; equal rules give equal descriptions."""
        described = asdict(self)
        described["connectives"]["common_words"] = sorted(self.connectives.common_words)
        return described


PAPER = Rules()
RELEASED = Rules(
    clean=clean.RELEASED,
    filters=filters.RELEASED,
    connectives=connectives.RELEASED,
    noun_phrases=noun_phrases.RELEASED,
    replacement=replacement.RELEASED,
    grammar="released",
)
RULES: dict[str, Rules] = {"paper": PAPER, "released": RELEASED}
