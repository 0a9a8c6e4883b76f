"""Tables of models that were asked for a form by its probability and by what they write."""

from collections.abc import Iterator, Mapping
from typing import Any

from pronominal.eval.tables.table import UNDEFINED, Cell, Table, count_of, share_of, table

CONTEXTS = {"before": "before the slot", "after": "after the slot"}

SHARES = {
    "probability": "by probability",
    "generation": "by generation",
    "without_form": "no form",
    "agreement": "agree",
    "disagreement": "disagreement",
    "variation": "sd of samples",
}
"""Key of a share in percent -> its heading."""

NOTES = (
    "Right by generation: the first form is of the right pronoun set, or there is none (no form).",
    "Agree, kappa and MCC: of the verdicts by probability and of the first sample. Disagreement: "
    "p (1 - g) + (1 - p) g, with p the verdict by probability and g the share of right samples.",
    "[ ]: 95% intervals, of kappa and MCC by leaving out one unit at a time.",
)


def agreement_tables(scores: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Compare systems that were asked both questions, in each context, and by pronoun set.

    Scores of such systems have what `agreement_scores` returns.
    """
    for context, words in CONTEXTS.items():
        asked = {
            system: one["agreement"][context]
            for system, one in scores.items()
            if context in one.get("agreement", {})
        }
        if not asked:
            continue
        columns: dict[str, Cell] = {"n": count_of("n")}
        columns |= {heading: share_of(key) for key, heading in SHARES.items()}
        columns |= {"kappa": _number("kappa"), "MCC": _number("mcc")}
        yield table(f"Two questions, {words}", columns, asked, NOTES)
        names = dict.fromkeys(name for one in asked.values() for name in one["by_pronoun_set"])
        by_set = {name: share_of("disagreement", "by_pronoun_set", name) for name in names}
        title = f"Two questions, {words}: disagreement by pronoun set"
        yield table(title, by_set, asked, NOTES[1:])


def agreement_notes(scores: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Say how far the two questions have the same verdict."""
    for label, one in scores.items():
        asked = one.get("agreement", {})
        shares = [
            f"{share_of('agreement')(asked[context])} percent of rows {words}"
            for context, words in CONTEXTS.items()
            if context in asked
        ]
        if shares:
            yield f"{label}: probability and generation agree on {' and '.join(shares)}."


def _number(name: str) -> Cell:
    def cell(block: Mapping[str, Any]) -> str:
        value, ends = block.get(name), (block.get("interval") or {}).get(name)
        if value is None:
            return UNDEFINED
        return f"{value:.2f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")

    return cell
