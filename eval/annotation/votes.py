"""From the answers to the questions about a row to what each annotator says of the row."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pronominal.dataset_scripts.reading.split import Instance, Split
from pronominal.decisions import BOTH, NONE, Decision
from pronominal.errors import InputError
from pronominal.eval.annotation.answers import Answers
from pronominal.eval.annotation.key import Answer
from pronominal.instances import FillingInstance

Verdict = Answer
"""What one annotator says of one row: index of a candidate or option, or why there is none."""

BOTH_PEOPLE, NEITHER, NOT_SURE, OTHER_FORM = "both", "neither", "not sure", "another form"


def verdicts(answers: Answers, rows: Split) -> dict[str, tuple[Verdict, ...]]:
    """Return what each annotator says of each row.

    ``antecedent``: the chosen candidate, ``neither`` or ``unclear``. ``reference``: the candidate
    that the pronoun refers to and no other one; ``both``, ``neither``, or ``not sure`` where that
    was one of the answers. ``blank``: the option that was written, or ``another form``.

    Returns:
        Id of the row -> one verdict for each annotator; in the order of the rows, which are those
        that were asked about.

    Raises:
        InputError: the task says nothing of antecedents or options, as ``blank`` where a pronoun
            was hidden that had no options.
    """
    task = answers.key.task
    if task == "grammaticality" or (task == "blank" and not rows.asks_for_form):
        cause = "the annotators were not asked for an answer that a system could give"
        cure = "give an export of the task antecedent or reference, or of blank for ruff"
        raise InputError(cause, cure=cure)
    given: dict[str, dict[int | None, tuple[Answer, ...]]] = {}
    for item, one in zip(answers.key.items, answers.given, strict=True):
        given.setdefault(item.row, {})[item.about] = one
    found = {}
    for instance in rows.stream():
        by_annotator = zip(*given[instance.id].values(), strict=True)
        abouts = tuple(given[instance.id])
        found[instance.id] = tuple(
            _verdict(dict(zip(abouts, one, strict=True)), instance) for one in by_annotator
        )
    return found


def majority(given: Sequence[Verdict]) -> Verdict | None:
    """Return what more than half of the annotators say; None where there is no such thing."""
    most, votes = Counter(given).most_common(1)[0]
    return most if 2 * votes > len(given) else None


def decision(verdict: Verdict | None) -> Decision:
    """Return a verdict as a system's decision: what is no choice is ``none``, or ``both``."""
    if isinstance(verdict, int):
        return Decision(verdict)
    return BOTH if verdict == BOTH_PEOPLE else NONE


def _verdict(given: Mapping[int | None, Answer], instance: Instance) -> Verdict:
    """Return what one annotator says of a row, from their answers by what they are about."""
    if None in given and isinstance(instance, FillingInstance):
        forms = [option.casefold() for option in instance.options]
        return forms.index(str(given[None])) if given[None] in forms else OTHER_FORM
    if None in given:
        return given[None]
    if NOT_SURE in given.values():
        return NOT_SURE
    people = [about for about, answer in given.items() if answer == "yes" and about is not None]
    if len(people) == 1:
        return people[0]
    return BOTH_PEOPLE if people else NEITHER
