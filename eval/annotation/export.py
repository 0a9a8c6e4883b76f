"""From a built dataset to a folder for annotators, and the key that stays behind."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from random import Random

from pronominal.atomic import new_folder
from pronominal.dataset_scripts.reading.split import Instance, Split
from pronominal.errors import InputError
from pronominal.eval.annotation.key import Item, Key
from pronominal.eval.annotation.sheets import ITEM, Format, one_line, shown_digest, write_sheet
from pronominal.eval.annotation.tasks import ANNOTATION_TASKS, Question
from pronominal.eval.runs.record import SplitRecord
from pronominal.names import unknown_name

FOR_ANNOTATORS = "for-annotators"
"""The one folder of an export that is given away."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted from annotators.

    Attributes:
        task: a key of `ANNOTATION_TASKS`.
        annotators: how many people are to answer, at least 1.
        sample: how many rows to draw; None for all.
        seed: of the sample, the order of the items and that of the candidates.
        format: of the sheet.
    """

    task: str
    annotators: int = 6
    sample: int | None = None
    seed: int = 0
    format: Format = Format.CSV


def export(split: Split, request: Request, out: Path) -> Key:
    """Write a folder with the sheet, its instructions and a note for whoever has it, and the key.

    The sheet is the same for every annotator. Its items are in random order, and so are the two
    candidates of each. `InputError` if there is something at `out`, the task cannot be asked of
    these rows, or the sample is larger than they are.
    """
    if request.task not in ANNOTATION_TASKS:
        raise unknown_name("annotation task", request.task, ANNOTATION_TASKS)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        cause = "there is something already, maybe answers"
        raise InputError(cause, cure="choose another --out", file=out)
    chance = Random(request.seed)
    instances = _drawn(split, request.sample, chance)
    key, records = _sheet(split, request, instances, chance)
    with new_folder(out) as temporary:
        _write_folder(temporary, key, request.format, records)
        key.write(temporary)
    return key


def _drawn(split: Split, sample: int | None, chance: Random) -> list[Instance]:
    if sample is None:
        return list(split.stream())
    if not 0 < sample <= split.num_rows:
        cause = f"a sample of {sample} rows cannot be drawn from {split.num_rows}"
        cure = f"give --sample from 1 to {split.num_rows}"
        raise InputError(cause, cure=cure, file=split.file)
    drawn = set(chance.sample(range(split.num_rows), sample))
    return [instance for row, instance in enumerate(split.stream()) if row in drawn]


def _sheet(
    split: Split, request: Request, instances: Sequence[Instance], chance: Random
) -> tuple[Key, list[dict[str, str]]]:
    task = ANNOTATION_TASKS[request.task]
    questions = [found for instance in instances for found in task.questions(instance, chance)]
    if not questions:
        raise InputError("there is nothing to ask about", cure="give another task", file=split.file)
    chance.shuffle(questions)
    dataset = SplitRecord(split.dataset_name, split.config, split.name, split.digest)
    mark = _mark(dataset, request, questions)
    records = [
        {ITEM: f"Q{number}-{mark}"} | {name: one_line(cell) for name, cell in one.shown.items()}
        for number, one in enumerate(questions, start=1)
    ]
    headings = tuple(questions[0].shown)
    digests = [shown_digest(record[name] for name in headings) for record in records]
    items = tuple(
        Item(record[ITEM], one.row, one.about, one.order, digest)
        for one, record, digest in zip(questions, records, digests, strict=True)
    )
    words = task.words(instances)
    key = Key(request.task, dataset, request.seed, request.annotators, headings, words, items)
    return key, records


def _mark(dataset: SplitRecord, request: Request, questions: Sequence[Question]) -> str:
    """Return what the names of this export's items end in, and of no other's."""
    told = [asdict(dataset), asdict(request), [(one.row, one.about) for one in questions]]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode("utf-8")).hexdigest()[:6]


def _write_folder(
    folder: Path, key: Key, form: Format, records: Sequence[Mapping[str, str]]
) -> None:
    given = folder / FOR_ANNOTATORS
    given.mkdir()
    write_sheet(given / f"sheet.{form.value}", key.headings, records)
    for name, source in (("INSTRUCTIONS.md", f"{key.task}.md"), ("README.md", "readme.md")):
        text = files("pronominal.eval.annotation").joinpath(source).read_text(encoding="utf-8")
        (given / name).write_text(
            text.replace("{words}", ", ".join(key.words)), encoding="utf-8", newline="\n"
        )
    # a folder of evaluation text inside a repository is not to be committed by accident
    (folder / ".gitignore").write_text("*\n", encoding="utf-8", newline="\n")
