"""The grammatical role that a pronoun's form tells, as a guess at its antecedent's."""

from pronominal.adapters.baselines.instance_by_instance import InstanceByInstance
from pronominal.adapters.baselines.mention_order import FirstMention, NearestMention
from pronominal.instances import ResolutionInstance
from pronominal.pronouns import PRONOUN_SETS

_SUBJECT_FORMS = {pronouns.nominative for pronouns in PRONOUN_SETS}


class Parallelism(InstanceByInstance):
    """Takes the first mention for a subject form and the nearest one for any other form.

    In a simple English clause the first mention is the subject and the last one the object, so
    this keeps a pronoun's grammatical role parallel to its antecedent's without a parser.
    """

    name = "parallelism"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        # the dataset's own case column knows the forms of sets that a user added
        case = instance.columns.get("case")
        if case is None and instance.pronoun.text.lower() in _SUBJECT_FORMS:
            case = "nominative"
        return (FirstMention() if case == "nominative" else NearestMention())._choose(instance)
