"""What the scores of a dataset made from templates need of its table."""

from dataclasses import dataclass

import pyarrow as pa

from pronominal.arrow_numbers import numbers
from pronominal.errors import InputError
from pronominal.eval.statistics.groups import Groups, Strata
from pronominal.eval.statistics.outcomes import IntArray
from pronominal.eval.statistics.units import Units
from pronominal.names import nearest_name
from pronominal.pronouns import CASES, PRONOUN_SETS


@dataclass(frozen=True, slots=True)
class Sentences:
    """The rows of a published split, as integers; all arrays have shape ``[rows]``.

    Attributes:
        labels: index of the right candidate.
        cases: rows by grammatical case.
        pronoun_sets: rows by pronoun set.
        templates: rows of one template; they differ in the pronoun set only.
        pairs: rows of one template pair.
        units: rows about one occupation, which stand or fall together over grammatical cases.
    """

    labels: IntArray
    cases: Strata
    pronoun_sets: Strata
    templates: Groups
    pairs: Groups
    units: Units

    @classmethod
    def of(cls, table: pa.Table) -> "Sentences":
        """Read a table; `InputError` if it has a case that is none of the three."""
        columns = ("case", "pronoun_set", "template_id", "pair_id")
        case, pronoun_set, template, pair = (table[name].to_pylist() for name in columns)
        cases = Strata.of(case, CASES)
        if len(cases.names) > len(CASES):
            unknown = cases.names[len(CASES)]
            cure, row = nearest_name(unknown, CASES), f"id {table['id'][case.index(unknown)]}"
            raise InputError(f"there is no grammatical case '{unknown}'", cure=cure, row=row)
        return cls(
            labels=numbers(table["label"]),
            cases=cases,
            pronoun_sets=Strata.of(pronoun_set, [known.name for known in PRONOUN_SETS]),
            templates=Groups.of(template),
            pairs=Groups.of(pair),
            units=Units.of("occupation", table["occupation"].to_pylist()),
        )

    @property
    def everything(self) -> Strata:
        """All rows as one stratum."""
        return Strata.whole(len(self.labels))

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
