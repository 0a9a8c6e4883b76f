"""What a user says of the data of a training; light enough for a command's help."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from pronominal.settings import Help


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRequest:
    """The data of a training: one set of rows at most, and any number of documents.

    KnowRef and GAP bring rows to stop by and to test on; a user's own rows and documents are
    stopped by others of their kind, or by a share of themselves.

    Attributes:
        usual_validation_share: the share that is held out where none is given.
    """

    usual_validation_share: ClassVar[float] = 0.1

    data: Annotated[
        list[str],
        Help(
            "knowref, gap, or a JSONL or Parquet file of your own rows; conll:PATH or "
            "jsonlines:PATH for documents with gold clusters. Several are one shuffled set."
        ),
    ]
    dataset: Annotated[str | None, Help("Folder of the built knowref or gap.")] = None
    sources: Annotated[Path | None, Help("Folder of upstream's files of knowref or gap.")] = None
    validation: Annotated[
        list[str],
        Help("Own rows, conll:PATH or jsonlines:PATH to stop by; a share of --data without them."),
    ] = field(default_factory=list)
    validation_share: Annotated[
        float | None, Help("Share of your own data held out.", least=0.0, most=0.9)
    ] = None
    test: Annotated[Path | None, Help("Own rows to test on.")] = None
