"""The tables of WinoPron's scripts: ``double.tsv`` and the like, and each system's answers to them.

Answers are in the column ``generation``: what a language model has written, or the first string
of a cluster (``convert_caw_output.py``, ``evaluate_lingmess.py``, ``convert_spanbert_outputs.py``).
They are read as ``compute_performance.py`` reads them.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from pronominal.atomic import new_file
from pronominal.dataset_scripts.schemas.templates import PRONOUN_SLOTS
from pronominal.errors import InputError
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument
from pronominal.eval.exchange.text_files import numbered_lines

COLUMNS = ("occupation", "participant", "sentence", "pronoun_type", "pronoun", "answer")
GENERATION = "generation"


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write the table that the scripts read, or with decisions the one that they score.

    A decision for one of the two is its noun; *none* is an empty answer, and *both* are both nouns.
    """
    rows = map(_row, texts)
    first = next(rows, {})
    with new_file(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, [*first], delimiter="\t", lineterminator="\n")
        table.writeheader()
        if first:
            table.writerow(first)
        table.writerows(rows)


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield each row's answer."""
    lines = (f"{line}\n" for _, line in numbered_lines(file))
    table = csv.DictReader(lines, delimiter="\t")
    try:
        if not {"sentence", GENERATION} <= {*(table.fieldnames or ())}:
            cause = f"the columns sentence and {GENERATION} are not both there"
            cure = "give the answers that WinoPron's scripts have written"
            raise InputError(cause, cure=cure, file=file)
        for row in table:
            sentence, generation = row["sentence"], row[GENERATION]
            if sentence is None or generation is None:
                raise _broken("the row has fewer columns than the head", file, table.line_num)
            yield PredictedDocument(f"line {table.line_num}", None, sentence, answer=generation)
    except csv.Error as error:
        raise _broken(str(error), file, table.line_num + 1) from error


def _row(text: ExportedText) -> dict[str, str]:
    instance = text.instance
    if not {"occupation", "participant"} <= instance.columns.keys():
        cause = "the rows have no occupation and participant, which WinoPron's tables are about"
        raise InputError(cause, cure="export winopron or winogender, or another format")
    nouns = [candidate.text for candidate in instance.candidates]
    slot = next(slot for slot, case in PRONOUN_SLOTS.items() if case == instance.columns["case"])
    pronoun = instance.pronoun.text
    cells = (*nouns, instance.text, slot, pronoun, nouns[instance.label])
    row: dict[str, str] = dict(zip(COLUMNS, cells, strict=True))
    return row | _generation(text, nouns)


def _broken(cause: str, file: Path, line: int) -> InputError:
    return InputError(cause, cure="mend the row", file=file, row=f"line {line}")


def _generation(text: ExportedText, nouns: list[str]) -> dict[str, str]:
    if text.decision is None:
        return {}
    if text.decision.choice is not None:
        return {GENERATION: nouns[text.decision.choice]}
    return {GENERATION: " ".join(nouns) if text.decision.abstained == "both" else ""}
