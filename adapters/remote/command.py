"""Any program that reads JSONL and writes JSONL, in a process of its own with a time limit."""

import hashlib
import os
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.contract.refusals import NoAnswerError
from pronominal.adapters.contract.self_check import announce
from pronominal.adapters.contract.systems import System
from pronominal.adapters.remote.messages import Greeting, Message, connect
from pronominal.adapters.remote.process import Process
from pronominal.checksums import file_sha256
from pronominal.credentials import withheld_digest, without_credentials
from pronominal.errors import InputError

VARIABLE = re.compile(r"\$\{(?P<name>\w+)\}")
"""An environment variable in a command."""


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
        command: the program and its arguments; ``${NAME}`` in one of them is the value of that
            environment variable, which no file of a run has.
        method: which method it has: cluster, choose, loglikelihood or generate.
        timeout: for how many seconds it may be silent while an answer is due.
        start_timeout: how many seconds its first answer may take, for models that load slowly.
        once: start it anew for every call and end its input, for programs that read everything
            before they answer; a call may then take `start_timeout` and `timeout` for each input.
        name: its name in messages.
    """
    cause, cure = "the command cannot be split into words", "quote it as you would in a shell"
    with input_error_on(ValueError, cause=cause, cure=cure):
        words = shlex.split(command) if isinstance(command, str) else [*map(str, command)]
    if not words:
        raise InputError("the command is empty", cure="give a program and its arguments")
    if timeout <= 0 or start_timeout <= 0:
        raise InputError("there is no time for an answer", cure="give seconds above 0")
    limits = _Limits(timeout, start_timeout, once)
    return connect(method, lambda greeting: _Program(name, words, greeting, limits))


class _Limits(NamedTuple):
    timeout: float
    start_timeout: float
    once: bool


class _Program:
    def __init__(
        self, name: str, words: Sequence[str], greeting: Greeting, limits: _Limits
    ) -> None:
        self.name = name
        told = without_credentials(words)
        self.checkpoint = Checkpoint(
            shlex.join(told), Path(), _digest(told, withheld_digest(words))
        )
        self._words, self._greeting = [*map(_filled_in, words)], greeting
        self._limits = limits
        self._process: Process | None = None
        self._has_answered = self._noise_is_named = False
        greeting.greet(self)

    def exchange(self, inputs: Sequence[Message]) -> list[Message]:
        if not inputs:
            return []
        answers = self._once(inputs) if self._limits.once else self._next(inputs)
        self._has_answered = True
        return answers

    def _once(self, inputs: Sequence[Message]) -> list[Message]:
        process = Process(self._words, show_errors=not self._has_answered)
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
            self._process = Process(self._words, show_errors=not self._has_answered)
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

    def _name_noise(self, process: Process) -> None:
        lines = process.noise["lines"]
        process.noise.clear()
        if lines and not self._noise_is_named:
            self._noise_is_named = True
            fault = f"{process.program}: {lines:,} lines on its standard output are no answers "
            announce((f"{fault}and were passed over; print them on standard error",))


def _filled_in(word: str) -> str:
    """Put the values of environment variables into an argument."""

    def value(match: re.Match[str]) -> str:
        if match["name"] not in os.environ:
            cause = f"the environment variable {match['name']}, of the command, is not set"
            raise InputError(cause, cure=f"run 'export {match['name']}=...' first")
        return os.environ[match["name"]]

    return VARIABLE.sub(value, word)


def _digest(words: Sequence[str], withheld: str | None) -> str:
    """Identify a program by its command and by the files that its command names."""
    parts = [shlex.join(words)] + ([withheld] if withheld is not None else [])
    for word in words:
        # a word may be a whole program, and too long for the name of a file
        with suppress(OSError):
            if Path(word).is_file():
                parts.append(file_sha256(Path(word)))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
