"""Dataset cards: the hand-written page in ``cards/`` and what was built, as one README.md."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
import yaml

from pronominal.atomic import no_room_named
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import BuiltSplit, DatasetScript, built_name
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.tables.columns import card_features


def write_card(
    script: DatasetScript,
    built: Sequence[BuiltSplit],
    sources: Sources,
    options: BuildOptions,
    path: Path,
) -> None:
    """Fill the dataset's page with what was built, and put the YAML header before it.

    The header holds the page's own fields, then ``configs`` and ``dataset_info``, from which
    `datasets` takes files, features and the row counts that it verifies.
    """
    notes = [option.note(options[option]) for option in script.OPTIONS]
    name = built_name(script, options)
    title = {"pretty_name": name} if name != script.NAME else {}
    write_page(
        script.NAME,
        title,
        built,
        path,
        unpublishable=[
            f"{split.config}/{split.name}" for split in built if split.name in script.UNPUBLISHABLE
        ],
        notice=_notice(sources.changed),
        splits="\n\n".join((splits_table(built), *filter(None, notes))),
        upstream=script.UPSTREAM,
        options={option.name: options[option] for option in script.OPTIONS},
    )


def write_page(
    page: str,
    fields: Mapping[str, Any],
    built: Sequence[BuiltSplit],
    path: Path,
    *,
    unpublishable: Sequence[str],
    notice: str = "",
    **told: Any,
) -> None:
    """Fill a page of ``cards/`` and write it under a header that `datasets` and the Hub read.

    `fields` of the header replace the page's own or are added to them; `unpublishable` are the
    splits that `publish` refuses, as ``config/split``; the `notice` comes before the page; `told`
    is what the page asks for besides the tables of splits and columns.
    """
    own, body = _page(page)
    header = {**yaml.safe_load(own), **fields, **generated_fields(built)}
    header.pop("benchmark", None)  # which is what eval.yaml says
    if unpublishable:
        header["unpublishable"] = list(unpublishable)
    template = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False
    ).from_string(body)
    text = template.render(
        {"splits": splits_table(built), "columns": columns_table(built), **told},
        version=version("pronominal"),
        canary=header["canary"],
        unpublishable=unpublishable,
    )
    front = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)
    with no_room_named(path):
        path.write_text(f"---\n{front}---\n{notice}{text}", encoding="utf-8", newline="\n")


def _notice(changed: Sequence[str]) -> str:
    """Return what stands before everything else where files are not the pinned ones."""
    if not changed:
        return ""
    return (
        f"> **Not the pinned upstream version:** {', '.join(changed)}.\n"
        "> Built with `--allow-changed`: counts, rows and errata in the text are those of the\n"
        "> pinned files; what this folder holds is in the table of splits.\n\n"
    )


def card_header(name: str) -> dict[str, Any]:
    """Return the hand-written fields of a card's YAML header; ``canary`` is the dataset's GUID."""
    header: dict[str, Any] = yaml.safe_load(_page(name)[0])
    return header


def citation_year(name: str) -> int | None:
    """Return the year that a card's citation gives for the data; None where it gives none."""
    cited = re.search(r"^## Cite\n.*?^\s*year\s*=\s*[\"{](\d{4})", _page(name)[1], re.M | re.S)
    return None if cited is None else int(cited[1])


def _page(name: str) -> tuple[str, str]:
    page = files("pronominal.cards").joinpath(f"{name}.md").read_text(encoding="utf-8")
    _, header, body = page.split("---\n", maxsplit=2)
    return header, body


def generated_fields(built: Sequence[BuiltSplit]) -> dict[str, Any]:
    """Return the fields of a card's header that follow from what was built."""
    configs, infos = [], []
    for name, group in groupby(built, key=lambda split: split.config):
        splits = list(group)
        files_of = [{"split": split.name, "path": split.path.as_posix()} for split in splits]
        configs.append({"config_name": name, "data_files": files_of})
        infos.append(_dataset_info(name, splits))
    configs[0]["default"] = True
    sizes = [_size_category(sum(split.rows for split in built))]
    return {"size_categories": sizes, "configs": configs, "dataset_info": infos}


def _size_category(rows: int) -> str:
    """Return the Hub's name for a number of rows."""
    borders = (0, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
    names = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
    return names[bisect_right(borders, rows) - 1]


def _dataset_info(config: str, splits: Sequence[BuiltSplit]) -> dict[str, Any]:
    return {
        "config_name": config,
        "features": card_features(splits[0].columns),
        "splits": [
            {"name": split.name, "num_bytes": split.num_bytes, "num_examples": split.rows}
            for split in splits
        ],
        "download_size": sum(split.file_bytes for split in splits),
        "dataset_size": sum(split.num_bytes for split in splits),
    }


def splits_table(built: Sequence[BuiltSplit]) -> str:
    """Return the Markdown table of splits, their rows and digests."""
    lines = ["| config | split | rows | content digest |", "|---|---|---|---|"]
    lines += [f"| {s.config} | {s.name} | {s.rows:,} | `{s.digest}` |" for s in built]
    return "\n".join(lines)


def columns_table(built: Sequence[BuiltSplit]) -> str:
    """Return the Markdown table of columns, their types and meanings."""
    lines = ["| column | type | meaning |", "|---|---|---|"]
    columns = {column.name: column for split in built for column in split.columns}
    for column in columns.values():
        kind = f"class label: {', '.join(column.labels)}" if column.labels else str(column.type)
        lines.append(f"| `{column.name}` | {kind} | {column.meaning} |")
    return "\n".join(lines)
