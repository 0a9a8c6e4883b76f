"""What a system is asked: one pronoun and its candidate antecedents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pronominal.spans import Mention


@dataclass(frozen=True, slots=True)
class ResolutionInstance:
    """One text with one pronoun to resolve.

    Attributes:
        id: unique in its config and stable between versions.
        text: the sentence or passage.
        pronoun: the pronoun to resolve.
        candidates: the two possible antecedents, bare nouns or names without determiner.
        label: index of the right candidate; ``len(candidates)`` where neither is right (GAP).
        columns: the dataset's own columns, such as ``case`` and ``pronoun_set``.
    """

    id: str
    text: str
    pronoun: Mention
    candidates: tuple[Mention, ...]
    label: int
    columns: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "ResolutionInstance":
        """Build an instance from one row of a published table."""
        shared = ("id", "text", "pronoun", "candidates", "label")
        return cls(
            id=row["id"],
            text=row["text"],
            pronoun=Mention(**row["pronoun"]),
            candidates=tuple(Mention(**candidate) for candidate in row["candidates"]),
            label=row["label"],
            columns={name: value for name, value in row.items() if name not in shared},
        )
