"""The shape of the project: what is installed, what may import what, and what stays light."""

import ast
import configparser
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parent.parent
IMPORT_RULES = ROOT / ".importlinter"
FOLDERS = {
    "core": "pronominal",
    "dataset_scripts": "pronominal.dataset_scripts",
    "adapters": "pronominal.adapters",
    "eval": "pronominal.eval",
    "cards": "pronominal.cards",
    "cli": "pronominal.cli",
}


def config() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def modules() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may break."""
    link_tree = [sys.executable, ROOT / "tests" / "link_tree.py", tmp_path / "links"]
    subprocess.run(link_tree, check=True)
    package = tmp_path / "pronominal"
    shutil.copytree(tmp_path / "links" / "pronominal", package)
    return package


def lint_imports(package: Path) -> dict[str, str]:
    """Return what is said of each rule that is broken."""
    result = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--config", IMPORT_RULES],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
    )
    listed, _, told = result.stdout.partition("Broken contracts\n")
    # each rule is underlined
    _, *parts = re.split(r"\n([^\n]+)\n-{2,}\n", told)
    broken = dict(zip(parts[::2], parts[1::2], strict=True))
    assert len(broken) == listed.count(" BROKEN"), result.stdout
    assert bool(broken) == bool(result.returncode), result.stdout
    return broken


BREACHES = (
    ("spans", "cli", "main", "Nothing imports cli but"),
    ("spans", "eval", "evaluation", "Nothing in core looks upward"),
    ("cli.main", "", "Span", "No module of ours uses the lazy names"),
    ("adapters.caw.model", "adapters", "lm", "and no other system"),
    ("dataset_scripts.gap", "dataset_scripts", "ruff", "never another dataset"),
    ("eval.statistics.scores", "eval", "report", "In eval: report > papers >"),
)
"""A module, from where it must not import what, and the rule that says so."""


def test_imports_follow_the_rules(package: Path) -> None:
    assert not lint_imports(package)
    for importer, where, what, _ in BREACHES:
        with (package / f"{importer.replace('.', '/')}.py").open("a") as file:
            place = f"pronominal.{where}".rstrip(".")
            file.write(f"\n\nif TYPE_CHECKING:\n    from {place} import {what}\n")
    broken = lint_imports(package)
    for importer, where, _, rule in BREACHES:
        (told,) = (text for name, text in broken.items() if rule in name)
        assert f"pronominal.{importer} -> pronominal.{where}".rstrip(".") in told, rule


def test_no_circle_runs_through_an_init(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package.parent)
    graph = grimp.build_graph("pronominal", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()


def test_every_folder_is_a_package_in_setup_cfg() -> None:
    mapping = {
        package.strip(): folder.strip()
        for package, _, folder in (
            line.partition("=") for line in config()["options"]["package_dir"].strip().split("\n")
        )
    }
    assert mapping == {package: folder for folder, package in FOLDERS.items()}
    listed = set(config()["options"]["packages"].split())
    on_disk = {
        ".".join((FOLDERS[folder], *init.parent.relative_to(ROOT / folder).parts))
        for folder in FOLDERS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert listed == on_disk
    for path in modules():
        assert (path.parent / "__init__.py").exists(), f"{path.parent} is not a package"


def test_all_is_the_sum_of_the_extras() -> None:
    extras = dict(config()["options.extras_require"])
    everything = extras.pop("all").strip().removeprefix("pronominal[").removesuffix("]")
    assert set(everything.split(",")) == set(extras) - {"docs", "test", "vllm"}


def test_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert all(name.startswith(("pronominal/", "pronominal-")) for name in names)
    for needed in (
        "pronominal/__main__.py",
        "pronominal/py.typed",
        "pronominal/cards/winopron.md",
        "pronominal/dataset_scripts/sample_templates.tsv",
        "pronominal/eval/annotation/antecedent.md",
        "pronominal/eval/report/page.html",
    ):
        assert needed in names


def test_an_sdist_holds_the_documentation_and_the_tests(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", tmp_path, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in (*FOLDERS, "benchmarks", "docs", "tests"):
        there = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        }
        assert there <= names, sorted(there - names)
    for file in ("Makefile", "constraints.txt", "mkdocs.yml", ".importlinter", ".ci/run"):
        assert file in names
    assert not any(name.startswith((".links", ".venv", "build/", "out/")) for name in names)


@pytest.mark.parametrize(
    "statement",
    [
        "import pronominal",
        "import pronominal.adapters, pronominal.eval, pronominal.dataset_scripts",
        "import sys; sys.argv = ['pronominal', '--help']; import runpy\n"
        "try: runpy.run_module('pronominal', run_name='__main__')\n"
        "except SystemExit: pass",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(statement: str) -> None:
    heavy = "{'torch', 'transformers', 'spacy', 'datasets'}"
    check = f"import sys; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{check}"], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip().endswith("[]")


def test_functions_stay_readable() -> None:
    for path in modules():
        assert path.stem not in {"utils", "helpers", "common"}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                told = ast.get_docstring(node) is not None
                first, last = node.body[min(told, len(node.body) - 1)], node.body[-1]
                assert (last.end_lineno or 0) - first.lineno < 45, f"{path}: {node.name}"
