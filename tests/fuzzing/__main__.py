"""Run many cases of every command: ``python -m tests.fuzzing --cases 300``."""

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzzing.commands import (
    CASES,
    UPSTREAM,
    WITH_UPSTREAM,
    WITH_WEIGHTS,
    write_inputs,
    write_weights,
)
from tests.fuzzing.harness import fuzzed


def run(number: int, seed: int, only: str | None) -> dict[str, object]:
    """Return for each command how many calls there were and which went wrong."""
    calls, faults, found = Counter[str](), Counter[str](), []
    beside = WITH_UPSTREAM if UPSTREAM.is_dir() else []
    wanted = [one for one in (*CASES, *beside, *WITH_WEIGHTS) if only in (None, one.command)]
    cases_of = Counter(case.command for case in wanted)
    with tempfile.TemporaryDirectory() as name:
        inputs = Path(name) / "inputs"
        write_inputs(inputs)
        if {*wanted} & {*WITH_WEIGHTS}:
            write_weights(inputs)
        for place, case in enumerate(wanted):
            began = time.monotonic()
            for call in range(-(-number // cases_of[case.command])):
                calls[case.command] += 1
                given = f"{seed}/{place}/{call}"
                how, fault = fuzzed(case, inputs, given)
                if fault is not None:
                    faults[case.command] += 1
                    found.append({"command": case.command, "seed": given, "how": how})
                    print(
                        f"--- {case.command} ({case.arguments}), {given}, {how}\n{fault}",
                        flush=True,
                    )
            seconds = time.monotonic() - began
            print(f"{case.command}: {calls[case.command]} calls, {seconds:.0f} s", flush=True)
    return {"calls": dict(calls), "faults": dict(faults), "found": found}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300, help="calls of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command", help="of one command only")
    given = parser.parse_args()
    print(json.dumps(run(given.cases, given.seed, given.command), indent=2))
