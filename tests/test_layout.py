"""The shape of the project: what is installed, what may import what, and what stays light."""

import ast
import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "core": "pronominal",
    "dataset_scripts": "pronominal.dataset_scripts",
    "adapters": "pronominal.adapters",
    "eval": "pronominal.eval",
    "cards": "pronominal.cards",
    "cli": "pronominal.cli",
}
ALLOWED = {
    "core": {"core"},
    "cards": {"cards"},
    "dataset_scripts": {"core", "cards", "dataset_scripts"},
    "adapters": {"core", "cards", "adapters"},
    "eval": {"core", "cards", "dataset_scripts", "adapters", "eval"},
    "cli": set(FOLDERS),
}


def config() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def modules() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def folder_of(module: str) -> str:
    part = module.split(".")[1] if "." in module else ""
    return part if part in FOLDERS else "core"


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] == "pronominal"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[0]
    for name in imported(path):
        if path == ROOT / "core" / "__main__.py":
            assert folder_of(name) == "cli"
        else:
            assert folder_of(name) in ALLOWED[folder], f"{path.name} imports {name}"


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
    assert set(everything.split(",")) == set(extras) - {"docs", "test"}


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


def test_modules_stay_readable() -> None:
    for path in modules():
        assert len(path.read_text().splitlines()) <= 280, path
        assert path.stem not in {"utils", "helpers", "common"}
