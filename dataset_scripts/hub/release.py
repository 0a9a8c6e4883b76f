"""What may go to the Hub: a built folder that is whole, described by its card, and ours to give."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from pronominal.checksums import file_sha256
from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.benchmark import EVAL_YAML
from pronominal.dataset_scripts.building.croissant import CROISSANT
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.tables.checksums import SUMS, mismatched, read_checksums
from pronominal.dataset_scripts.tables.columns import CANARY, Column, card_features
from pronominal.dataset_scripts.tables.parquet_files import facts_of
from pronominal.errors import InputError
from pronominal.json_files import read_object

CARD = "README.md"
VERSION = re.compile(r"\d+\.\d+\.\d+")

TERMS = ("extra_gated_heading", "extra_gated_prompt", "extra_gated_fields")
"""Fields of a card's header that visitors of a gated dataset are shown."""

REBUILD = "build the dataset again"


@dataclass(frozen=True, slots=True)
class Release:
    """A version of a dataset that may go to the Hub.

    Attributes:
        folder: where it is.
        name: the dataset's name.
        version: such as ``"1.0.0"``; the tag that it gets.
        canary: the GUID of the dataset, by which its repository is known again.
        digests: for every file, by path: its SHA-256 and its git blob id, in this order. The Hub
            names large files by the one and small files by the other.
    """

    folder: Path
    name: str
    version: str
    canary: str
    digests: Mapping[str, tuple[str, str]]

    @property
    def data(self) -> list[str]:
        """Paths of the files that hold rows."""
        return [path for path in self.digests if path.endswith(".parquet")]


def read_release(folder: Path, version: str | None = None) -> Release:
    """Check a built folder and return it as a release.

    It is refused unless it holds the files of its SHA256SUMS and nothing else, its card and its
    other metadata describe exactly its tables (files, features, rows), the card has the terms of
    access and the canary, every file and row has the canary, and no file belongs to a split that
    the card or the dataset's script calls unpublishable.

    Args:
        folder: a folder that ``pronominal build`` made.
        version: for a card without one.

    Raises:
        InputError: naming the file at fault.
    """
    _refuse_hydrated(folder)
    sums = _whole(folder)
    header = _header(folder)
    _refuse_unpublishable(folder, header, sums)
    canary = _terms(folder, header)
    splits = dict(_declared(folder, header))
    tables = sums.keys() - {CARD, EVAL_YAML, CROISSANT}
    for path in sorted(tables ^ splits.keys()):
        cause = "the card does not list it" if path in tables else "the card lists it, it is absent"
        raise InputError(cause, cure=REBUILD, file=folder / path)
    names = {_check_table(folder, path, split, canary) for path, split in splits.items()}
    if len(names) != 1:
        raise InputError("its files are of several datasets", cure=REBUILD, file=folder)
    _check_eval_yaml(folder, splits)
    _check_croissant(folder, {path: sums[path] for path in splits})
    digests = {path: _digests(folder / path) for path in sorted({*sums, SUMS})}
    return Release(folder, names.pop(), _version(folder, header, version), canary, digests)


def _refuse_hydrated(folder: Path) -> None:
    for path in (folder, *folder.rglob("hydrated")):
        if path.name == "hydrated":
            cause = "what 'pronominal hydrate' made must not leave this machine"
            raise InputError(cause, cure="publish a folder built without it", file=path)


def _whole(folder: Path) -> dict[str, str]:
    sums = read_checksums(folder)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for path in sorted(there - {SUMS} - sums.keys()):
        raise InputError(f"{SUMS} does not list it", cure="remove it", file=folder / path)
    for path in mismatched(folder, sums, sorted(sums)):
        raise InputError(f"it is not the file of {SUMS}", cure=REBUILD, file=folder / path)
    return sums


def _header(folder: Path) -> dict[str, Any]:
    try:
        header = yaml.safe_load((folder / CARD).read_text(encoding="utf-8").split("---\n")[1])
    except (OSError, ValueError, IndexError, yaml.YAMLError) as error:
        raise InputError("the card has no header", cure=REBUILD, file=folder / CARD) from error
    if not isinstance(header, dict):
        raise InputError("the card's header is no mapping", cure=REBUILD, file=folder / CARD)
    return header


def _refuse_unpublishable(folder: Path, header: Mapping[str, Any], sums: Mapping[str, str]) -> None:
    """Refuse the splits that the card keeps back, as ``CONFIG/SPLIT``."""
    splits = header.get("unpublishable") or []
    if not isinstance(splits, list):
        raise InputError("'unpublishable' is no list", cure=REBUILD, file=folder / CARD)
    held = sorted({f"{split}.parquet" for split in splits} & sums.keys())
    if held:
        raise _kept_back(folder, held)


def _kept_back(folder: Path, held: Sequence[str]) -> InputError:
    cause = f"the text of {', '.join(held)} must not leave this machine"
    cure = "publish one that was built without this text, or constructed with its --licence"
    return InputError(cause, cure=cure, file=folder)


def _terms(folder: Path, header: Mapping[str, Any]) -> str:
    """Return the canary of a card that says everything which a gated dataset's card must."""
    missing = [key for key in (*TERMS, "canary", "license") if not header.get(key)]
    if header.get("viewer") is not False:
        missing.append("viewer: false")
    if missing:
        cure = f"add it to the header of the page in cards/ and {REBUILD}"
        raise InputError(f"the card lacks {', '.join(missing)}", cure=cure, file=folder / CARD)
    return str(header["canary"])


def _version(folder: Path, header: Mapping[str, Any], asked: str | None) -> str:
    version = str(header.get("version") or asked or "")
    if not VERSION.fullmatch(version):
        cause = f"the card's version is '{version}'" if version else "the card has no version"
        cure = "write 'version: 1.0.0' into the header of the page in cards/, or add --version"
        raise InputError(cause, cure=cure, file=folder / CARD)
    if asked not in (None, version):
        cause = f"the card's version is {version}, not {asked}"
        cure = f"raise it in the header of the page in cards/ and {REBUILD}"
        raise InputError(cause, cure=cure, file=folder / CARD)
    return version


def _declared(folder: Path, header: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (path, what the card says of it: config, split, features, rows)."""
    try:
        infos = {info["config_name"]: info for info in header["dataset_info"]}
        for config in header["configs"]:
            info = infos[config["config_name"]]
            rows = {split["name"]: split["num_examples"] for split in info["splits"]}
            for file in config["data_files"]:
                declared = {
                    "config": config["config_name"],
                    "split": file["split"],
                    "features": info["features"],
                    "rows": rows[file["split"]],
                }
                yield file["path"], declared
    except (KeyError, TypeError) as error:
        cause = f"its configs and dataset_info are not those of 'pronominal build' ({error})"
        raise InputError(cause, cure=REBUILD, file=folder / CARD) from error


def _check_eval_yaml(folder: Path, splits: Mapping[str, Mapping[str, Any]]) -> None:
    """Make sure that each task of ``eval.yaml`` asks about a split that the card lists."""
    file = folder / EVAL_YAML
    if not file.exists():
        return
    there = {(told["config"], told["split"]) for told in splits.values()}
    try:
        tasks = yaml.safe_load(file.read_text(encoding="utf-8"))["tasks"]
        asked = {(task["config"], task["split"]) for task in tasks}
    except (ValueError, LookupError, TypeError, RecursionError, yaml.YAMLError) as error:
        raise InputError("it holds no tasks", cure=REBUILD, file=file) from error
    if others := asked - there:
        cause = f"a task asks about {'/'.join(map(str, min(others)))}, which the card does not list"
        raise InputError(cause, cure=REBUILD, file=file)


def _check_croissant(folder: Path, tables: Mapping[str, str]) -> None:
    """Make sure that what ``croissant.json`` describes are these tables, path -> SHA-256."""
    file = folder / CROISSANT
    if not file.exists():
        return
    try:
        files = read_object(file, cure=REBUILD)["distribution"]
        described = {one["contentUrl"]: one["sha256"] for one in files}
    except (LookupError, TypeError) as error:
        raise InputError("it lists no files", cure=REBUILD, file=file) from error
    if described != tables:
        raise InputError("the files in it are not the tables", cure=REBUILD, file=file)


def _check_table(folder: Path, path: str, declared: Mapping[str, Any], canary: str) -> str:
    """Compare a file with what the card says of it; return the name of its dataset."""
    try:
        with pq.ParquetFile(folder / path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
            marks = file.read([CANARY.name])[CANARY.name] if CANARY.name in schema.names else None
    except (pa.ArrowException, OSError) as error:
        raise InputError("the Parquet file is damaged", cure=REBUILD, file=folder / path) from error
    facts = facts_of(schema, folder / path)
    # a card can be edited: the script that made the file has a say of its own
    ours = facts.get("dataset") in DATASETS
    kept_back = dataset_script(facts["dataset"]).UNPUBLISHABLE if ours else ()
    if {facts.get("split"), declared["split"]} & {*kept_back}:
        raise _kept_back(folder, [path])
    found = {
        "config": facts.get("config"),
        "split": facts.get("split"),
        "features": card_features(_columns(schema, folder / path)),
        "rows": rows,
    }
    for key in (key for key in found if found[key] != declared[key]):
        raise InputError(f"its {key} and the card's differ", cure=REBUILD, file=folder / path)
    marked = marks is not None and marks.unique().to_pylist() in ([canary], [])
    if facts.get("canary") != canary or not marked:
        raise InputError("it does not hold the canary", cure=REBUILD, file=folder / path)
    return str(facts.get("dataset"))


def _columns(schema: pa.Schema, file: Path) -> tuple[Column, ...]:
    info = facts_of(schema, file, b"huggingface").get("info")
    described = info.get("features") if isinstance(info, dict) else None
    described = described if isinstance(described, dict) else {}
    return tuple(
        Column(field.name, field.type, "", _labels(described.get(field.name))) for field in schema
    )


def _labels(feature: Any) -> tuple[str, ...] | None:
    names = feature.get("names") if isinstance(feature, dict) else None
    return tuple(names) if isinstance(names, list) else None


def _digests(path: Path) -> tuple[str, str]:
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content)
    return file_sha256(path), blob.hexdigest()
