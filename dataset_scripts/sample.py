"""The embedded sample: sentences of our own in WinoPron's form, for the demo and the tests."""

from collections.abc import Iterator
from importlib.resources import files

from pronominal.dataset_scripts import winopron
from pronominal.dataset_scripts.building.options import PRONOUNS, BuildOptions
from pronominal.dataset_scripts.building.script import SplitRows
from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.tables.tab_separated import TableRow, read_table
from pronominal.dataset_scripts.tables.violations import Violation

NAME = "sample"
OPTIONS = (PRONOUNS,)
UPSTREAM: tuple[Upstream, ...] = ()
UNPUBLISHABLE = ()
HYDRATION = None
COLUMNS = winopron.COLUMNS

TEMPLATES = "sample_templates.tsv"


def splits(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield ``double`` and ``single``, in the order of WinoPron."""
    yield from winopron.schema_splits([*map(winopron.parse_schema, _rows())], options)


def violations(sources: Sources) -> Iterator[Violation]:
    """Check the sample exactly as WinoPron is checked."""
    yield from winopron.table_violations(_rows(), templates=144)


def _rows() -> list[TableRow]:
    content = files("pronominal.dataset_scripts").joinpath(TEMPLATES).read_bytes()
    return read_table(content, (*winopron.TABLE, winopron.SINGLE), TEMPLATES)
