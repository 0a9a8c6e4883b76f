"""Every dataset as a `datasets` builder, for those who want ``download_and_prepare()``.

The folders of `pronominal build` need no code of ours to be loaded; a builder makes the same rows
from the upstream files in the cache of `datasets`, or as Parquet in its layout.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pronominal.dataset_scripts.building.card import card_header
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import SplitRows, dataset_script
from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.tables.columns import CANARY, Columns, arrow_schema
from pronominal.errors import InputError, unknown_name

if TYPE_CHECKING:
    from datasets import ArrowBasedBuilder


@dataclass
class ReadOnce(Sources):
    """Sources that keep what they have read.

    One download then serves every split, and the cache of `datasets` is found again only for the
    same upstream bytes.

    Attributes:
        contents: what was read so far, by ``folder/name`` or path.
    """

    contents: dict[str, bytes] = field(default_factory=dict)

    def read(self, upstream: Upstream, name: str) -> bytes:
        """Return a file's bytes, from memory after the first time."""
        key = f"{upstream.folder}/{name}"
        if key not in self.contents:
            self.contents[key] = super().read(upstream, name)
        return self.contents[key]

    def read_own(self, path: Path) -> bytes:
        """Return the bytes of a file that is not upstream's, from memory after the first time."""
        if str(path) not in self.contents:
            self.contents[str(path)] = super().read_own(path)
        return self.contents[str(path)]


@dataclass(frozen=True)
class BuilderTables:
    """The tables of a builder.

    Attributes:
        dataset: name of the dataset.
        sources: its upstream files.
        options: what the user asks for.
        columns: (config, split) -> columns, for everything that the script yields.
    """

    dataset: str
    sources: ReadOnce
    options: BuildOptions
    columns: dict[tuple[str, str], Columns]

    @classmethod
    def read(cls, dataset: str, sources: ReadOnce, options: BuildOptions) -> "BuilderTables":
        """Read the upstream files; `InputError` as `pronominal build` would raise it."""
        splits = dataset_script(dataset).splits(sources, options)
        return cls(dataset, sources, options, {(s.config, s.name): s.columns for s in splits})

    @property
    def configs(self) -> list[str]:
        """Names of the configs, the default one first."""
        return list(dict.fromkeys(config for config, _ in self.columns))

    def split(self, config: str, name: str) -> SplitRows:
        """Return one split with its tables not yet consumed."""
        splits = dataset_script(self.dataset).splits(self.sources, self.options)
        return next(split for split in splits if (split.config, split.name) == (config, name))

    def hexdigest(self) -> str:
        """Return a digest of everything that the rows depend on."""
        files = [
            (name, hashlib.sha256(content).hexdigest())
            for name, content in sorted(self.sources.contents.items())
        ]
        facts = (version("pronominal"), self.options, files)
        return hashlib.sha256(repr(facts).encode()).hexdigest()


def builder(
    name: str,
    config: str | None = None,
    *,
    sources: str | Path | None = None,
    allow_changed: bool = False,
    cache_dir: str | Path | None = None,
    **options: Any,
) -> "ArrowBasedBuilder":
    """Return the builder of one config of a dataset.

    Its ``download_and_prepare()``, ``as_dataset()`` and ``as_streaming_dataset()`` are those of
    `datasets`; the class labels and all other features are those of the published folder.

    Args:
        name: the dataset, such as ``"winopron"``.
        config: its config; the first one when None.
        sources: folder with the upstream files; None downloads them.
        allow_changed: whether upstream files that are not the pinned ones may be used.
        cache_dir: where `datasets` writes; None for its own cache.
        options: as `pronominal.build` takes them.

    Raises:
        InputError: `datasets` is not installed, the dataset or config does not exist, or an
            upstream file is missing or wrong.
    """
    _require_datasets()
    read_once = ReadOnce(None if sources is None else Path(sources), allow_changed)
    asked = BuildOptions.read(name, dataset_script(name).OPTIONS, options)
    tables = BuilderTables.read(name, read_once, asked)
    if config is not None and config not in tables.configs:
        raise unknown_name("config", config, tables.configs)
    return builder_class(tables)(
        config_name=config,
        dataset_name=name,
        hash=tables.hexdigest(),
        cache_dir=None if cache_dir is None else str(cache_dir),
    )


def builder_class(tables: BuilderTables) -> type["ArrowBasedBuilder"]:
    """Return the builder class whose configs are those of the tables."""
    import datasets

    canary = str(card_header(tables.dataset)["canary"])

    class ScriptBuilder(datasets.ArrowBasedBuilder):  # type: ignore[misc]
        """The tables of a dataset script."""

        BUILDER_CONFIGS = [datasets.BuilderConfig(config) for config in tables.configs]  # noqa: RUF012
        DEFAULT_CONFIG_NAME = tables.configs[0]

        def _info(self) -> datasets.DatasetInfo:
            columns = next(c for (name, _), c in tables.columns.items() if name == self.config.name)
            schema = arrow_schema((*columns, CANARY), {})
            return datasets.DatasetInfo(features=datasets.Features.from_arrow_schema(schema))

        def _split_generators(self, _: Any) -> list[datasets.SplitGenerator]:
            return [
                datasets.SplitGenerator(name=split, gen_kwargs={"split": split})
                for config, split in tables.columns
                if config == self.config.name
            ]

        def _generate_tables(self, split: str) -> Iterator[tuple[tuple[int, int], pa.Table]]:
            for number, table in enumerate(tables.split(self.config.name, split).tables):
                marks = pa.repeat(canary, table.num_rows)
                yield (0, number), table.append_column(CANARY.name, marks)

        def __reduce__(self) -> tuple[Any, ...]:
            # a local class has no name to be pickled by; workers of a data loader make it again
            return _restored, (tables, self.__getstate__())

    return ScriptBuilder


def _restored(tables: BuilderTables, state: dict[str, Any]) -> "ArrowBasedBuilder":
    restored: ArrowBasedBuilder = object.__new__(builder_class(tables))
    restored.__setstate__(state)
    return restored


def _require_datasets() -> None:
    try:
        import datasets  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(
            "a builder needs the package datasets", cure='pip install "pronominal[hub]"'
        ) from error
