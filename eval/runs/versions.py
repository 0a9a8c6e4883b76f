"""The versions of what a run was computed with."""

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    *("accelerate", "fastcoref", "numpy", "pronominal", "pyarrow", "spacy"),
    *("tokenizers", "torch", "transformers"),
)
"""The packages whose versions a run records, where they are installed."""


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages among `PACKAGES`."""
    installed = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed
