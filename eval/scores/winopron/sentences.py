"""What the scores of a dataset made from templates need of its table."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pronominal.errors import InputError, nearest_name
from pronominal.eval.statistics.groups import Groups, Strata
from pronominal.eval.statistics.outcomes import IntArray
from pronominal.pronouns import CASES, PRONOUN_SETS


@dataclass(frozen=True, slots=True)
class Sentences:
    """The rows of a published split, as integers; all arrays have shape ``[rows]``.

    Attributes:
        labels: index of the right candidate.
        cases: rows by grammatical case.
        pronoun_sets: rows by pronoun set.
        templates: rows of one template; they differ in the pronoun set only.
        pairs: rows of one template pair, the unit that intervals resample.
    """

    labels: IntArray
    cases: Strata
    pronoun_sets: Strata
    templates: Groups
    pairs: Groups

    @classmethod
    def of(cls, table: pa.Table) -> "Sentences":
        """Read a table; `InputError` if it has a case that is none of the three."""
        cases = _strata(table, "case", CASES)
        if len(cases.names) > len(CASES):
            first = int(np.argmax(cases.codes == len(CASES)))
            raise InputError(
                f"there is no grammatical case '{cases.names[len(CASES)]}'",
                cure=nearest_name(cases.names[len(CASES)], CASES),
                row=f"id {table['id'][first]}",
            )
        return cls(
            labels=table["label"].to_numpy(),
            cases=cases,
            pronoun_sets=_strata(table, "pronoun_set", [known.name for known in PRONOUN_SETS]),
            templates=_groups(table, "template_id"),
            pairs=_groups(table, "pair_id"),
        )

    @property
    def everything(self) -> Strata:
        """All rows as one stratum."""
        return Strata(("overall",), np.zeros_like(self.labels))

    @property
    def forms(self) -> Strata:
        """Rows by pronoun form, such as ``accusative/she``: case and pronoun set."""
        sets = self.pronoun_sets.names
        names = tuple(f"{case}/{name}" for case in self.cases.names for name in sets)
        return Strata(names, self.cases.codes * len(sets) + self.pronoun_sets.codes)

    @property
    def disambiguations(self) -> Groups:
        """Rows with the same pronoun and opposite answers: a pair's rows of one form."""
        forms = self.forms
        number = len(forms.names)
        return Groups(self.pairs.codes * number + forms.codes, self.pairs.size * number)


def _encode(table: pa.Table, column: str) -> tuple[list[str], IntArray]:
    encoded = table[column].combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _strata(table: pa.Table, column: str, known: Iterable[str]) -> Strata:
    found, codes = _encode(table, column)
    names = tuple(dict.fromkeys([*known, *found]))
    return Strata(names, np.array([names.index(name) for name in found], np.int64)[codes])


def _groups(table: pa.Table, column: str) -> Groups:
    found, codes = _encode(table, column)
    return Groups(codes, len(found))
