"""Files of other coreference systems: our texts in the form that they read, their answers back."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from pronominal.errors import InputError, unknown_name

if TYPE_CHECKING:
    from pronominal.eval.exchange.documents import ExportedText, PredictedDocument

FORMATS: dict[str, str] = {
    "allennlp": "AllenNLP's coreference predictor: JSON lines, answers in words",
    "brat": "brat standoff: a folder with a .txt and an .ann for each text",
    "caw": "CAW-coref and WL-coref: JSON lines of words",
    "conll2012": "the CoNLL-2012 shared task: columns, coreference in the last one",
    "coref-hoi": "lxucs/coref-hoi: JSON lines of word pieces",
    "corefud": "CorefUD 1.x: CoNLL-U with Entity in MISC",
    "cort": "cort (Latent): a folder of raw texts, and its tagged output beside them",
    "e2e": "kentonl/e2e-coref: JSON lines of words",
    "fastcoref": "fastcoref (LingMess, FCoref): JSON lines of raw text, answers in characters",
    "spanbert": "mandarjoshi90/coref (SpanBERT, BERT-coref): JSON lines of word pieces",
    "winopron-tsv": "WinoPron's scripts: a table of sentences, and the answers of a system",
}
"""Format -> whose it is; the module of `formats` is called the same, with underscores."""


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
