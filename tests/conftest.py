"""Where things are, and the rule that CI skips nothing."""

import gc
import os
import signal
from collections.abc import Callable
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from filelock import FileLock

# no test depends on how busy the machine is
hypothesis.settings.register_profile("pronominal", deadline=None)
hypothesis.settings.load_profile("pronominal")

# what is imported stays: to look for garbage in it, ever again, takes a sixth of the collection
gc.disable()


def _set_imports_aside(phase: str, about: dict[str, int]) -> None:
    """Spare further collections what tests have imported, such as torch: 0.1 s each time."""
    if phase == "stop" and about["generation"] == 2 and len(gc.get_objects(2)) > 100_000:
        gc.freeze()


gc.callbacks.append(_set_imports_aside)

os.environ["HF_HUB_OFFLINE"] = "1"
# more threads than that only wait for each other on models as small as these
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

# started by nohup it is ignored, here and in every process that a test starts
signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def upstream() -> Path:
    """The real upstream files; they stay outside the repository."""
    if not (SHARED / "upstream").is_dir():
        pytest.skip("the upstream files (../shared/upstream) are not here")
    return SHARED / "upstream"


@pytest.fixture(scope="session")
def goldens() -> Path:
    """Outputs of the original programs; some hold evaluation text and stay outside."""
    if not (SHARED / "goldens").is_dir():
        pytest.skip("the golden vectors (../shared/goldens) are not here")
    return SHARED / "goldens"


@pytest.fixture(scope="session")
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The folder of a dataset as published, built once for all processes; not to be changed."""
    folders = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folders = folders.parent

    def folder(name: str) -> Path:
        from pronominal.dataset_scripts.building.build import write_dataset
        from pronominal.dataset_scripts.building.options import BuildOptions
        from pronominal.dataset_scripts.building.script import dataset_script
        from pronominal.dataset_scripts.building.sources import Sources

        root = None if name == "sample" else request.getfixturevalue("upstream")
        out = folders / f"built-{name}"
        with FileLock(folders / f"{out.name}.lock"):
            if not (out / name).exists():
                write_dataset(dataset_script(name), Sources(root), BuildOptions(), out)
        return out / name

    return folder


@pytest.fixture(scope="session")
def sample(built: Callable[[str], Path]) -> Path:
    """The embedded sample."""
    return built("sample")


@pytest.fixture(scope="session")
def knowref(built: Callable[[str], Path]) -> Path:
    """KnowRef with its Reddit text."""
    return built("knowref")


@pytest.fixture(scope="session")
def own_ruff(tmp_path_factory: pytest.TempPathFactory) -> str:
    """RUFF in templates of our own."""
    from pronominal.dataset_scripts import ruff
    from pronominal.dataset_scripts.building.build import write_dataset
    from pronominal.dataset_scripts.building.options import BuildOptions
    from tests.dataset_scripts.ruff.own_templates import own_tables, write_sources

    out = tmp_path_factory.mktemp("built")
    write_dataset(
        ruff, write_sources(tmp_path_factory.mktemp("own"), own_tables()), BuildOptions(), out
    )
    return str(out / "ruff")


@pytest.fixture(scope="session")
def without_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH: spaCy imports torch where it can, which takes most of its start."""
    folder = tmp_path_factory.mktemp("without")
    (folder / "torch.py").write_text('raise ImportError("this environment has no torch")\n')
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep on one worker what each would prepare: a server to fork from, inputs of all commands."""
    items.sort(
        key=lambda item: (
            "started" not in vars(item.getparent(pytest.Module).obj),
            "tests/fuzzing/" not in item.nodeid,
        )
    )


def pytest_collection_finish() -> None:
    """Take what was imported out of garbage collection, which would go through it ever again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Wait for the process that forks others: it ends, and its time counts as that of the tests."""
    forkserver._forkserver._stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Fail a skipped test in CI, where everything it needs is there."""
    report = yield
    if report.skipped and os.environ.get("CI") and SHARED.is_dir():
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


@pytest.fixture
def blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning curves that are not drawn, which takes longer than to train a tiny model."""
    monkeypatch.setattr(
        "pronominal.eval.training.training.draw_curves", lambda points, path, title: path.touch()
    )


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses before a server is asked again; a clock that only they move."""
    from pronominal.adapters.remote import servers

    found: list[float] = []
    clock = SimpleNamespace(sleep=found.append, monotonic=lambda: sum(found))
    monkeypatch.setattr(servers, "time", clock)
    return found
