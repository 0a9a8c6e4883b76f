"""What conversion and training write into the folder of a checkpoint."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor


def write_json(file: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object that people can read."""
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_tensors(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors of any device as safetensors, readable for whom the other files are."""
    save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, file)
    file.chmod(0o644)
