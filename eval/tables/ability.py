"""What a model that does well on a task can do: a row of its profile over all datasets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

RESOLVES, REUSES, SINGULAR_THEY, NAMES = "resolves", "keeps using", "singular they", "names"
"""To know who a pronoun is; to go on with a person's pronouns; *they* as one person; and to read
the sentence and not the names in it."""

ABILITIES = (RESOLVES, REUSES, SINGULAR_THEY, NAMES)
"""In the order of a profile."""


@dataclass(frozen=True, slots=True)
class Ability:
    """What a task shows of a model, by pronoun set.

    Attributes:
        name: one of `ABILITIES`.
        division: of the headline, by pronouns; None where there is none.
        pronoun_sets: part of the division -> the pronoun set that it is of, where they differ.
        all_rows: the pronoun set of all rows, where they have one.
    """

    name: str
    division: str | None = None
    pronoun_sets: Mapping[str, str] = field(default_factory=dict)
    all_rows: str | None = None
