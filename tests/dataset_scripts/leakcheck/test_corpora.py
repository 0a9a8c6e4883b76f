"""What `leakcheck` looks into: packed files, Parquet, git history, and one line without an end."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import re
import shlex
import subprocess
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.leakcheck.finder import Survey, find_leaks, leakcheck
from pronominal.dataset_scripts.leakcheck.index import LeakIndex
from tests.cli.test_main import pronominal
from tests.conftest import ROOT

FILLER = ("amber", "basil", "cedar", "dune", "ember", "fjord", "grove", "heath", "iris", "jade")
FILLER += ("kelp", "lagoon", "moss", "nectar")
OUR_GIT = ("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "gc.auto=0")


@pytest.fixture(scope="module")
def index(sample: Path) -> LeakIndex:
    return LeakIndex.of([sample])


@pytest.fixture(scope="module")
def rows(sample: Path) -> list[dict]:
    return pq.read_table(sample / "double" / "test.parquet").to_pylist()


@pytest.fixture(scope="module")
def sentence(rows: list[dict]) -> str:
    return rows[100]["text"]


def found(paths: object, index: LeakIndex, **options) -> list[tuple[str, int, str]]:
    leaks = leakcheck([str(paths)], index, **options)
    return [(Path(leak.origin.path).name, leak.line, leak.origin.history) for leak in leaks]


def git(folder: Path, *arguments: str) -> str:
    command = (*OUR_GIT, "-C", str(folder), *arguments)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def zipped(*members: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        bz2.compress,
        lzma.compress,
        lambda content: pa.compress(content, "zstd", asbytes=True),
        lambda content: gzip.compress(content[:40]) + gzip.compress(content[40:]),
        lambda content: b"".join(
            pa.compress(p, "zstd", asbytes=True) for p in (content[:9], content[9:])
        ),
        lambda content: (
            b"\x5a\x2a\x4d\x18\x03\0\0\0abc" + pa.compress(content, "zstd", asbytes=True)
        ),
        lambda content: gzip.compress(content.decode().encode("utf-16")),
        lambda content: zipped(("a", content)),
        lambda content: zipped(("a", zipped(("b", gzip.compress(content))))),
        lambda content: gzip.compress(zipped(("a", content))),
        lambda content: gzip.compress(bz2.compress(content)),
    ],
    ids=[
        *("gzip", "bzip2", "xz", "zstd", "gzip members", "zstd frames", "zstd, skippable frame"),
        *("gzip of utf-16", "zip", "zip in zip", "zip in gzip", "bzip2 in gzip"),
    ],
)
def test_packed_corpora_are_read_whatever_they_are_called(
    pack: Callable[[bytes], bytes], sentence: str, index: LeakIndex, tmp_path: Path
) -> None:
    lines = [json.dumps({"text": text}) for text in (*FILLER, sentence)]
    (tmp_path / "corpus").write_bytes(pack("\n".join(lines).encode()))
    assert found(tmp_path, index) == [("corpus", len(FILLER) + 1, "")]


@pytest.mark.parametrize("in_history", [False, True])
@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lambda content: zipped(("a", content)),
        # what is read from its end would be unpacked to there first
        lambda content: gzip.compress(b"PK\x03\x04" + content),
        lambda content: zipped(("a", b"PAR1" + content)),
    ],
)
def test_a_zip_bomb_is_named_and_left(
    pack: Callable[[bytes], bytes],
    in_history: bool,
    sentence: str,
    index: LeakIndex,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pronominal.dataset_scripts.leakcheck.corpora.UNSUSPICIOUS", 1 << 20)
    (tmp_path / "bomb").write_bytes(pack(b" " * (1 << 22)))
    if in_history:
        git(tmp_path, "init", "--quiet")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "--quiet", "-m", "first")
        (tmp_path / "bomb").unlink()
    (tmp_path / "corpus").write_text(sentence)
    survey = Survey()
    leaks = [*leakcheck([str(tmp_path)], index, survey=survey)]
    assert [Path(leak.origin.path).name for leak in leaks] == ["corpus"]
    assert survey.size < 1 << 22
    (bomb,) = survey.unreadable
    assert re.search(r"unpacks to more than 100 times its size|another of more than 1 MiB", bomb)


def zipped_by_zstandard(name: str, content: bytes) -> bytes:
    """A zip archive as inspect writes it: zipfile has this method from Python 3.14 on."""
    packed = bytearray(zipped_as_it_is(name, pa.compress(content, "zstd", asbytes=True)))
    for header, method, checksum in ((b"PK\x03\x04", 8, 14), (b"PK\x01\x02", 10, 16)):
        start = packed.rindex(header)
        packed[start + method] = 93
        packed[start + checksum : start + checksum + 4] = zlib.crc32(content).to_bytes(4, "little")
    return bytes(packed)


def zipped_as_it_is(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def logged(sentence: str) -> bytes:
    """One sample as inspect logs it."""
    messages = [{"role": "user", "content": f"Who is meant?\n\n{sentence}"}]
    return json.dumps({"id": 1, "epoch": 1, "input": "a", "messages": messages}, indent=2).encode()


@pytest.mark.parametrize(
    "pack",
    [
        lambda content: zipped(("samples/1_epoch_1.json", content)),
        lambda content: zipped_by_zstandard("samples/1_epoch_1.json", content),
    ],
    ids=["deflated", "zstandard"],
)
def test_inspects_logs_are_read(
    pack: Callable[[bytes], bytes], sentence: str, index: LeakIndex, tmp_path: Path
) -> None:
    (tmp_path / "log.eval").write_bytes(pack(logged(sentence)))
    survey = Survey()
    assert found(tmp_path, index, survey=survey) == [("log.eval", 8, "")]
    assert survey.unreadable == []


def test_lm_evals_samples_are_read(sentence: str, index: LeakIndex, tmp_path: Path) -> None:
    arguments = {"gen_args_0": {"arg_0": f"Text:\n{sentence}\nAnswer:", "arg_1": " the \u00e9"}}
    lines = [json.dumps({"doc_id": 0, "doc": {"a": "b"}}), json.dumps({"arguments": arguments})]
    (tmp_path / "samples_x_2026.jsonl").write_text("\n".join(lines))
    assert found(tmp_path, index) == [("samples_x_2026.jsonl", 2, "")]


def test_parquet_is_read_by_row(sentence: str, index: LeakIndex, tmp_path: Path) -> None:
    table = pa.table(
        {
            "number": [1, 2, 3, 4],
            "text": [None, "a\nb", sentence.replace(" ", "\n"), "c"],
            "kind": pa.array(["p", "q", "q", "p"]).dictionary_encode(),
            "turns": [[{"says": "d"}], None, [], [{"says": "e"}, {"says": sentence}]],
        }
    )
    pq.write_table(table, tmp_path / "table.parquet")
    pq.write_table(table.select(["number"]), tmp_path / "numbers.parquet")
    assert found(tmp_path, index) == [("table.parquet", 3, ""), ("table.parquet", 4, "")]


def test_parquet_is_read_whatever_its_strings_are_in(
    sentence: str, index: LeakIndex, tmp_path: Path
) -> None:
    binary = sentence.encode()
    columns = {
        "map": pa.array([[("k", sentence)]], pa.map_(pa.string(), pa.string())),
        "key": pa.array([[(sentence, 1)]], pa.map_(pa.string(), pa.int8())),
        "pair": pa.array([["x", sentence]], pa.list_(pa.string(), 2)),
        "fixed": pa.array([binary], pa.binary(len(binary))),
        "view": pa.array([sentence], pa.string_view()),
        "binary view": pa.array([binary], pa.binary_view()),
        "list view": pa.array([[sentence]], pa.list_view(pa.string())),
        "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array([f'["{sentence}"]'])),
        sentence: pa.array([1]),
    }
    for name, column in columns.items():
        pq.write_table(pa.table({name: column}), tmp_path / f"{name[:11]}.parquet")
    told = pa.table({"a": [1]}).replace_schema_metadata({"note": sentence})
    pq.write_table(told, tmp_path / "metadata.parquet")
    assert len(found(tmp_path, index)) == len(columns) + 1


def test_a_built_dataset_is_full_of_leaks(sample: Path, index: LeakIndex) -> None:
    names = [name for name, _, _ in found(sample / "double", index)]
    assert names.count("test.parquet") >= 576


def test_patterns_leave_paths_out(sentence: str, index: LeakIndex, tmp_path: Path) -> None:
    for name in ("a/x.txt", "b/x.txt", "b/c/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(sentence)
    assert len(found(tmp_path, index)) == 3
    assert len(found(tmp_path, index, exclude=["b/*"])) == 1
    assert found(tmp_path / "a" / "x.txt", index, exclude=["*.txt"]) == []


def test_what_cannot_be_read_is_said_and_the_rest_is_read(
    sample: Path, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.gz").write_bytes(gzip.compress(os.urandom(1000))[:500])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    result = pronominal("leakcheck", ".", "--dataset", sample, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.count("cannot be read") == 2
    assert result.stderr.splitlines()[-1].startswith("pronominal: ")
    (tmp_path / "z.txt").write_text(sentence)
    result = pronominal("leakcheck", ".", "--dataset", sample, cwd=tmp_path)
    assert (result.returncode, result.stdout[:8]) == (1, "z.txt:1:")


def test_a_damaged_member_is_said_and_the_others_are_read(
    sentence: str, index: LeakIndex, tmp_path: Path
) -> None:
    content = bytearray(zipped(("a", os.urandom(999)), ("b", sentence.encode())))
    content[100] ^= 1
    (tmp_path / "x.zip").write_bytes(content)
    (tmp_path / "y.zip").write_bytes(content[:700])
    survey = Survey()
    assert [name for name, _, _ in found(tmp_path, index, survey=survey)] == ["x.zip"]
    assert len(survey.unreadable) == 2


def test_a_forbidden_folder_is_said_and_the_rest_is_read(
    sentence: str, index: LeakIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b.txt").write_text(sentence)
    listed = Path.iterdir

    def forbidding(folder: Path) -> Iterator[Path]:
        if folder.name == "a":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", forbidding)
    survey = Survey()
    assert found(tmp_path, index, survey=survey) == [("b.txt", 1, "")]
    assert survey.unreadable == [f"{tmp_path / 'a'}: cannot be read (Permission denied)"]


def test_one_endless_line_takes_no_memory(index: LeakIndex) -> None:
    def blocks() -> Iterator[bytes]:
        generator = random.Random(1)
        for _ in range(60):
            yield generator.randbytes(1 << 19).replace(b"\n", b"x").replace(b" ", b"x")

    tracemalloc.start()
    assert list(find_leaks(blocks(), index)) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


# git


@pytest.fixture
def repository(tmp_path: Path, sentence: str) -> Path:
    """A repository with a sentence in a file that the next commit deletes."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / ".gitignore").write_text("out/\n")
    (folder / "kept.txt").write_text("kept\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    (folder / "docs").mkdir()
    (folder / "docs" / "old notes.txt").write_text(f"one\n{sentence}\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "second")
    git(folder, "rm", "--quiet", "docs/old notes.txt")
    git(folder, "commit", "--quiet", "-m", "third")
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_deleted_since_is_found_in_its_commit(
    packed: bool, repository: Path, index: LeakIndex
) -> None:
    if packed:
        git(repository, "gc", "--quiet", "--prune=now")
    second = git(repository, "rev-parse", "HEAD~1")
    assert found(repository, index) == [("old notes.txt", 2, f"commit {second[:12]}")]
    assert found(repository, index, exclude=["docs/*"]) == []
    assert found(repository, index, history=False) == []
    assert found(repository / ".git", index) == [("old notes.txt", 2, f"commit {second[:12]}")]


def test_branches_stashes_messages_and_lost_objects_are_found(
    repository: Path, rows: list[dict], index: LeakIndex
) -> None:
    git(repository, "switch", "--quiet", "-c", "side")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", f"About\n\n{rows[4]['text']}")
    git(repository, "switch", "--quiet", "-")
    (repository / "kept.txt").write_text(rows[8]["text"])
    git(repository, "stash")
    lost = subprocess.run(
        ["git", "-C", repository, "hash-object", "-w", "--stdin"],
        input=rows[12]["text"].encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    histories = [history for _, _, history in found(repository, index)]
    assert len(histories) == 4
    side = git(repository, "rev-parse", "side")
    assert f"message of commit {side[:12]}" in histories
    assert f"blob {lost[:12]}, in no commit" in histories


def test_what_git_ignores_is_not_looked_into(
    repository: Path, sample: Path, index: LeakIndex, sentence: str
) -> None:
    write_dataset(dataset_script("sample"), Sources(), BuildOptions(), repository / "out")
    assert found(repository, index, history=False) == []
    (repository / "new.txt").write_text(sentence)
    assert found(repository, index, history=False) == [("new.txt", 1, "")]


def test_repositories_below_a_folder_are_looked_into(repository: Path, index: LeakIndex) -> None:
    assert [name for name, _, _ in found(repository.parent, index)] == ["old notes.txt"]


def test_a_damaged_repository_is_refused(sample: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    result = pronominal("leakcheck", tmp_path, "--dataset", sample)
    assert result.returncode == 2
    assert "git cannot read the repository" in result.stderr


def test_a_damaged_repository_takes_nothing_from_the_rest(
    repository: Path, sentence: str, index: LeakIndex
) -> None:
    for nested in (repository / "a", repository.parent / "b"):
        nested.mkdir()
        (nested / ".git").write_text("gitdir: /nowhere/at/all\n")
        (nested / "inner.txt").write_text(sentence)
    (repository.parent / "z.txt").write_text(sentence)
    survey = Survey()
    names = {name for name, _, _ in found(repository.parent, index, survey=survey)}
    assert names >= {"inner.txt", "old notes.txt", "z.txt"}
    assert [line.split(":")[0] for line in survey.unreadable].count(
        str(repository.parent / "b")
    ) == 1


def test_no_program_of_the_repository_is_run(repository: Path, index: LeakIndex) -> None:
    marker, program = repository.parent / "was-run", repository.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 1\n")
    program.chmod(0o755)
    tree, parent = git(repository, "rev-parse", "HEAD^{tree}"), git(repository, "rev-parse", "HEAD")
    who = "T <t@example.org> 1700000000 +0000"
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n{signature}\n\nsigned\n"
    (repository.parent / "signed").write_text(signed)
    name = git(repository, "hash-object", "-t", "commit", "-w", str(repository.parent / "signed"))
    git(repository, "update-ref", "HEAD", name)
    git(repository, "config", "log.showSignature", "true")
    for setting in ("gpg.program", "core.fsmonitor", "diff.external", "core.pager"):
        git(repository, "config", setting, str(program))
    assert len(found(repository, index)) == 1
    assert not marker.exists()
    subprocess.run(["git", "-C", repository, "log", "-1"], capture_output=True, check=False)
    assert marker.exists()


def test_a_replaced_blob_is_found(repository: Path, index: LeakIndex) -> None:
    second = git(repository, "rev-parse", "HEAD~1")
    leaking = git(repository, "rev-parse", f"{second}:docs/old notes.txt")
    git(repository, "replace", leaking, git(repository, "rev-parse", "HEAD:kept.txt"))
    assert ("old notes.txt", 2, f"commit {second[:12]}") in found(repository, index)


def test_the_history_is_walked_once(
    repository: Path, rows: list[dict], index: LeakIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(0, 40, 4):
        (repository / f"{number}.txt").write_text(rows[number]["text"])
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "many")
    commands = []
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda c, **o: commands.append(c) or start(c, **o))
    assert len(found(repository, index)) == 21
    assert sum("diff-tree" in command for command in commands) == 1


def test_the_hook_stops_a_commit(
    repository: Path, index: LeakIndex, sentence: str, tmp_path: Path
) -> None:
    """What pre-commit does with our entry, without pre-commit: the staged files as arguments."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *entry = shlex.split(hook["entry"])
    assert program == "pronominal"
    index.write(repository / "leak.index")
    (repository / "new.txt").write_text(sentence)
    staged = ["leak.index", "kept.txt", "new.txt"]
    result = pronominal(*entry, "--index", "leak.index", *staged, cwd=repository)
    assert result.returncode == 1
    assert result.stdout.startswith("new.txt:1: ")
    assert pronominal(*entry, "--index", "leak.index", *staged[:2], cwd=repository)[0] == 0


# the real data


def test_winopron_is_found_in_line_40000_and_in_an_old_commit(
    built: Callable[[str], Path], tmp_path: Path, repository: Path
) -> None:
    winopron = built("winopron")
    texts = {
        config: pq.read_table(winopron / config / "test.parquet")["text"].to_pylist()
        for config in ("double", "single")
    }
    known = LeakIndex.of([winopron])
    for rows in texts.values():
        lines = {line for line, _ in find_leaks(["\n".join(rows).encode()], known)}
        assert lines == set(range(1, 1441))
    generator = random.Random(0)
    filler = [" ".join(generator.choices(FILLER, k=12)) for _ in range(2_600)] * 100
    filler[39_999] = texts["double"][1017]
    (tmp_path / "corpus.txt").write_text("\n".join(filler))
    assert (tmp_path / "corpus.txt").stat().st_size > 15_000_000
    assert found(tmp_path / "corpus.txt", known) == [("corpus.txt", 40_000, "")]

    (repository / "leak.txt").write_text(texts["single"][701])
    git(repository, "add", "leak.txt")
    git(repository, "commit", "--quiet", "-m", "oops")
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "rm", "--quiet", "leak.txt")
    git(repository, "commit", "--quiet", "-m", "mend")
    assert found(repository, known) == [("leak.txt", 1, f"commit {commit[:12]}")]


def test_this_repository_holds_no_winopron(built: Callable[[str], Path]) -> None:
    known = LeakIndex.of([built("winopron")])
    places = {name for name, _, _ in found(ROOT, known, exclude=["cards/*"])}
    assert places == set()
