"""Run many cases of every command: ``python -m tests.fuzzing --cases 300``."""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.fuzzing.commands import (
    CASES,
    UPSTREAM,
    WITH_UPSTREAM,
    write_inputs,
)
from tests.fuzzing.harness import Inputs, fuzzed, sound
from tests.fuzzing.weights import WITH_WEIGHTS, write_weights


def run(number: int, seed: int, only: Sequence[str]) -> dict[str, object]:
    """Return how often each command, or those that are named, was called, refused and did wrong."""
    calls, refused, found = Counter[str](), Counter[str](), []
    beside = WITH_UPSTREAM if UPSTREAM.is_dir() else []
    every = [*CASES, *beside, *WITH_WEIGHTS]
    wanted = [one for one in every if not only or one.command in only]
    cases_of = Counter(case.command for case in wanted)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "inputs"
        write_inputs(folder)
        if {*wanted} & {*WITH_WEIGHTS}:
            write_weights(folder)
        inputs = Inputs(folder)
        for place, case in enumerate(wanted):
            began = time.monotonic()
            assert (wrong := sound(case, inputs)) is None, f"{case}: {wrong}"
            for call in range(-(-number // cases_of[case.command])):
                given = f"{seed}/{place}/{call}"
                outcome = fuzzed(case, inputs, given)
                calls[case.command] += 1
                refused[case.command] += outcome.refused
                if outcome.fault is not None:
                    at = {"command": case.command, "seed": given, "damage": outcome.damage}
                    found.append(at)
                    print(f"--- {case.arguments}, {at}\n{outcome.fault}", flush=True)
            seconds = time.monotonic() - began
            print(f"{case.command}: {calls[case.command]} calls, {seconds:.0f} s", flush=True)
    counts = {
        name: {"calls": calls[name], "refused": refused[name], "faults": faults[name]}
        for faults in [Counter(one["command"] for one in found)]
        for name in calls
    }
    return {"commands": counts, "found": found}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300, help="calls of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command", action="append", default=[], help="of this one only; or more")
    given = parser.parse_args()
    print(json.dumps(run(given.cases, given.seed, given.command), indent=2))
