"""Files of other coreference systems: our texts in the form that they read, their answers back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from pronominal.errors import InputError
from pronominal.names import unknown_name
from pronominal.settings import Option

if TYPE_CHECKING:
    from pronominal.eval.exchange.documents import ExportedText, PredictedDocument

VOCABULARY = Option("vocabulary", Path, "the model's vocab.txt or tokenizer.json.")
SEGMENT_LENGTH = Option("segment_length", int, "word pieces in a segment; 384, 512.", least=3)


@dataclass(frozen=True, slots=True)
class FormatEntry:
    """One format.

    Attributes:
        summary: whose it is.
        options: keywords of its ``write``.
        clusters: whether it says by which clusters a text was answered; else only what was.
    """

    summary: str
    options: tuple[Option, ...] = ()
    clusters: bool = True


FORMATS: dict[str, FormatEntry] = {
    "allennlp": FormatEntry("AllenNLP's coreference predictor: JSON lines, answers in words"),
    "brat": FormatEntry("brat standoff: a folder with a .txt and an .ann for each text"),
    "caw": FormatEntry("CAW-coref and WL-coref: JSON lines of words"),
    "conll2012": FormatEntry("the CoNLL-2012 shared task: columns, coreference in the last one"),
    "coref-hoi": FormatEntry(
        "lxucs/coref-hoi: JSON lines of word pieces", (VOCABULARY, SEGMENT_LENGTH)
    ),
    "corefud": FormatEntry("CorefUD 1.x: CoNLL-U with Entity in MISC"),
    "cort": FormatEntry("cort (Latent): a folder of raw texts, and its tagged output beside them"),
    "crac-json": FormatEntry("the LLM track of the CRAC shared tasks: a list of JSON documents"),
    "crac-text": FormatEntry(
        "the LLM track of the CRAC shared tasks: tagged text, one text a line"
    ),
    "e2e": FormatEntry("kentonl/e2e-coref: JSON lines of words"),
    "fastcoref": FormatEntry(
        "fastcoref (LingMess, FCoref): JSON lines of raw text, answers in characters"
    ),
    "spanbert": FormatEntry(
        "mandarjoshi90/coref (SpanBERT, BERT-coref): JSON lines of word pieces",
        (VOCABULARY, SEGMENT_LENGTH),
    ),
    "winopron-tsv": FormatEntry(
        "WinoPron's scripts: a table of sentences, and the answers of a system", clusters=False
    ),
}
"""The formats; the module of `formats` is called the same, with underscores."""


class Format(Protocol):
    """A module that writes and reads one format."""

    def write(self, texts: "Iterable[ExportedText]", out: Path, /, **options: Any) -> None:
        """Write texts for the other system, with the clusters that they come with, if any."""
        ...

    def read(self, file: Path, /) -> "Iterator[PredictedDocument]":
        """Yield what the other system has answered; `InputError` where it is not in the format."""
        ...


def exchange_format(name: str) -> Format:
    """Return the module of a format; `InputError` for a name that is none, or a missing package."""
    if name not in FORMATS:
        raise unknown_name("format", name, FORMATS)
    try:
        module = import_module(f"pronominal.eval.exchange.formats.{name.replace('-', '_')}")
    except ModuleNotFoundError as error:
        raise InputError(
            f"{name} needs the package {error.name}", cure='pip install "pronominal[c2f]"'
        ) from error
    return cast(Format, module)
