"""A program in a process of its own that is asked and answers in lines of JSON."""

import json
import os
import queue
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
from typing import IO, Any

from pronominal.adapters.contract.refusals import NoAnswerError
from pronominal.adapters.remote.messages import Message
from pronominal.adapters.remote.process_groups import end_group, own_group
from pronominal.errors import InputError


class Process:
    """A running program; nothing waits longer for it than it is told to.

    Args:
        words: the program and its arguments.
        show_errors: whether what it prints on its standard error is shown.

    Attributes:
        show_errors: as given; may be changed.
        program: its name, for messages.
        noise: how many ``lines`` of its standard output were no answers.
        end: ends it and what it has started.
    """

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
                **own_group(),
                env=os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
            )
        except OSError as error:
            raise InputError(
                f"the program cannot be started ({error.strerror})",
                cure="give a command as you would type it",
                file=words[0],
            ) from error
        self.end = weakref.finalize(self, end_group, self._process)
        _in_background(_read, self._process.stdout, self._answers, self.noise)
        _in_background(_pass_on, self._process.stderr, weakref.ref(self))

    def exchange(
        self, inputs: Sequence[Message], limit: float, *, last: bool = False
    ) -> list[Message]:
        """Return one answer for each input.

        Args:
            inputs: what is asked.
            limit: seconds for each answer, or for all where it is the last call.
            last: whether its input ends with these.

        Raises:
            NoAnswerError: one of the inputs has no answer in time, or the program has ended.
        """
        first, self._asked = self._asked, self._asked + len(inputs)
        numbered = [{"id": first + place, **one} for place, one in enumerate(inputs)]
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in numbered)
        _in_background(_write, self._process.stdin, lines.encode(), last)
        due = dict.fromkeys(range(first, self._asked))
        answers: dict[int, Message] = {}
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
            answers[answer["id"]] = answer
            del due[answer["id"]]
            deadline = deadline if last else time.monotonic() + limit
        return [answers[number] for number in range(first, self._asked)]

    def _death(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        status = self._process.returncode
        if status is not None and status < 0:
            return f"the program was ended by {_name_of(-status)}"
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


def _name_of(number: int) -> str:
    # signals of real time have no names
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _in_background(work: Any, *arguments: Any) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _read(
    stream: IO[bytes], answers: "queue.Queue[dict[str, Any] | None]", noise: Counter[str]
) -> None:
    # what is no answer is not kept, since there may be no end of it
    for line in stream:
        answer = None
        with suppress(ValueError, RecursionError):
            answer = json.loads(line)
        if isinstance(answer, dict) and type(answer.get("id")) is int:
            answers.put(answer)
        else:
            noise["lines"] += 1
    answers.put(None)


def _pass_on(stream: IO[bytes], process: "weakref.ref[Process]") -> None:
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
