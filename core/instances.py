"""What a system is asked: one pronoun and its candidate antecedents, or one slot to fill."""

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

    def to_row(self) -> dict[str, Any]:
        """Return the row of a published table, as `from_row` reads it."""
        return {
            "id": self.id,
            "text": self.text,
            "pronoun": self.pronoun._asdict(),
            "candidates": [candidate._asdict() for candidate in self.candidates],
            "label": self.label,
            **self.columns,
        }


@dataclass(frozen=True, slots=True)
class FillingInstance:
    """One text with a slot, and the forms that may fill it (RUFF).

    Attributes:
        id: unique in its config and stable between versions.
        text: the passage, with ``___`` where the pronoun goes.
        blank: the slot's place in `text`.
        options: the forms that may fill the slot, in the order he, she, they, xe.
        label: index of the right form; -1 where no form is right or wrong (``no_context``).
        columns: the dataset's own columns, such as ``case`` and ``pronoun_set``.
    """

    id: str
    text: str
    blank: Mention
    options: tuple[str, ...]
    label: int
    columns: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "FillingInstance":
        """Build an instance from one row of a published table."""
        shared = ("id", "text", "blank", "options", "label")
        return cls(
            id=row["id"],
            text=row["text"],
            blank=Mention(**row["blank"]),
            options=tuple(row["options"]),
            label=row["label"],
            columns={name: value for name, value in row.items() if name not in shared},
        )

    def to_row(self) -> dict[str, Any]:
        """Return the row of a published table, as `from_row` reads it."""
        return {
            "id": self.id,
            "text": self.text,
            "blank": self.blank._asdict(),
            "options": list(self.options),
            "label": self.label,
            **self.columns,
        }

    def filled(self) -> tuple[str, ...]:
        """Return the text once with each option in the slot."""
        before, after = self.text[: self.blank.start], self.text[self.blank.end :]
        return tuple(f"{before}{option}{after}" for option in self.options)
