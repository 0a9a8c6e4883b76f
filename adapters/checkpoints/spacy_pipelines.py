"""spaCy pipelines that the user names; nothing is downloaded."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pronominal.adapters.checkpoints.third_party import input_error_on

if TYPE_CHECKING:
    from spacy.language import Language


def open_spacy(
    pipeline: str, otherwise: str, load: Callable[[str], "Language"] | None = None
) -> "Language":
    """Return a spaCy pipeline, given its name or folder.

    `otherwise` is what the user can do without it; `load` replaces `spacy.load`.
    """
    import spacy

    there = Path(pipeline).exists()
    install = "install it" if there else f"python -m spacy download {pipeline}"
    cause, cure = "the spaCy pipeline cannot be loaded", f"{install}, or {otherwise}"
    # spaCy and what it loads fail in many ways
    with input_error_on(Exception, cause=cause, cure=cure, file=pipeline):
        return (load or spacy.load)(pipeline)
