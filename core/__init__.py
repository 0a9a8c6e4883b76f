"""The vocabulary of pronominal: spans, instances, decisions, pronoun sets, errors."""

from pronominal.augmentation import switch_antecedents
from pronominal.decisions import BOTH, NONE, Abstention, Decision
from pronominal.errors import InputError
from pronominal.instances import ResolutionInstance
from pronominal.pronouns import CASES, PRONOUN_SETS, Case, PronounSet, load_pronoun_sets
from pronominal.spans import Cluster, Document, Mention, Span

__all__ = [
    "BOTH",
    "CASES",
    "NONE",
    "PRONOUN_SETS",
    "Abstention",
    "Case",
    "Cluster",
    "Decision",
    "Document",
    "InputError",
    "Mention",
    "PronounSet",
    "ResolutionInstance",
    "Span",
    "load_pronoun_sets",
    "switch_antecedents",
]
