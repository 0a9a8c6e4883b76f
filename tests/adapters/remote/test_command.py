"""A program of the user's own: JSONL in and out, and no way in which it could take us down."""

import json
import os
import shlex
import signal
import sys
import time
import warnings
from pathlib import Path

import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.contract.check import check_system
from pronominal.adapters.contract.plain_questions import plain_resolutions, plain_slots
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, run

TEXTS = ["Ann saw Eve.", "Tom fell.", "It 😀 rained, so she stayed.", ""]

BEGIN = "import json, os, sys, time\n"

EACH_LINE = """
for line in sys.stdin:
    asked = json.loads(line)
    clusters = [[[0, 1], [1, len(asked["text"])]]]
    print(json.dumps({"id": asked["id"], "clusters": clusters}))
"""

OTHERS = {
    "choose": '{"scores": [0.25] * len(asked["candidates"])}',
    "loglikelihood": '{"scores": [-float(len(option)) for option in asked["options"]]}',
    "generate": '{"generation": asked["prompt"][:3]}',
}


def program(folder: Path, code: str) -> str:
    path = folder / "program.py"
    path.write_text(BEGIN + code)
    return shlex.join([sys.executable, str(path)])


def expected(texts: list[str]) -> list[list[list[list[int]]]]:
    return [[[[0, 1], [1, len(text)]]] for text in texts]


def test_every_text_has_its_answer_in_order(tmp_path: Path) -> None:
    system = load("command", program(tmp_path, EACH_LINE))
    assert system.cluster(TEXTS) == expected(TEXTS)
    assert system.cluster(TEXTS[::-1]) == expected(TEXTS[::-1])
    assert system.cluster([]) == []


def test_thousands_of_long_lines_do_not_block(tmp_path: Path) -> None:
    texts = [f"{number} " + "word " * 100 for number in range(3000)]
    system = load("command", program(tmp_path, EACH_LINE))
    assert system.cluster(texts) == expected(texts)


def test_a_program_may_stand_in_the_command() -> None:
    code = BEGIN + EACH_LINE + "# and much more" * 300
    assert load("command", shlex.join([sys.executable, "-c", code])).cluster(TEXTS)


def test_a_program_that_reads_everything_first(tmp_path: Path) -> None:
    code = "lines = sys.stdin.readlines()[::-1]\n" + EACH_LINE.replace("sys.stdin", "lines").strip()
    system = load("command", program(tmp_path, code), once=True)
    assert system.cluster(TEXTS) == expected(TEXTS)
    assert system.cluster(TEXTS) == expected(TEXTS)


@pytest.mark.parametrize("method", OTHERS)
def test_every_method_goes_over_the_wire_without_the_label(tmp_path: Path, method: str) -> None:
    code = f"""
seen = open({str(tmp_path / "seen")!r}, "a")
for line in sys.stdin:
    seen.write(line)
    seen.flush()
    asked = json.loads(line)
    print(json.dumps({{"id": asked["id"], **{OTHERS[method]}}}))
"""
    system = load("command", program(tmp_path, code), method=method)
    asked = {"choose": plain_resolutions(), "loglikelihood": plain_slots(), "generate": ["abcd"]}
    answers = getattr(system, method)(asked[method])
    assert len(answers) == len(asked[method])
    assert answers[0] in ([0.25, 0.25], [-2.0, -3.0, -4.0, -2.0], "abc")
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert not any({"label", "columns"} & one.keys() for one in seen)
    assert all(isinstance(one["id"], int) for one in seen)


NOISE = """
print("Loading model ...")
print(json.dumps({"epoch": 3}), json.dumps([1, 2]))
print('{"id": 999999, "clusters": []}')
"""


def test_noise_is_passed_over_and_named(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="3 lines on its standard output are no answers"):
        system = load("command", program(tmp_path, NOISE + EACH_LINE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert system.cluster(TEXTS) == expected(TEXTS)


LATE_NOISE = """
for line in sys.stdin:
    asked = json.loads(line)
    if "Ann saw" in asked["text"]:
        print("she was seen")
    if asked["text"] == "Tom fell.":
        os._exit(3)
    print(json.dumps({"id": asked["id"], "clusters": []}))
"""


def test_noise_is_named_once_whenever_it_comes(tmp_path: Path) -> None:
    system = load("command", program(tmp_path, LATE_NOISE))
    with pytest.warns(UserWarning, match="2 lines on its standard output are no answers"):
        system.cluster(TEXTS[:1] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        with pytest.raises(RefusedTextError, match="exit status 3, and 1 lines"):
            system.cluster(TEXTS)
        system.cluster(TEXTS[:1])


def test_what_it_says_as_it_starts_is_shown_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ready = 'sys.stderr.write("ready\\n"); sys.stderr.flush()\ntime.sleep(0.5)\n'
    system = load("command", program(tmp_path, ready + LATE_NOISE))
    for _ in range(2):
        with pytest.raises(RefusedTextError):
            system.cluster(["Tom fell."])
        system.cluster(["It rained."])
    assert capfd.readouterr().err.count("ready") == 1


def test_a_program_that_dies_at_an_odd_text_breaks_a_promise(tmp_path: Path) -> None:
    dies = LATE_NOISE.replace('== "Tom fell."', '== " "')
    system = load("command", program(tmp_path, dies))
    found = {check.promise: check.faults for check in check_system(system)}
    (fault,) = found["cluster: it answers, or refuses, odd texts"]
    assert fault.startswith("at odd text 2 (' '...): ")
    assert "the program ended with exit status 3" in fault


MISBEHAVING = {
    "dies": 'os._exit(3)  # "exit status 3"',
    "is killed": 'os.kill(os.getpid(), 9)  # "ended by SIGKILL"',
    "is ended by a signal of real time": 'os.kill(os.getpid(), 40)  # "ended by signal 40"',
    "hangs": 'time.sleep(600)  # "no answer for 1 seconds"',
    "floods": 'while not time.sleep(1e-3): print("x")  # "no answer for 1 seconds, and .* lines"',
    "says so": 'print(json.dumps({"id": asked["id"], "error": "no"})); continue  # "an error: .no"',
    "has another answer": 'print(json.dumps({"id": asked["id"]})); continue  # "without clusters"',
}


@pytest.mark.parametrize("how", MISBEHAVING)
def test_a_text_that_a_program_cannot_answer_is_named_and_the_next_is_answered(
    tmp_path: Path, how: str
) -> None:
    act, _, message = MISBEHAVING[how].partition("  # ")
    code = EACH_LINE.replace(
        "    clusters =", f'    if asked["text"] == "Tom fell.":\n        {act}\n    clusters ='
    )
    # a short limit only where it is what ends the wait
    system = load("command", program(tmp_path, code), timeout=1 if "seconds" in message else 60)
    with pytest.raises(RefusedTextError, match=message.strip('"')) as caught:
        system.cluster(TEXTS)
    assert caught.value.index == 1
    assert not any(text in str(caught.value) for text in TEXTS[:3])
    others = [text for text in TEXTS if text != "Tom fell."]
    assert system.cluster(others) == expected(others)


@pytest.mark.parametrize(
    ("code", "timeout", "message"),
    [
        ("raise SystemExit(4)", 60, "does not answer a plain sentence: .*exit status 4"),
        ("time.sleep(600)", 0.3, "no answer for 0.3 seconds"),
        ("for line in sys.stdin: print('hello')", 3, "and 1 lines that are no answers"),
        (EACH_LINE.replace('"clusters": clusters', ""), 60, "without clusters"),
    ],
)
def test_a_program_that_cannot_answer_at_all_is_refused_at_once(
    tmp_path: Path, code: str, timeout: float, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load("command", program(tmp_path, code), start_timeout=timeout)
    assert caught.value.row is None


@pytest.mark.parametrize(
    ("command", "settings", "message"),
    [
        ("no-such-program here", {}, "no-such-program: the program cannot be started"),
        ("", {}, "the command is empty"),
        ('cat "one', {}, r"cannot be split into words \(No closing quotation\); quote it as you"),
        ("cat", {"method": "clusters"}, "did you mean 'cluster'"),
        ("cat", {"timeout": 0}, "no time for an answer"),
        (None, {}, "command needs a command; give the program"),
    ],
)
def test_wrong_settings_are_one_line(
    command: str | None, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load("command", command, **settings)


DIES_FOR_GOOD = """
marker = sys.argv[0] + ".dead"
if os.path.exists(marker):
    raise SystemExit(5)
for line in sys.stdin:
    asked = json.loads(line)
    if "Ann saw" in asked["text"]:
        open(marker, "w").close()
        raise SystemExit(5)
    print(json.dumps({"id": asked["id"], "clusters": []}))
"""


def test_a_program_that_does_not_start_again_stops_the_run(tmp_path: Path) -> None:
    system = load("command", program(tmp_path, DIES_FOR_GOOD))
    with pytest.raises(RefusedTextError, match="exit status 5"):
        system.cluster(["Ann saw Eve."])
    with pytest.raises(InputError, match="does not answer a plain sentence") as caught:
        system.cluster(["Tom fell."])
    assert caught.value.row is None


def test_nothing_that_it_has_started_outlives_it(tmp_path: Path) -> None:
    code = f"""
import subprocess
child = subprocess.Popen(["sleep", "600"])
open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
{EACH_LINE}"""
    system = load("command", program(tmp_path, code))
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    del system
    deadline = time.monotonic() + 30
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, pids))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_what_it_says_about_evaluation_texts_is_not_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = (
        'sys.stderr.write("ready\\n"); sys.stderr.flush()\ntime.sleep(0.5)\n'
        + EACH_LINE.replace(
            "    clusters =", '    sys.stderr.write(asked["text"] + "\\n")\n    clusters ='
        )
    )
    system = load("command", program(tmp_path, code))
    system.cluster(TEXTS)
    time.sleep(0.1)
    shown = capfd.readouterr().err
    assert "ready" in shown
    assert TEXTS[1] not in shown


def test_another_program_is_another_system(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double")
    command = program(tmp_path, EACH_LINE.replace('[[[0, 1], [1, len(asked["text"])]]]', "[]"))
    asked = SystemSettings("mine", "command", command)
    folder = run(split, asked.load(), asked, tmp_path / "runs")
    assert folder.record.counts["none"] == 576
    program(tmp_path, EACH_LINE + "# better")
    with pytest.raises(InputError, match="another checkpoint"):
        run(split, asked.load(), asked, tmp_path / "runs")


def test_a_key_comes_from_the_environment_and_is_written_nowhere(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    code = f"open({str(seen)!r}, 'w').write(' '.join(sys.argv[1:]))\n" + EACH_LINE
    line = program(tmp_path, code) + " --mode ${MY_MODE} --api-key given-by-hand"
    with pytest.raises(InputError, match="the environment variable MY_MODE, of the command"):
        load("command", line)
    monkeypatch.setenv("MY_MODE", "from-the-environment")
    asked = SystemSettings("own", "command", None, {"command": line})
    split = read_split(str(sample), "single")
    done = run(split, asked.load(), asked, tmp_path / "runs")
    assert seen.read_text() == "--mode from-the-environment --api-key given-by-hand"
    record = (done.path / "run.json").read_text()
    assert "given-by-hand" not in record
    assert "from-the-environment" not in record
    assert "${MY_MODE} --api-key ***" in record
