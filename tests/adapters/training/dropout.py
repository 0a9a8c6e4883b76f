"""Checkpoints of trainings that draw nothing."""

import re
from pathlib import Path


def remove_dropout(checkpoint: Path) -> None:
    """Set every dropout of a checkpoint to 0, the encoder's included."""
    for file in checkpoint.rglob("*config.json"):
        content = file.read_text(encoding="utf-8")
        without = re.sub(r'(dropout\w*":) [0-9.]+', r"\1 0.0", content)
        file.write_text(without, encoding="utf-8")
