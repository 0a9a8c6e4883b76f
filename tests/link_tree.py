"""Lays out ``.links/pronominal`` so that tools which run no import hooks see the package.

Setuptools maps our folders to package names inside an import hook; type checkers and the import
linter follow files only. Run ``python tests/link_tree.py [FOLDER]`` before mypy and lint-imports.
"""

import configparser
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(tree: Path = ROOT / ".links") -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    lines = config["options"]["package_dir"].split()
    folders = dict(zip(lines[::3], lines[2::3], strict=True))
    package = tree / "pronominal"
    shutil.rmtree(tree, ignore_errors=True)
    package.mkdir(parents=True)
    for file in (ROOT / folders.pop("pronominal")).glob("*.*"):
        (package / file.name).symlink_to(file)
    for name, folder in folders.items():
        (package / name.removeprefix("pronominal.")).symlink_to(ROOT / folder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
