"""Names replaced so that both agree with the pronoun, by offsets, not by substrings (3.1.4)."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from pronominal.dataset_scripts.construction.genders import NameGenders, titles
from pronominal.dataset_scripts.construction.giveaways import gives_away
from pronominal.dataset_scripts.construction.labels import UNLABELLED
from pronominal.dataset_scripts.construction.stage import PLACES, Kept, Stage, answered, mention
from pronominal.dataset_scripts.construction.words import (
    FEMININE,
    GENDERED_NOUNS,
    MASCULINE,
    OTHER_TITLES,
    STOPWORDS,
    TARGETS,
    Gender,
)
from pronominal.dataset_scripts.tables.columns import MENTION
from pronominal.spans import Mention, Span

FORMS = {"male": MASCULINE, "female": FEMININE}
WORD = re.compile(r"\w+")
NOUN_BEFORE = re.compile(r"(\w+) $")
STRAY = "a pronoun of the other gender would stay"
GENDERED = "a noun that tells the gender before a name that has to change"
GIVEAWAY = "a word that contradicts the gender of a name as it is now"
APOSTROPHE = "a bare apostrophe behind a name that has to change"


@dataclass(frozen=True, slots=True)
class ReplacementRules:
    """What changes in a sentence whose names give the answer away.

    Attributes:
        change: the ``other`` name, which is not the answer (the paper's *James*, *Jane*); the
            ``answer`` with every pronoun of its gender (Table 1, example 3); or ``both`` names,
            each reduced to a first name, as the released training data has them.
        stray_pronouns: whether a sentence is dropped in which a pronoun of the other gender would
            be left, or the pronoun changed too, as in the released training data.
        giveaways: whether a sentence is dropped or only counted in which a word beside a name
            contradicts the gender that it has now (*Ann, a policeman*; see `giveaways`).
    """

    change: Literal["other", "answer", "both"] = "other"
    stray_pronouns: Literal["drop", "change"] = "drop"
    giveaways: Literal["drop", "count"] = "drop"


RELEASED = ReplacementRules(change="both", stray_pronouns="change", giveaways="count")


class Edit(NamedTuple):
    """A part of a text, half open, and what takes its place."""

    start: int
    end: int
    new: str


def edited(text: str, edits: Iterable[Edit]) -> tuple[str, dict[Span, Span]]:
    """Make edits at once, in any order, none overlapping; return the text and each span's place."""
    pieces: list[str] = []
    places: dict[Span, Span] = {}
    done = length = 0
    for start, end, new in sorted(edits):
        assert start >= done, "two edits overlap"
        pieces += (text[done:start], new)
        length += start - done
        places[Span(start, end)] = Span(length, length + len(new))
        length, done = length + len(new), end
    return "".join((*pieces, text[done:])), places


def replacement(names: NameGenders, rules: ReplacementRules = ReplacementRules()) -> Stage:
    """Return the stage that takes the gender giveaway away, and keeps the text in ``original``.

    A sentence without one (labels ``none``) stays as it is.
    """

    def stage(rows: pa.RecordBatch) -> Kept:
        kept, changed = answered(rows, [agreeing(row, names, rules) for row in rows.to_pylist()])
        noted = Counter(
            GIVEAWAY for row in changed if rules.giveaways == "count" and contradicts(row)
        )
        result = kept.rows.append_column(pa.field("original", pa.string()), kept.rows["text"])
        for name, kind in (("text", pa.string()), ("pronoun", MENTION), ("candidates", PLACES)):
            place = result.schema.get_field_index(name)
            values = pa.array([row[name] for row in changed], kind)
            result = result.set_column(place, pa.field(name, kind), values)
        return Kept(result, kept.rejected, noted)

    return stage


def contradicts(row: Mapping[str, Any]) -> bool:
    """Whether a word of a row beside a name tells another gender than its pronoun's.

    Of a row without a giveaway no name was changed.
    """
    if row["giveaway"] == UNLABELLED:
        return False
    names = tuple(Span(each["start"], each["end"]) for each in row["candidates"])
    return gives_away(row["text"], names, TARGETS[row["pronoun"]["text"].lower()])


def agreeing(
    row: Mapping[str, Any], names: NameGenders, rules: ReplacementRules
) -> dict[str, Any] | str:
    """Return text, pronoun and candidates of a row as they will be, or why they cannot be."""
    text: str = row["text"]
    pronoun = Mention(**row["pronoun"])
    candidates = [Mention(**candidate) for candidate in row["candidates"]]
    answer = row["giveaway"]
    edits = [Edit(m.start, m.end, m.text) for m in (*candidates, pronoun)]
    if answer != UNLABELLED:
        gender = TARGETS[pronoun.text]
        if rules.change == "answer":
            gender = _opposite(gender)
        changing = {"other": [1 - answer], "answer": [answer], "both": [0, 1]}[rules.change]
        for index in changing:
            if fault := _unchangeable(text, candidates[index], rules):
                return fault
        taken = set(WORD.findall(text))
        for index in changing:
            new = _renamed(candidates[index].text, gender, names, text, taken, rules)
            taken |= set(WORD.findall(new))
            edits[index] = edits[index]._replace(new=new)
        others = _other_pronouns(text, gender, edits[:2])
        if others and rules.stray_pronouns == "drop" and rules.change != "answer":
            return STRAY
        target = [edit for edit in others if edit[:2] == (pronoun.start, pronoun.end)]
        edits = [*edits[:2], *others, *([] if target else edits[2:])]
    new, places = edited(text, edits)
    first, second, last = (mention(new, *places[m.span]) for m in (*candidates, pronoun))
    made = {"text": new, "pronoun": last, "candidates": [first, second], "giveaway": answer}
    return GIVEAWAY if rules.giveaways == "drop" and contradicts(made) else made


def _unchangeable(text: str, name: Mention, rules: ReplacementRules) -> str | None:
    """Say why another name cannot take the place of one, None if it can."""
    if re.match(r"'(?!s)", text[name.end :]):
        return APOSTROPHE
    noun = NOUN_BEFORE.search(text, 0, name.start)
    if rules.change != "both" and noun and noun[1].lower() in GENDERED_NOUNS:
        return GENDERED
    return None


def _opposite(gender: Gender) -> Gender:
    return "male" if gender == "female" else "female"


def _renamed(
    mention: str,
    gender: Gender,
    names: NameGenders,
    text: str,
    taken: set[str],
    rules: ReplacementRules,
) -> str:
    """Return a person's name in another gender: title and first name change, the rest stays."""
    words = mention.split()
    first = titles(words)
    known = words[first] in names.genders
    if rules.change == "both":
        return names.choose(gender, words[first], text, taken)
    if names.of(mention) == gender:
        return mention
    head = [OTHER_TITLES.get(word, word) for word in words[:first]]
    if known or not first:
        words[first] = names.choose(gender, words[first], text, taken)
    return " ".join((*head, *words[first:]))


def _other_pronouns(text: str, gender: Gender, names: Sequence[Edit]) -> list[Edit]:
    """Return an edit for every pronoun that is not of this gender."""
    forms = FORMS[_opposite(gender)]
    edits = []
    for word in WORD.finditer(text):
        form = word[0].lower()
        if form in forms and not any(s <= word.start() < e for s, e, _ in names):
            new = _other_form(form, forms[form], text[word.end() :])
            edits.append(Edit(*word.span(), new.capitalize() if word[0][0].isupper() else new))
    return edits


def _other_form(form: str, new: str, behind: str) -> str:
    """Return a form of the other gender; *her* and *his* have two, by the next word.

    A content word behind *her* makes it a possessive, one behind *his* a dependent one.
    """
    if form not in ("her", "his"):
        return new
    word = re.match(r" (\w+)", behind)
    dependent = word is not None and word[1].lower() not in STOPWORDS - {"own", "first", "last"}
    if form == "her":
        return "his" if dependent else "him"
    return "her" if dependent else "hers"
