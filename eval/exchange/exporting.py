"""Our texts, and what a run has answered to them, in the format of another system."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.exchange import FORMATS, exchange_format
from pronominal.eval.exchange.documents import ExportedText
from pronominal.eval.runs.answers import clustered_rows, read_answers
from pronominal.eval.runs.runner import ProgressCallback
from pronominal.settings import read_options


def export(
    split: Split,
    form: str,
    out: Path,
    *,
    predictions: Path | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    progress: ProgressCallback = lambda done: None,
) -> None:
    """Write a split for another system, or a run as that system would have written it.

    Args:
        split: rows with a pronoun and candidates.
        form: a key of `pronominal.eval.exchange.FORMATS`.
        out: the file or folder to make or replace.
        predictions: a run's folder or a predictions file, whose clusters are written, too.
        options: what is given of the `pronominal.eval.exchange.FormatEntry.options`, by name.
        progress: told how many texts are done.

    Raises:
        InputError: the format does not exist, has no such option, or cannot say what the
            predictions say; the row is named.
    """
    module = exchange_format(form)
    given = read_options(form, FORMATS[form].options, options)
    texts: Iterator[ExportedText] = map(ExportedText, split.instances())
    if predictions is not None:
        texts = _answered(split, predictions, clusters=FORMATS[form].clusters)
    module.write(_counted(texts, progress), out, **given)


def _answered(split: Split, path: Path, *, clusters: bool) -> Iterator[ExportedText]:
    decisions = read_answers(path, split)
    if not clusters:
        for instance, decision in zip(split.instances(), decisions, strict=True):
            yield ExportedText(instance, decision=decision)
        return
    for (instance, predicted), decision in zip(
        clustered_rows(path, split.stream()), decisions, strict=True
    ):
        yield ExportedText(instance, [*predicted], decision)


def _counted(texts: Iterator[ExportedText], progress: ProgressCallback) -> Iterator[ExportedText]:
    for done, text in enumerate(texts, start=1):
        yield text
        progress(done)
