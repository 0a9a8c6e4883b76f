"""inspect_ai: a log, ``.eval`` (a zip archive of Zstandard members) or ``.json``.

Ids in the log of a task of ``eval.yaml`` are 1 to N; the row's own stands in ``metadata``, as our
``eval.yaml`` asks, or is the sample's id in our exported tasks. Written against inspect_ai 0.3.285.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pronominal.decisions import NONE, UNFINISHED, Decision
from pronominal.errors import InputError, os_errors
from pronominal.eval.exchange.logs import Log, LoggedAnswer, not_as_expected
from pronominal.json_files import parse_object
from pronominal.zip_archives import ZSTANDARD, as_it_lies

PROGRAM = "inspect_ai"
CURE = "give a log that inspect_ai has written"
ZIP = b"PK\x03\x04"
CUT_OFF = ("max_tokens", "model_length")
"""Reasons to stop after which an answer may be missing its end."""


def read(file: Path) -> Log:
    """Return what a log says."""
    with os_errors(file, CURE), file.open("rb") as opened:
        zipped = opened.read(4) == ZIP
    header, samples = _unzipped(file) if zipped else _whole(file)
    try:
        asked = header["eval"]
        told = {
            "program": PROGRAM,
            "version": asked.get("packages", {}).get(PROGRAM),
            "model": asked["model"],
            "task": asked["task"],
            "limit": asked["config"].get("limit"),
        }
        finished = header["status"] == "success"
    except (KeyError, TypeError, AttributeError) as error:
        raise not_as_expected(file, PROGRAM, None, error) from error
    return Log(_answers(file, samples), finished, told)


def _whole(file: Path) -> tuple[dict[str, Any], Iterator[tuple[str, Any]]]:
    with os_errors(file, CURE):
        content = parse_object(file.read_bytes(), file=file, cure=CURE)
    samples = content.pop("samples", None) or []
    return content, ((f"sample {number}", one) for number, one in enumerate(samples, start=1))


def _unzipped(file: Path) -> tuple[dict[str, Any], Iterator[tuple[str, Any]]]:
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if "header.json" not in names:
                cause = "the evaluation was stopped before it had a header"
                raise InputError(cause, cure="let inspect eval-retry finish it", file=file)
            header = parse_object(_member(archive, "header.json"), file=file, cure=CURE)
    except (zipfile.BadZipFile, pa.ArrowException, OSError, ValueError) as error:
        raise InputError("the archive is damaged", cure=CURE, file=file) from error
    return header, _members(file)


def _members(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield the samples of an archive, one in memory at a time."""
    try:
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    content = _member(archive, name)
                    yield name, parse_object(content, file=file, row=name, cure=CURE)
    except (zipfile.BadZipFile, pa.ArrowException, OSError) as error:
        raise InputError("the archive is damaged", cure=CURE, file=file) from error


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    member = archive.getinfo(name)
    with archive.open(as_it_lies(member)) as opened:
        content = opened.read()
    if member.compress_type != ZSTANDARD:
        return content
    with closing(pa.CompressedInputStream(pa.py_buffer(content), "zstd")) as stream:
        return io.BytesIO(stream.read()).getvalue()


def _answers(file: Path, samples: Iterator[tuple[str, Any]]) -> Iterator[LoggedAnswer]:
    for place, sample in samples:
        try:
            yield _answer(sample, place)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise not_as_expected(file, PROGRAM, place, error) from error


def _answer(sample: Mapping[str, Any], place: str) -> LoggedAnswer:
    name, text = (sample.get("metadata") or {}).get("id", sample["id"]), sample["input"]
    options = tuple(map(str, sample.get("choices") or ())) or None
    about = LoggedAnswer(
        place=place,
        # a number is a place in the program's own list
        id=name if isinstance(name, str) else None,
        text=text if isinstance(text, str) else None,
        options=options,
    )
    if sample.get("error") is not None:
        return replace(about, failure="the program failed at it")
    scores = sample.get("scores") or {}
    cut_off = any(one.get("stop_reason") in CUT_OFF for one in sample["output"]["choices"])
    if "choice" in scores:
        decision = _chosen(scores["choice"].get("answer"), len(options or ()), cut_off=cut_off)
        return replace(about, decision=decision, right=scores["choice"]["value"] == "C")
    if "answer" in scores and options is None and str(sample["target"]).isdecimal():
        # as our eval.yaml asks where no column has the answers: they are numbered as labels are
        told = scores["answer"]
        decision = _numbered(told.get("answer"), len(sample["metadata"]["candidates"]), cut_off)
        return replace(about, decision=decision, right=told["value"] == "C")
    # another scorer's verdict is about its own reading of what was written
    return replace(
        about,
        decision=UNFINISHED if cut_off else None,
        written=None if cut_off else str(sample["output"]["completion"]),
    )


def _numbered(answer: object, candidates: int, cut_off: bool) -> Decision:
    """Read a candidate's number; another one is no candidate, such as GAP's *neither*."""
    number = str(answer or "")
    if number.isdecimal() and number.isascii() and int(number) < candidates:
        return Decision(int(number))
    return UNFINISHED if cut_off and not number else NONE


def _chosen(answer: object, options: int, *, cut_off: bool) -> Decision:
    """Read letters: one of an option's is a choice, none or several are no answer."""
    letters = [one.strip() for one in str(answer or "").split(",") if one.strip()]
    if len(letters) == 1 and len(letters[0]) == 1 and 0 <= ord(letters[0]) - ord("A") < options:
        return Decision(ord(letters[0]) - ord("A"))
    return UNFINISHED if cut_off and not letters else NONE
