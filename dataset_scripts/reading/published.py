"""Built datasets as their users read them: a folder, or a repository on the Hub."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from pronominal.dataset_scripts.reading.hub_client import hub_client, hub_errors
from pronominal.dataset_scripts.tables.checksums import SUMS, mismatched, read_checksums
from pronominal.dataset_scripts.tables.columns import CANARY
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.dataset_scripts.tables.faults import column_faults, refuse_faults, table_faults
from pronominal.errors import InputError, nearest_name
from pronominal.instances import FillingInstance, ResolutionInstance

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")

Instance = ResolutionInstance | FillingInstance


class MissingSplitError(InputError):
    """A built dataset has no such config or split."""


@dataclass(frozen=True, slots=True)
class Split:
    """One split of a built dataset, in memory.

    Attributes:
        dataset: the dataset's name, such as ``"winopron"``.
        config: the config's name.
        name: the split's name.
        table: its rows, without the canary.
        digest: content digest of the rows.
        file: where it was read from.
    """

    dataset: str
    config: str
    name: str
    table: pa.Table
    digest: str
    file: Path

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def stream(self, start: int = 0, stop: int | None = None) -> Iterator[Instance]:
        """Yield the instances from row `start` up to row `stop`."""
        yield from instances_of(self.table.slice(start, None if stop is None else stop - start))

    def instances(self) -> list[ResolutionInstance]:
        """Return the rows as instances, in order; `InputError` for RUFF, without candidates."""
        if "candidates" not in self.table.column_names:
            raise InputError(
                f"{self.dataset} asks for a pronoun, not for its antecedent",
                cure="run a resolution dataset, such as winopron",
                file=self.file,
            )
        return [ResolutionInstance.from_row(row) for row in self.table.to_pylist()]


def instances_of(table: pa.Table) -> Iterator[Instance]:
    """Yield the rows of a published table as instances, a thousand at a time in memory."""
    kind = ResolutionInstance if "candidates" in table.column_names else FillingInstance
    for start in range(0, table.num_rows, 1000):
        for row in table.slice(start, 1000).to_pylist():
            yield kind.from_row(row)


def open_dataset(where: str) -> Path:
    """Return the folder of a dataset; a Hub id is fetched with `huggingface_hub` first.

    Raises:
        InputError: there is no such folder, the Hub does not give it (why, and what to do), or
            what it gave is not what its checksums say.
    """
    folder = Path(where)
    if folder.is_dir():
        return folder
    require_dataset_id(where)
    snapshot = _fetch(where)
    _refuse_damaged(snapshot, where)
    return snapshot


def require_dataset_id(where: str) -> None:
    """Raise `InputError` unless what is no folder can be an id of the Hub."""
    # a path below a folder that is there was meant as a path
    if not HUB_ID.fullmatch(where) or Path(where).parent.is_dir():
        raise InputError(
            "there is no such folder", cure="build it with 'pronominal build'", file=where
        )


def _fetch(repo: str) -> Path:
    client = hub_client()
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    wanted = ["README.md", SUMS, "*/*.parquet"]
    try:
        with hub_errors(repo):
            return Path(client.snapshot_download(repo, repo_type="dataset", allow_patterns=wanted))
    except InputError as error:
        reason = error.__cause__
        if not isinstance(reason, RepositoryNotFoundError) or isinstance(reason, GatedRepoError):
            raise
        # the name may have been meant as that of a folder
        cause = f"there is no such folder, and on the Hub: {error.cause}"
        raise InputError(cause, cure=error.cure, file=repo) from error


def _refuse_damaged(snapshot: Path, repo: str) -> None:
    """Compare what was fetched with its checksums: the client looks at sizes only."""
    if not (snapshot / SUMS).exists():
        raise InputError(
            f"it has no {SUMS}: pronominal did not publish it, or the cache holds a part of it",
            cure=f"fetch it once with 'hf download {repo} --repo-type dataset'",
            file=repo,
        )
    # the cache would link a removed file to the same damaged bytes again
    cure = f"remove {snapshot.parent.parent} and run the same command again"
    try:
        sums = read_checksums(snapshot)
    except InputError as error:
        cause = f"the download is damaged: {error.cause}"
        raise InputError(cause, cure=cure, file=snapshot / SUMS) from error
    tables = [path for path in sums if path.endswith(".parquet")]
    for path in mismatched(snapshot, sums, tables):
        cause = f"the download is damaged: it is not the file of {SUMS}"
        raise InputError(cause, cure=cure, file=snapshot / path)


def read_split(where: str, config: str | None = None, split: str = "test") -> Split:
    """Read one split of a built dataset.

    Args:
        where: the dataset's folder, or its id on the Hub.
        config: the config's name; the one that the card calls default when None.
        split: the split's name.

    Raises:
        InputError: the config or split does not exist, or the file is not one of ours.
    """
    config, files = split_files(where, config, split)
    tables = [_read(file) for file in files]
    dataset = dataset_of(tables[0].schema, files[0])
    table = without_canary(pa.concat_tables(tables))
    refuse_faults(chain(column_faults(table, dataset), table_faults(table)), files[0])
    return Split(dataset, config, split, table, content_digest(table), files[0])


def split_files(where: str, config: str | None, split: str) -> tuple[str, list[Path]]:
    """Return the config, the default one for None, and the files of a split, in order.

    Args and errors are those of `read_split`.
    """
    folder = open_dataset(where)
    config = config or _default_config(folder)
    configs = {path.parent.name for path in folder.glob("*/*.parquet")}
    if config not in configs:
        cure = nearest_name(config, configs) if configs else "build it with 'pronominal build'"
        raise MissingSplitError(f"there is no config '{config}'", cure=cure, file=where)
    there = sorted((folder / config).glob("*.parquet"))
    files = [path for path in there if path.stem == split or path.stem.startswith(f"{split}-")]
    if not files:
        names = {path.stem for path in there}
        raise MissingSplitError(
            f"there is no split '{split}'", cure=nearest_name(split, names), file=folder / config
        )
    return config, files


def dataset_of(schema: pa.Schema, file: Path) -> str:
    """Return the name of the dataset that a file says it holds."""
    facts = json.loads((schema.metadata or {}).get(b"pronominal", b"{}"))
    if "dataset" not in facts:
        raise InputError(
            "the file does not say which dataset it holds",
            cure="build it with 'pronominal build'",
            file=file,
        )
    return str(facts["dataset"])


def without_canary(table: pa.Table) -> pa.Table:
    """Return a table without the column that every published file has besides its own."""
    return table.drop_columns(CANARY.name) if CANARY.name in table.column_names else table


def _default_config(folder: Path) -> str:
    with suppress(OSError, ValueError, LookupError, yaml.YAMLError):
        text = (folder / "README.md").read_text(encoding="utf-8").split("---\n")[1]
        header = yaml.safe_load(text)
        configs = header.get("configs") if isinstance(header, dict) else None
        for config in configs if isinstance(configs, list) else ():
            if isinstance(config, dict) and config.get("default"):
                return str(config["config_name"])
    raise InputError("its card names no default config", cure="add --config NAME", file=folder)


def _read(file: Path) -> pa.Table:
    try:
        return pq.read_table(file)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            "the Parquet file is damaged", cure="build or fetch it again", file=file
        ) from error
