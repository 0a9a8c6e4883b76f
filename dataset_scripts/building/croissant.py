"""``croissant.json``: a built folder in Croissant 1.1 with the RAI vocabulary, without its rows.

Everything in it is what the card and SHA256 sums say already. Paths are relative, so that whoever
has the folder, from wherever, can load it: ``mlcroissant.Dataset("croissant.json")``.
See https://docs.mlcommons.org/croissant (core 1.1, RAI 1.0).
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from pronominal.checksums import file_sha256
from pronominal.dataset_scripts.building.script import NAMESPACE
from pronominal.errors import InputError

CROISSANT = "croissant.json"
CARD = "README.md"

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of the specification, with the prefixes of RAI and PROV."""

LICENCES = {
    "agpl-3.0": "https://spdx.org/licenses/AGPL-3.0-only.html",
    "apache-2.0": "https://spdx.org/licenses/Apache-2.0.html",
    "cc-by-sa-3.0": "https://spdx.org/licenses/CC-BY-SA-3.0.html",
    "mit": "https://spdx.org/licenses/MIT.html",
}
"""The Hub's name of a licence -> its page; other names stand as they are."""

SECTIONS = {
    "rai:dataLimitations": "Known limits",
    "rai:dataBiases": "Biases",
    "rai:personalSensitiveInformation": "Personal information",
    "rai:dataSocialImpact": "Social impact",
}
"""Property -> the section of the card that says it."""

UPSTREAM = re.compile(r"\]\((https://github\.com/[\w.-]+/[\w.-]+)\) at commit")
BIBTEX = re.compile(r"^```bibtex\n(.*?)^```$", re.M | re.S)
ABOUT = re.compile(r"^# [^\n]+\n\n(.*?)(?=^## |\Z)", re.M | re.S)
SECTION = re.compile(r"^## ([^\n]+)\n\n(.*?)(?=^## |\Z)", re.M | re.S)


def write_croissant(dataset: str, folder: Path) -> None:
    """Describe a folder whose card and tables are written."""
    text = json.dumps(croissant(dataset, folder), indent=1, ensure_ascii=False)
    (folder / CROISSANT).write_text(f"{text}\n", encoding="utf-8", newline="\n")


def croissant(dataset: str, folder: Path) -> dict[str, Any]:
    """Return the description of a dataset's folder, from its card and the bytes of its tables.

    Raises:
        InputError: the card is not one that `build` writes.
    """
    try:
        _, front, body = (folder / CARD).read_text(encoding="utf-8").split("---\n", maxsplit=2)
        header = yaml.safe_load(front)
        return {**_core(dataset, header, body), **_files(folder, header), **_rai(header, body)}
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError) as error:
        cause = "the card is not as 'pronominal build' writes it"
        cure = "build the dataset again"
        raise InputError(cause, cure=cure, file=folder / CARD) from error


def _core(dataset: str, header: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Say what the dataset is, whose, and under which terms."""
    about = "".join(ABOUT.findall(body)[:1])
    citation = BIBTEX.search(body)
    year = citation and re.search(r'year = "(\d{4})"', citation[1])
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": str(header.get("pretty_name", dataset)),
        "description": _plain(about),
        "license": LICENCES.get(header.get("license", ""), header.get("license", "unknown")),
        "url": f"https://huggingface.co/datasets/{NAMESPACE}/{dataset}",
        "creator": {"@type": "sc:Organization", "name": NAMESPACE},
        **({"version": str(header["version"])} if "version" in header else {}),
        **({"datePublished": year[1]} if year else {}),
        **({"citeAs": citation[1].strip()} if citation else {}),
        **({"usageInfo": _terms(header)} if _terms(header) else {}),
        **({"inLanguage": header["language"]} if "language" in header else {}),
    }


def _files(folder: Path, header: Mapping[str, Any]) -> dict[str, Any]:
    """List the tables, and the columns of each split."""
    features = {info["config_name"]: info["features"] for info in header["dataset_info"]}
    tables = [
        (config["config_name"], file)
        for config in header["configs"]
        for file in config["data_files"]
    ]
    objects, records = [], []
    for config, file in tables:
        name = f"{config}/{file['split']}"
        objects.append(
            {
                "@type": "cr:FileObject",
                "@id": file["path"],
                "name": file["path"],
                "contentUrl": file["path"],
                "encodingFormat": "application/x-parquet",
                "sha256": file_sha256(folder / file["path"]),
            }
        )
        fields = [_field(name, file["path"], feature) for feature in features[config]]
        records.append({"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields})
    return {"distribution": objects, "recordSet": records}


def _field(parent: str, file: str, feature: Mapping[str, Any], inside: str = "") -> dict[str, Any]:
    """Return one column, or with `inside` one field of the structs in that column."""
    name = feature["name"]
    made = {"@type": "cr:Field", "@id": f"{parent}/{name}", "name": name}
    nested = feature.get("struct") or feature.get("list")
    if isinstance(nested, list):
        below = [_field(f"{parent}/{name}", file, one, name) for one in nested]
        repeated = {"repeated": True} if "list" in feature else {}
        return {**made, **repeated, "subField": below}
    source = {"fileObject": {"@id": file}, "extract": {"column": inside or name}}
    if inside:
        source["transform"] = {"jsonPath": name}
    repeated = {"repeated": True} if nested else {}
    return {
        **made,
        **repeated,
        "dataType": _data_type(nested or feature["dtype"]),
        "source": source,
    }


def _data_type(kind: object) -> str:
    if isinstance(kind, dict) or "int" in str(kind):  # a class label is a number
        return "sc:Integer"
    return "sc:Float" if "float" in str(kind) else "sc:Text"


def _rai(header: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Say what the card says about responsible use, and where the rows come from."""
    sections = {title: _plain(text) for title, text in SECTION.findall(body)}
    told = {key: sections[title] for key, title in SECTIONS.items() if title in sections}
    upstream = [{"@id": url} for url in dict.fromkeys(UPSTREAM.findall(body))]
    return {
        **told,
        **({"rai:dataUseCases": _terms(header)} if _terms(header) else {}),
        "rai:hasSyntheticData": False,
        **({"prov:wasDerivedFrom": upstream} if upstream else {}),
        "prov:wasGeneratedBy": [
            {
                "@type": "prov:Activity",
                "prov:label": "assembly",
                "sc:description": "A program put upstream's sentences and templates into tables "
                "and counted offsets; no text was generated by a model.",
            }
        ],
    }


def _terms(header: Mapping[str, Any]) -> str:
    """Return what whoever asks for the rows agrees to."""
    return _plain(header.get("extra_gated_prompt", ""))


def _plain(markdown: str) -> str:
    """Return paragraphs as one line."""
    return " ".join(chain.from_iterable(line.split() for line in _prose(markdown)))


def _prose(markdown: str) -> Iterator[str]:
    """Yield the lines that are prose: no tables, no quoted notices."""
    for line in markdown.splitlines():
        if not line.startswith(("|", ">")):
            yield line
