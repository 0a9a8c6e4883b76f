"""What a user says of the data of a training; light enough for a command's help."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pronominal.settings import required, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRequest:
    """The data of a training: KnowRef, GAP, one file of own rows, and any number of documents.

    KnowRef and GAP bring rows to stop by and to test on; a user's own rows and documents are
    stopped by others of their kind, or by a share of themselves.

    Attributes:
        usual_validation_share: the share that is held out where none is given.
    """

    usual_validation_share: ClassVar[float] = 0.1

    data: list[str] = required(
        "knowref, gap, or a JSONL or Parquet file of your own rows; conll:PATH, corefud:PATH, "
        "jsonlines:PATH, caw:PATH or fastcoref:PATH for documents with gold clusters. Several are "
        "one shuffled set."
    )
    dataset: str | None = setting(None, "Folder of the built knowref or gap.")
    sources: Path | None = setting(None, "Folder of upstream's files of knowref or gap.")
    validation: list[str] | None = setting(
        None, "Own rows or documents, as KIND:PATH, to stop by; a share of --data without them."
    )
    validation_share: float | None = setting(
        None, "Share of your own data held out.", least=0.0, most=0.9
    )
    test: Path | None = setting(None, "Own rows to test on.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillationRequest:
    """The teacher and the texts of a distillation.

    Attributes:
        usual_validation_share: the share that is held out where none is given.
    """

    usual_validation_share: ClassVar[float] = DataRequest.usual_validation_share

    teacher: str = required("The system to learn from: NAME, NAME=CHECKPOINT or MODULE:ATTRIBUTE.")
    text: list[Path] = required(
        "File or folder of text that nobody has to annotate, given once each: a document a line, "
        "JSONL, MediaWiki or OPUS XML, SRT; packed or not."
    )
    field: str = setting("text", "Field of JSONL objects with the text.")
    validation_share: float | None = setting(
        None, "Share of the texts held out, to stop by agreement with the teacher.", least=0.0
    )
