"""Where a dataset's files are: in a folder, or in a repository on the Hub."""

import shlex
from contextlib import suppress
from glob import escape
from pathlib import Path

import yaml

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.reading.hub_client import hub_client, hub_errors
from pronominal.dataset_scripts.tables.checksums import SUMS, mismatched, read_checksums
from pronominal.dataset_scripts.tables.parquet_files import dataset_of, open_parquet
from pronominal.errors import InputError
from pronominal.names import closest, is_hub_id, nearest_name


class MissingSplitError(InputError):
    """A built dataset has no such config or split."""


def open_dataset(where: str | Path) -> Path:
    """Return the folder of a dataset; a Hub id is fetched with `huggingface_hub` first.

    Raises:
        InputError: there is no such folder, the Hub does not give it (why, and what to do), or
            what it gave is not what its checksums say.
    """
    folder = Path(where)
    if folder.is_dir():
        return folder
    if folder.is_file():
        raise InputError("this is a file", cure=f"type {_options_of(folder)}", file=where)
    repo = str(where)
    require_dataset_id(repo)
    snapshot = _fetch(repo)
    _refuse_damaged(snapshot, repo)
    return snapshot


def require_dataset_id(where: str) -> None:
    """Raise `InputError` unless what is no folder can be an id of the Hub."""
    # a path below a folder that is there was meant as a path
    if not is_hub_id(where) or Path(where).parent.is_dir():
        near = _folder_beside(Path(where))
        meant = "" if near is None else f"did you mean {near}? Or "
        cure = f"{meant}build it with '{_build_command(Path(where))}'"
        raise InputError("there is no such folder", cure=cure, file=where)


def _build_command(place: Path) -> str:
    """Return what makes a dataset's folder, where its name is that of a dataset."""
    if place.name not in DATASETS:
        return "pronominal build"
    return shlex.join(["pronominal", "build", place.name, "-o", str(place.parent)])


def _folder_beside(place: Path) -> Path | None:
    """Return the dataset of that name one folder below, as in ``out``; else the nearest name."""
    with suppress(OSError, ValueError):
        for sums in sorted(place.parent.glob(f"*/{escape(place.name)}/{SUMS}")):
            return sums.parent
        beside = {folder.name for folder in place.parent.iterdir() if folder.is_dir()}
        if name := closest(place.name, beside):
            return place.with_name(name)
    return None


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
    """Compare what was fetched with its checksums: the client looks at sizes only.

    Tables of the user's own, which do not say that they are of a dataset of ours, need none.
    """
    if not (snapshot / SUMS).exists():
        files = [*snapshot.glob("*/*.parquet")]
        if files and not any(dataset_of(open_parquet(file).schema_arrow, file) for file in files):
            return
        cause = f"it has no {SUMS}: pronominal did not publish it, or the cache holds a part of it"
        cure = f"fetch it once with 'hf download {repo} --repo-type dataset'"
        raise InputError(cause, cure=cure, file=repo)
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


def split_files(where: str | Path, config: str | None, split: str) -> tuple[str, list[Path]]:
    """Return the config, the default one for None, and the files of a split, in order.

    Args and errors are those of `pronominal.dataset_scripts.reading.loading.load_split`.
    """
    folder = open_dataset(where)
    configs = {path.parent.name for path in folder.glob("*/*.parquet")}
    if not configs:
        cause, cure = _no_dataset(folder)
        raise MissingSplitError(cause, cure=cure, file=where)
    config = config or (_default_config(folder) if len(configs) != 1 else min(configs))
    if config not in configs:
        cure = nearest_name(config, configs)
        raise MissingSplitError(f"there is no config '{config}'", cure=cure, file=where)
    there = sorted((folder / config).glob("*.parquet"))
    files = [path for path in there if path.stem == split or path.stem.startswith(f"{split}-")]
    if not files:
        names = {path.stem for path in there}
        cause = f"there is no split '{split}'"
        raise MissingSplitError(cause, cure=nearest_name(split, names), file=folder / config)
    return config, files


def _no_dataset(folder: Path) -> tuple[str, str]:
    """Return what is wrong with a folder without a config's tables, and what was meant."""
    if any(folder.glob("*.parquet")):
        return "this is the folder of a config", f"type {_options_of(folder)}"
    below = sorted({path.parents[1] for path in folder.glob("*/*/*.parquet")})
    meant = [f"{place}" for place in below if (place / SUMS).exists()]
    cure = f"type -d {' or -d '.join(meant)}" if meant else "build one with 'pronominal build'"
    return "there is no dataset in this folder", cure


def _options_of(place: Path) -> str:
    """Return the options that name a config's folder, or a table in it."""
    folder, split = (place, "") if place.is_dir() else (place.parent, f" --split {place.stem}")
    folder = folder.resolve() if len(folder.parts) < 2 else folder
    return f"-d {folder.parent} -c {folder.name}{split}"


def _default_config(folder: Path) -> str:
    with suppress(OSError, ValueError, LookupError, yaml.YAMLError):
        text = (folder / "README.md").read_text(encoding="utf-8").split("---\n")[1]
        header = yaml.safe_load(text)
        configs = header.get("configs") if isinstance(header, dict) else None
        for config in configs if isinstance(configs, list) else ():
            if isinstance(config, dict) and config.get("default"):
                return str(config["config_name"])
    raise InputError("its card names no default config", cure="name one", file=folder)
