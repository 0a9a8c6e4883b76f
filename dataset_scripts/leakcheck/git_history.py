"""A git repository as `leakcheck` reads it: the files that may be committed, and every object."""

import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from pronominal.errors import InputError

# set inside hooks; they would send every command to the repository of the hook
LOCATIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
READ = {"blob", "commit", "tag"}


class Object(NamedTuple):
    """One object of a repository.

    Attributes:
        name: its full hexadecimal name.
        kind: blob, commit or tag.
        size: how many bytes it has.
        content: its bytes; read them before the next object.
    """

    name: str
    kind: str
    size: int
    content: io.BufferedReader


class Repository:
    """A repository on this machine; nothing is fetched, and nothing in it is run.

    Args:
        folder: its working tree, or the repository itself if it is bare.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._introduced: dict[str, dict[str, str]] | None = None

    @classmethod
    def at(cls, folder: Path) -> "Repository | None":
        """Return the repository whose top folder this is, if it is one."""
        bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
        return cls(folder) if bare or (folder / ".git").exists() else None

    def files(self) -> list[Path]:
        """Return the files of the working tree but for those that git ignores.

        `InputError` if git cannot read the repository, even a bare one.
        """
        bare = not (self.folder / ".git").exists()
        listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        with self._reading(*(("rev-parse", "--git-dir") if bare else listing)) as listed:
            # what is printed of a bare one has no NUL, and names no file
            names = sorted({*_fields(listed)})
        return [self.folder / name for name in names]

    def objects(self) -> Iterator[Object]:
        """Yield every blob, commit and tag: packed or loose, of any branch, stash or of none."""
        with tempfile.TemporaryFile() as names:
            wanted = ("cat-file", "--batch-all-objects", "--unordered")
            with self._reading(*wanted, "--batch-check=%(objectname) %(objecttype)") as listed:
                for line in listed:
                    if line.split()[1].decode() in READ:
                        names.write(line.split()[0] + b"\n")
            names.seek(0)
            with self._reading("cat-file", "--batch", "--buffer", stdin=names) as contents:
                while header := contents.readline():
                    name, kind, *rest = header.decode().split()
                    if not rest:
                        continue  # removed by a garbage collection since it was listed
                    size = int(rest[0])
                    content = _Part(contents, size)
                    yield Object(name, kind, size, io.BufferedReader(content))
                    content.skip()
                    contents.read(1)

    def introductions(self, blob: str) -> list[tuple[str, str]]:
        """Return (commit, path) where a blob came in, the first commit for each path."""
        if self._introduced is None:
            self._introduced = self._all_introductions()
        paths = self._introduced.get(blob, {})
        return [(commit, path) for path, commit in sorted(paths.items())]

    def _all_introductions(self) -> dict[str, dict[str, str]]:
        """Return the first commit of each path of each blob, in one pass over the history.

        Plumbing only: `git log` runs programs that a repository's settings name.
        """
        found: dict[str, dict[str, str]] = {}
        commit = ""
        as_raw = ("--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
        with tempfile.TemporaryFile() as commits:
            with self._reading("rev-list", "--all", "--reflog", "--topo-order") as listed:
                shutil.copyfileobj(listed, commits)
            commits.seek(0)
            with self._reading(
                "diff-tree", "--stdin", "--root", "-m", "-r", *as_raw, stdin=commits
            ) as changes:
                fields = _fields(changes)
                for field in fields:
                    if field.startswith(":"):
                        # children come first, so the first commit of a path is kept
                        found.setdefault(field.split()[3], {})[next(fields)] = commit
                    else:
                        commit = field
        return found

    @contextmanager
    def _reading(self, *arguments: str, stdin: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
        """Give what a git command prints; `InputError` with its own words when it fails."""
        environment = {name: v for name, v in os.environ.items() if name not in LOCATIONS}
        environment |= {
            # nothing is fetched, by older git either
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            # a damaged repository is not taken for a part of the one around it
            "GIT_CEILING_DIRECTORIES": str(self.folder.resolve().parent),
        }
        # a repository's own settings may name programs that git would run
        safe = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
        # what `git replace` put in another's place is still there
        command = ("git", "--no-replace-objects", *safe, "-C", str(self.folder), *arguments)
        with tempfile.TemporaryFile() as complaints:
            try:
                source, pipe = stdin or subprocess.DEVNULL, subprocess.PIPE
                process = subprocess.Popen(
                    command, stdin=source, stdout=pipe, stderr=complaints, env=environment
                )
            except OSError as error:
                cause = "git cannot be run"
                raise InputError(cause, cure="install git", file=self.folder) from error
            with process:
                assert process.stdout is not None
                finished = False
                try:
                    yield process.stdout
                    finished = True
                finally:
                    if not finished:
                        process.kill()
            if process.returncode:
                complaints.seek(0)
                said = complaints.read().decode(errors="replace").strip().splitlines() or [""]
                cause = f"git cannot read the repository ({said[0]})"
                raise InputError(cause, cure="see 'git fsck'", file=self.folder)


def _fields(stream: IO[bytes]) -> Iterator[str]:
    """Yield the fields, which NULs divide."""
    rest = b""
    while block := stream.read(1 << 16):
        *whole, rest = (rest + block).split(b"\0")
        yield from map(os.fsdecode, whole)


class _Part(io.RawIOBase):
    """The next bytes of a stream, as a file of their own."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        content = self._stream.read(min(len(buffer), self._left))
        buffer[: len(content)] = content
        self._left -= len(content)
        return len(content)

    def skip(self) -> None:
        while self._left and (skipped := self._stream.read(min(1 << 20, self._left))):
            self._left -= len(skipped)
