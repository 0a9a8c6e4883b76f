"""Processes that may die: forked from one that has imported torch, which takes seconds."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        *("accelerate", "matplotlib.figure", "pandas", "torch._dynamo", __name__),
        *("pronominal.cli.main", "pronominal.cli.training", "tests.preloaded"),
        *("pronominal.eval.training.choosing", "pronominal.eval.training.clustering"),
        *("pronominal.eval.training.data.reading", "pronominal.eval.training.training"),
        *("transformers.models.auto.modeling_auto", "transformers.models.roberta.modeling_roberta"),
        *(
            f"pronominal.adapters.{system}.training"
            for system in ("bert", "c2f.bert", "c2f.e2e", "caw", "fastcoref")
        ),
    ]
)


def started(function: Callable[..., object], *arguments: object) -> BaseProcess:
    """Call a function of this module in a process of its own."""
    process = _CONTEXT.Process(target=function, args=arguments)
    process.start()
    return process


def command_line(*arguments: str) -> None:
    """Run the command line."""
    from pronominal.cli.main import main

    sys.argv = ["pronominal", *arguments]
    main()


def blank_curves(points: object, path: Path, title: str) -> None:
    """Stand in for learning curves: to draw them takes longer than to train a tiny model."""
    path.touch()


def command_lines_of_one_of_two(rank: int, port: int, *commands: Sequence[str]) -> None:
    """Run command lines as one of two processes, told what torchrun tells them."""
    from pronominal.eval.training import training

    training.draw_curves = blank_curves
    here = {"RANK": str(rank), "LOCAL_RANK": str(rank), "MASTER_PORT": str(port)}
    both = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    os.environ.update(here | both)
    for arguments in commands:
        try:
            command_line(*arguments)
        except SystemExit as end:
            if end.code:
                raise


def command_line_until_loss(last: int, *arguments: str) -> None:
    """Run the command line, and die when it comes to compute its N-th loss."""
    from pronominal.adapters.training.loop import _Loop

    losses, update = [], _Loop._update

    def update_or_death(*given: Any) -> None:
        losses.append(given)
        if len(losses) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        update(*given)

    _Loop._update = update_or_death
    command_line(*arguments)
