"""Building: ids are unique over a split, a card says what was built, a kill leaves nothing."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.card import _size_category
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import SplitRows
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.tables.columns import Column
from pronominal.dataset_scripts.tables.digests import BLOCK
from pronominal.dataset_scripts.tables.repeated_ids import fingerprints, suspected_rows
from pronominal.dataset_scripts.tables.violations import Violation, summarise_repeats

IDS = (Column("id", pa.string(), "a key"),)
FINGERPRINTS = "pronominal.dataset_scripts.tables.inspection.fingerprints"


def script(*tables: pa.Table | Callable[[], pa.Table]) -> Any:
    """A script of one split whose tables, or what makes them, come one after the other."""

    def splits(*_: object) -> Iterator[SplitRows]:
        yield SplitRows("only", "test", IDS, (t() if callable(t) else t for t in tables))

    return SimpleNamespace(NAME="sample", OPTIONS=(), UPSTREAM=(), UNPUBLISHABLE=(), splits=splits)


def ids(names: list[str]) -> pa.Table:
    return pa.table({"id": names})


def numbered(rows: int) -> list[str]:
    return [f"nurse-nominative-{number}" for number in range(rows)]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [(3, 4), (3, BLOCK + 5), (BLOCK - 1, BLOCK), (BLOCK + 1, 2 * BLOCK + 6)],
    ids=["in a block", "two blocks", "at the border", "two later blocks"],
)
def test_an_id_that_stands_twice_in_a_split_is_refused(
    tmp_path: Path, earlier: int, later: int
) -> None:
    names = numbered(2 * BLOCK + 7)
    names[later] = names[earlier]
    with pytest.raises(InputError, match=f"that of row {earlier}") as caught:
        write_dataset(script(ids(names)), Sources(), BuildOptions(), tmp_path)
    assert caught.value.row == f"row {later}"
    assert list(tmp_path.iterdir()) == []


def test_ids_with_the_same_fingerprint_are_told_apart(tmp_path: Path) -> None:
    with mock.patch(FINGERPRINTS, lambda ids: np.zeros(len(ids), np.uint64)):
        write_dataset(script(ids(["a", "b", "c"])), Sources(), BuildOptions(), tmp_path)
        with pytest.raises(InputError, match="the id b is also that of row 1"):
            write_dataset(script(ids(["a", "b", "b"])), Sources(), BuildOptions(), tmp_path)


WORDS = st.text("aé\N{GRINNING FACE}\0 ", max_size=20)


@given(st.lists(WORDS, min_size=1, max_size=9), st.lists(WORDS, max_size=9))
def test_a_fingerprint_does_not_see_the_array_around_it(one: list[str], other: list[str]) -> None:
    alone = fingerprints(pa.array(one, pa.string()))
    among = fingerprints(pa.array([*other, *one], pa.string()).slice(len(other)))
    longer = fingerprints(pa.array([*one, "x" * 40], pa.string()))[:-1]
    assert alone.tolist() == among.tolist() == longer.tolist()


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 30))
def test_suspected_rows_are_those_whose_value_stands_twice(values: list[int], cut: int) -> None:
    blocks = [np.array(part, np.uint64) for part in (values[:cut], values[cut:])]
    expected = [row for row, value in enumerate(values) if values.count(value) > 1]
    assert suspected_rows(blocks) == expected


def test_like_ids_have_unlike_fingerprints() -> None:
    # as RUFF's are: long, and different in a few digits
    names = [
        f"nurse-he-eo{i}_ep{j}_ip{k}-{n}" for i, j, k in np.ndindex(10, 10, 10) for n in range(60)
    ]
    assert len(np.unique(fingerprints(pa.array(names)))) == len(names)


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        *((1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (9_999, "1K<n<10K")),
        *((10_000, "10K<n<100K"), (132_960, "100K<n<1M"), (5_662_860, "1M<n<10M")),
    ],
)
def test_a_size_category_is_the_hubs(rows: int, name: str) -> None:
    assert _size_category(rows) == name


@pytest.mark.parametrize(("rows", "name"), [(12, "n<1K"), (1_200, "1K<n<10K")])
def test_the_card_counts_the_rows_that_there_are(tmp_path: Path, rows: int, name: str) -> None:
    write_dataset(script(ids(numbered(rows))), Sources(), BuildOptions(), tmp_path)
    card = (tmp_path / "sample" / "README.md").read_text()
    assert yaml.safe_load(card.split("---\n")[1])["size_categories"] == [name]


def test_changed_files_are_the_first_thing_that_the_card_says(tmp_path: Path) -> None:
    sources = Sources(allow_changed=True, changed=["a/one.tsv", "b/two.tsv"])
    for given_, first in ((sources, "> **Not the pinned upstream version:**"), (Sources(), "# ")):
        write_dataset(script(ids(["a"])), given_, BuildOptions(), tmp_path)
        body = (tmp_path / "sample" / "README.md").read_text().split("---\n", 2)[2]
        assert body.lstrip().startswith(first)
    write_dataset(script(ids(["a"])), sources, BuildOptions(), tmp_path)
    notice = (tmp_path / "sample" / "README.md").read_text().split("---\n", 2)[2].split("\n\n")[0]
    assert "a/one.tsv, b/two.tsv" in notice


def with_checksums(folder: Path, files: dict[str, bytes]) -> dict[Path, bytes]:
    """Write files and a SHA256SUMS that lists them all, and return what then stands there."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    sums = (f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    (folder / "SHA256SUMS").write_text("".join(sums))
    return contents(folder)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def parquet(facts: bytes | None) -> bytes:
    stream = pa.BufferOutputStream()
    schema = pa.schema([("id", pa.string())], {b"pronominal": facts} if facts else None)
    pq.write_table(schema.empty_table(), stream)
    return bytes(stream.getvalue())


OURS = parquet(b'{"dataset": "sample"}')
OTHERS = {
    "a thesis": {"thesis.tex": b"years of work"},
    "another dataset": {"only/test.parquet": parquet(b'{"dataset": "winopron"}')},
    "one of two splits": {
        "only/dev.parquet": OURS,
        "only/test.parquet": parquet(b'{"dataset": "gap"}'),
    },
    "a table of no dataset": {"only/test.parquet": parquet(None)},
    "a table of strange facts": {"only/test.parquet": parquet(b"[")},
    "no table": {"only/test.parquet": b"years of work"},
}


@pytest.mark.parametrize("files", OTHERS.values(), ids=OTHERS)
def test_a_folder_that_is_not_this_dataset_stands(tmp_path: Path, files: dict[str, bytes]) -> None:
    before = with_checksums(tmp_path / "sample", files)
    with pytest.raises(InputError, match="choose another --out"):
        write_dataset(script(ids(["a"])), Sources(), BuildOptions(), tmp_path)
    assert contents(tmp_path) == before


def test_a_folder_of_this_dataset_is_replaced(tmp_path: Path) -> None:
    with_checksums(tmp_path / "sample", {"old/test.parquet": OURS})
    write_dataset(script(ids(["a"])), Sources(), BuildOptions(), tmp_path)
    assert [path.parent.name for path in tmp_path.rglob("*.parquet")] == ["only"]


def violations(*messages: str) -> Iterator[Violation]:
    return (Violation("f", f"row {row}", message) for row, message in enumerate(messages))


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ((), []),
        (("x", "y", "x"), ["f, row 0: x", "f, row 2: x", "f, row 1: y"]),
        (("x",) * 5, [f"f, row {row}: x" for row in range(5)]),
        (("x", *("y",) * 6), ["f, row 0: x", "f, row 1: y (the first of 6 rows like it)"]),
        (
            tuple(f"no id {row}" for row in range(9)),
            ["f, row 0: no id 0 (the first of 9 rows like it)"],
        ),
    ],
)
def test_a_fault_of_many_rows_is_told_once(messages: tuple[str, ...], told: list[str]) -> None:
    assert [str(violation) for violation in summarise_repeats(violations(*messages))] == told


def kill_me(number: signal.Signals) -> Callable[[], pa.Table]:
    def table() -> pa.Table:
        os.kill(os.getpid(), number)
        return ids(["b"])

    return table


@pytest.fixture
def default_handler() -> Iterator[None]:
    """Undo what other tests' libraries do when the process is terminated."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("default_handler")
def test_a_terminated_build_leaves_nothing(tmp_path: Path) -> None:
    # the folder has files already: the first block is written before the second piece is asked for
    pieces = (ids(numbered(BLOCK)), kill_me(signal.SIGTERM))
    with pytest.raises(SystemExit) as caught:
        write_dataset(script(*pieces), Sources(), BuildOptions(), tmp_path)
    assert caught.value.code == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from pronominal.atomic import new_folder
with new_folder(Path(sys.argv[1]) / "sample") as beside:
    (beside / "part").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_build_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".sample.")
    write_dataset(script(ids(["a"])), Sources(), BuildOptions(), tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "sample"]
