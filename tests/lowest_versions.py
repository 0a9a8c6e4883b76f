"""Prints the oldest versions that setup.cfg allows, as constraints for pip.

``python tests/lowest_versions.py EXTRA ...`` names those of the core and of the extras; where two
of them state a bound for the same package, the higher one counts. `make lowest` installs them.
"""

import configparser
import re
import sys
from collections.abc import Sequence
from pathlib import Path

SETUP = Path(__file__).resolve().parent.parent / "setup.cfg"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?(?:>=(?P<lowest>[\d.]+))?")


def lowest_versions(setup: Path, extras: Sequence[str]) -> dict[str, str]:
    """Return package -> the lowest version that the core and the extras allow together."""
    config = configparser.ConfigParser()
    config.read(setup)
    lines = config["options"]["install_requires"].split("\n")
    for extra in extras:
        lines += config["options.extras_require"][extra].split("\n")
    lowest: dict[str, str] = {}
    for line in filter(None, lines):
        found = REQUIREMENT.fullmatch(line)
        if found is None or found["lowest"] is None:
            raise SystemExit(f"{setup}: '{line}' states no lowest version; write NAME>=VERSION")
        known = lowest.get(found["name"], "0")
        lowest[found["name"]] = max(known, found["lowest"], key=_numbers)
    return lowest


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    for package, version in lowest_versions(SETUP, sys.argv[1:]).items():
        print(f"{package}=={version}")
