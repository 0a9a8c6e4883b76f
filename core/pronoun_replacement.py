"""Texts with other pronouns: one pronoun set for another, where every form is certain."""

from collections.abc import Iterable, Sequence, Set

from pronominal.pronouns import CASES, PRONOUN_SETS, PronounSet

CLOSING = frozenset(".,;:!?)") | {"...", "''", "”", "’"}
"""What may follow a phrase and begins none; straight quotation marks do both."""
ARTICLES = frozenset({"a", "an", "the"})
LINKING = frozenset({"because", "when", "while", "if", "after", "before", "until", "although"})
PREPOSITIONS = frozenset({"about", "at", "by", "for", "from", "in", "of", "on", "to", "with"})
ADVERBS = frozenset({"never", "always", "also", "just"})
"""Words that may stand between a nominative and its verb."""
INVARIANT = frozenset(
    {"had", "did", "could", "would", "should", "might", "must", "will", "can", "may"}
    | {"'d", "'ll", "’d", "’ll"}
)
"""Verbs that are the same in singular and plural."""
SINGULAR = frozenset(
    {"is", "was", "has", "does", "'s", "’s", "isn't", "wasn't", "hasn't", "doesn't"}
)
"""Verbs whose plural is another form, as one word or as the part before *n't*."""
BEHIND_INDEPENDENT = PREPOSITIONS | ADVERBS | INVARIANT | SINGULAR | {"and", "or"}
"""Words that may follow an independent possessive."""
ADVERBS_IN_ED = frozenset({"indeed", "need"})
NEGATIONS = frozenset({"n't", "n’t", "not"})
COORDINATING = frozenset({"and", "or", "but"})
ENDS = frozenset({".", "!", "?"})

Kind = str
"""One of `CASES`, ``independent`` or ``reflexive``."""


class UncertainFormError(ValueError):
    """A form of another set cannot be told; the message says why, without the text's words."""


def replaced_pronouns(
    words: Sequence[str], places: Sequence[int], new: PronounSet, known: Sequence[PronounSet] = ()
) -> list[str]:
    """Return a text whose pronouns at some places are of another set.

    The grammatical case of a form that has two (*her*, *his*) is told by the words next to it, or
    does not matter where the new set has one form for both. *They* may be a group's and is never
    replaced. A set whose verbs agree otherwise is taken only where the verb behind the pronoun is
    the same in both numbers and no verb behind it in its sentence is singular.

    Args:
        words: the text's.
        places: of the pronouns, which are all of one set.
        new: the set to write.
        known: further sets that the text's pronouns may be of.

    Raises:
        UncertainFormError: a form or a verb is not certain.
    """
    old = _set_of([words[place].lower() for place in places], (*PRONOUN_SETS, *known))
    if old.agreement == "plural":
        raise UncertainFormError("the pronoun may be a group's")
    if old.name == new.name:
        raise UncertainFormError("the pronoun is of this set already")
    found = list(words)
    for place in places:
        kinds = _kinds(words, place, old)
        if "nominative" in kinds and new.agreement != old.agreement:
            _require_invariant_verbs(words, place)
        forms = {getattr(new, kind) for kind in kinds}
        if len(forms) > 1:
            raise UncertainFormError("the pronoun's grammatical case is not certain")
        (form,) = forms
        if form is None:
            raise UncertainFormError("the pronoun set has no such form")
        found[place] = _cased_like(words[place], form)
    return found


def other_pronouns(words: Sequence[str], places: Iterable[int]) -> bool:
    """Say whether another pronoun of the same set stands at none of the places."""
    own = {*places}
    forms = {words[place].lower() for place in own}
    sets = [one for one in PRONOUN_SETS if forms & one.forms]
    return any(
        word.lower() in one.forms
        for place, word in enumerate(words)
        for one in sets
        if place not in own
    )


def _set_of(forms: Sequence[str], known: Sequence[PronounSet]) -> PronounSet:
    fitting = [one for one in known if one.forms.issuperset(forms)]
    if len(fitting) != 1:
        raise UncertainFormError("the pronouns are not of one known set")
    return fitting[0]


def _cased_like(old: str, form: str) -> str:
    if len(old) > 1 and old.isupper():
        return form.upper()
    return form.capitalize() if old[:1].isupper() else form


def _kinds(words: Sequence[str], place: int, old: PronounSet) -> Set[Kind]:
    """Return what the form at a place can be, given its neighbours."""
    form = words[place].lower()
    kinds = {k for k in (*CASES, "independent", "reflexive") if getattr(old, k) == form}
    after = words[place + 1].lower() if place + 1 < len(words) else "."
    before = words[place - 1].lower() if place else ""
    compound = words[place + 2 : place + 3] == ["-"]  # her A-level results
    no_noun_follows = after in CLOSING | ARTICLES | LINKING and not compound
    if no_noun_follows:
        kinds -= {"possessive"}
    elif after[:1].isalpha() and after not in BEHIND_INDEPENDENT:
        # a friend of his called
        kinds -= {"independent"} if before != "of" else set()
    if not kinds:
        raise UncertainFormError("the pronoun's grammatical case is not certain")
    return kinds


def _require_invariant_verbs(words: Sequence[str], place: int) -> None:
    after = [word.lower() for word in words[place + 1 :]]
    end = next((number for number, word in enumerate(after) if word in ENDS), len(after))
    clause = after[:end]
    before = next((w for w in map(str.lower, words[:place][::-1]) if w not in NEGATIONS), "")
    verb = next((word for word in clause if word not in ADVERBS), "")
    past = verb.endswith("ed") and verb not in ADVERBS_IN_ED
    coordinated = not COORDINATING.isdisjoint(clause)
    later = any(word in SINGULAR or (coordinated and word.endswith("s")) for word in clause)
    if not (past or verb in INVARIANT) or later or before in SINGULAR:
        raise UncertainFormError("a verb that agrees with the pronoun is not certain")
