"""Any program that reads JSONL and writes JSONL, in a process of its own with a time limit."""

import hashlib
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from pronominal.adapters.checkpoints import Checkpoint
from pronominal.adapters.interface import System
from pronominal.adapters.model_loading import first_line
from pronominal.adapters.refusals import NoAnswerError
from pronominal.adapters.remote.messages import Greeting, Message, connect
from pronominal.adapters.self_check import announce
from pronominal.errors import InputError


def command(
    command: str | Sequence[str],
    *,
    method: str = "cluster",
    timeout: float = 60,
    start_timeout: float = 600,
    once: bool = False,
    name: str = "command",
) -> System:
    """Return a program as a system; its protocol is that of `pronominal.adapters.remote.messages`.

    One input is one line on its standard input, one answer one line on its standard output, in any
    order. What else it prints there is passed over. What it prints on its standard error is shown
    until it has answered a sentence of ours, and not any more after that, because it may quote the
    sentences it is asked about.

    Args:
        command: the program and its arguments.
        method: which method it has: cluster, choose, loglikelihood or generate.
        timeout: for how many seconds it may be silent while an answer is due.
        start_timeout: how many seconds its first answer may take, for models that load slowly.
        once: start it anew for every call and end its input, for programs that read everything
            before they answer; a call may then take `start_timeout` and `timeout` for each input.
        name: how messages call it.

    Raises:
        InputError: it is no command, cannot be started, or does not answer.
    """
    words = _words(command) if isinstance(command, str) else [str(word) for word in command]
    if not words:
        raise InputError("the command is empty", cure="give a program and its arguments")
    if timeout <= 0 or start_timeout <= 0:
        raise InputError("there is no time for an answer", cure="give seconds above 0")
    limits = _Limits(timeout, start_timeout, once)
    return connect(method, lambda greeting: _Program(name, words, greeting, limits))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise InputError(
            f"the command cannot be split into words ({first_line(error)})",
            cure="quote it as you would in a shell",
        ) from error


class _Limits(NamedTuple):
    timeout: float
    start_timeout: float
    once: bool


class _Program:
    def __init__(
        self, name: str, words: Sequence[str], greeting: Greeting, limits: _Limits
    ) -> None:
        self.name = name
        self.checkpoint = Checkpoint(shlex.join(words), Path(), _digest(words))
        self._words, self._greeting = words, greeting
        self._limits = limits
        self._process: _Process | None = None
        self._has_answered = self._noise_is_named = False
        greeting.greet(self)

    def exchange(self, inputs: Sequence[Message]) -> list[Message]:
        if not inputs:
            return []
        answers = self._once(inputs) if self._limits.once else self._next(inputs)
        self._has_answered = True
        return answers

    def _once(self, inputs: Sequence[Message]) -> list[Message]:
        process = _Process(self._words, show_errors=not self._has_answered)
        limit = self._limits.start_timeout + self._limits.timeout * len(inputs)
        try:
            answers = process.exchange(inputs, limit, last=True)
        finally:
            process.end()
        self._name_noise(process)
        return answers

    def _next(self, inputs: Sequence[Message]) -> list[Message]:
        greeted = inputs[0] is self._greeting.question
        if self._process is None:
            self._process = _Process(self._words, show_errors=not self._has_answered)
            if not greeted:
                # a program that cannot start any more must not cost one row after the other
                self._greeting.greet(self)
        limit = self._limits.start_timeout if greeted else self._limits.timeout
        try:
            answers = self._process.exchange(inputs, limit)
        except NoAnswerError:
            self._process.end()
            self._process = None
            raise
        self._process.show_errors = False
        self._name_noise(self._process)
        return answers

    def _name_noise(self, process: "_Process") -> None:
        lines = process.noise["lines"]
        process.noise.clear()
        if lines and not self._noise_is_named:
            self._noise_is_named = True
            announce(
                [
                    f"{process.program}: {lines:,} lines on its standard output are no answers "
                    "and were passed over; print them on standard error"
                ]
            )


class _Process:
    """A running program; nothing waits longer for it than it is told to."""

    def __init__(self, words: Sequence[str], *, show_errors: bool) -> None:
        self.show_errors = show_errors
        self.program = Path(words[0]).name
        self._asked = 0
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.noise = Counter[str]()
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # its children end with it, and Ctrl-C is for us
                start_new_session=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
            )
        except OSError as error:
            raise InputError(
                f"the program cannot be started ({error.strerror})",
                cure="give a command as you would type it",
                file=words[0],
            ) from error
        self.end = weakref.finalize(self, _end, self._process)
        _in_background(_read, self._process.stdout, self._answers, self.noise)
        _in_background(_pass_on, self._process.stderr, weakref.ref(self))

    def exchange(
        self, inputs: Sequence[Message], limit: float, *, last: bool = False
    ) -> list[Message]:
        """Return one answer for each input; `limit` is how many seconds may pass without one."""
        first, self._asked = self._asked, self._asked + len(inputs)
        numbered = [{"id": first + place, **one} for place, one in enumerate(inputs)]
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in numbered)
        _in_background(_write, self._process.stdin, lines.encode(), last)
        due = dict.fromkeys(range(first, self._asked))
        found: dict[int, Message] = {}
        deadline = time.monotonic() + limit
        while due:
            index = next(iter(due)) - first
            left = deadline - time.monotonic()
            try:
                answer = self._answers.get(timeout=max(0.0, left))
            except queue.Empty:
                left = 0.0
            if left <= 0:
                raise self._silent(f"no answer for {limit:g} seconds", index)
            if answer is None:
                raise self._silent(self._death(), index)
            if answer["id"] not in due:
                self.noise["lines"] += 1
                continue
            found[answer["id"]] = answer
            del due[answer["id"]]
            deadline = deadline if last else time.monotonic() + limit
        return [found[number] for number in range(first, self._asked)]

    def _death(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        status = self._process.returncode
        if status is not None and status < 0:
            return f"the program was ended by {signal.Signals(-status).name}"
        return f"the program ended with exit status {status}"

    def _silent(self, cause: str, index: int) -> NoAnswerError:
        lines = self.noise["lines"]
        noise = f", and {lines:,} lines that are no answers" if lines else ""
        return NoAnswerError(
            f"{self.program}: {cause}{noise}",
            cure='write {"id": ..., "clusters": ...} or the like for each line and flush it, or '
            "set once = true for a program that reads everything first",
            index=index,
            among="inputs",
        )


def _answer(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    numbered = isinstance(found, dict) and type(found.get("id")) is int
    return found if numbered else None


def _in_background(work: Any, *arguments: Any) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _read(
    stream: IO[bytes], answers: "queue.Queue[dict[str, Any] | None]", noise: Counter[str]
) -> None:
    # what is no answer is not kept, since there may be no end of it
    for line in stream:
        answer = _answer(line)
        if answer is None:
            noise["lines"] += 1
        else:
            answers.put(answer)
    answers.put(None)


def _pass_on(stream: IO[bytes], process: "weakref.ref[_Process]") -> None:
    for line in stream:
        if (alive := process()) is not None and alive.show_errors:
            sys.stderr.write(line.decode(errors="replace"))
        del alive


def _write(stream: IO[bytes], lines: bytes, last: bool) -> None:
    # a program that has died says so on its other end
    with suppress(OSError, ValueError):
        stream.write(lines)
        stream.flush()
        if last:
            stream.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and what it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _digest(words: Sequence[str]) -> str:
    """Identify a program by its command and by the files that its command names."""
    parts = [shlex.join(words)]
    for word in words:
        # a word may be a whole program, and too long for the name of a file
        with suppress(OSError):
            if Path(word).is_file():
                with Path(word).open("rb") as file:
                    parts.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
