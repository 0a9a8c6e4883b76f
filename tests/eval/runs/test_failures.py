"""One text that a system cannot answer costs one row: it is named, counted, and asked for again."""

import json
import logging
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import InputError, Span
from pronominal.cli.progress import loud_warnings
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import NONE
from pronominal.eval.runs.answers import read_answers, reread
from pronominal.eval.runs.asked_systems import parse_systems, refuse_unknown, system_of_settings
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.runner import CHUNK, SystemSettings, run
from pronominal.eval.runs.shards import Shard, merge
from pronominal.eval.runs.units import SCORE, UNITS
from pronominal.eval.scores import task_of
from tests.cli.test_main import pronominal
from tests.eval.evaluated import evaluate

ASKED = SystemSettings("fragile", "fragile")
CULPRITS = (3, CHUNK - 1, CHUNK, 500)
"""Rows in the first, the second and the third chunk, one at each side of a border."""


class Fragile:
    """Gives an empty cluster list, but for some texts what a broken system gives."""

    name = "fragile"

    def __init__(self, culprits: Sequence[str], break_at: Callable[[str], Any]) -> None:
        self.culprits, self.break_at = set(culprits), break_at

    def cluster(self, texts: Sequence[str]) -> Any:
        answers = [self.break_at(text) if text in self.culprits else [] for text in texts]
        return [answer for answer in answers if answer != "left out"]


def raise_with_the_text(text: str) -> None:
    raise ValueError(text)


def exit_with_the_text(text: str) -> None:
    raise SystemExit(text)


BREAKS = {
    "raises": raise_with_the_text,
    "exits": exit_with_the_text,
    "too few answers": lambda text: "left out",
    "None": lambda text: None,
    "a number": lambda text: 7,
    "a string": lambda text: [text],
    "outside the text": lambda text: [[Span(0, 1), Span(2, len(text) + 1)]],
    "negative": lambda text: [[Span(-3, -1), Span(0, 2)]],
    "the same span twice": lambda text: [[Span(0, 2), Span(0, 2)]],
    "words instead of offsets": lambda text: [[("she", "her")]],
    "fractions": lambda text: [[(0.5, 2), (2, 3.5)]],
    "truth values": lambda text: [[(False, True), (2, 3)]],
    "digits": lambda text: [[("0", "2"), ("3", "4")]],
    "a mapping": lambda text: {},
}


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(str(sample), "double")


def fragile(split: Split, broken: str, rows: Sequence[int] = CULPRITS) -> Fragile:
    texts = split.table["text"].to_pylist()
    assert len({*texts}) == len(texts)
    return Fragile([texts[row] for row in rows], BREAKS[broken])


def ids(split: Split, rows: Sequence[int] = CULPRITS) -> list[str]:
    every = split.table["id"].to_pylist()
    return [every[row] for row in rows]


@pytest.mark.parametrize("broken", BREAKS)
def test_a_row_that_cannot_be_answered_is_recorded_and_the_run_goes_on(
    split: Split, tmp_path: Path, broken: str
) -> None:
    folder = run(split, fragile(split, broken), ASKED, tmp_path)
    assert folder.complete
    assert list(read_failures(folder.path)) == ids(split)
    lines = [json.loads(line) for line in folder.predictions.read_text().splitlines()]
    assert len(lines) == 576 - len(CULPRITS)
    assert not {line["id"] for line in lines} & {*ids(split)}
    counts = json.loads((folder.path / "run.json").read_text())["counts"]
    assert (counts["rows"], counts["failed"]) == (576, len(CULPRITS))
    written = "".join(path.read_text() for path in folder.path.iterdir())
    assert not any(text[:25] in written for text in split.table["text"].to_pylist())


@pytest.mark.parametrize("broken", BREAKS)
def test_strict_stops_at_the_first(split: Split, tmp_path: Path, broken: str) -> None:
    with pytest.raises(InputError) as caught:
        run(split, fragile(split, broken), ASKED, tmp_path, strict=True)
    message = str(caught.value)
    assert (broken == "too few answers") or (ids(split)[0] in message)
    assert not any(text[:25] in message for text in split.table["text"].to_pylist())


def test_the_same_run_asks_again_for_what_failed(split: Split, tmp_path: Path) -> None:
    whole = run(split, Fragile([], len), ASKED, tmp_path / "whole").predictions.read_bytes()
    run(split, fragile(split, "raises"), ASKED, tmp_path)
    better = run(split, fragile(split, "raises", CULPRITS[1:3]), ASKED, tmp_path)
    assert list(better.failures) == ids(split, CULPRITS[1:3])
    for name in (SCORE, UNITS):
        (better.path / name).touch()
    assert run(split, fragile(split, "raises", CULPRITS[1:3]), ASKED, tmp_path).failures
    assert (better.path / SCORE).exists()
    best = run(split, Fragile([], len), ASKED, tmp_path)
    assert best.predictions.read_bytes() == whole
    # they were those of other predictions
    assert not {SCORE, UNITS} & {file.name for file in best.path.iterdir()}
    assert not (best.path / "failures.jsonl").exists()
    assert "failed" not in best.record.counts


WRITTEN = (0, CHUNK - 2, 2 * CHUNK - 3)
"""How many predictions are on disk after no, one and two chunks."""

FAILED = (0, 2, 3)
"""And how many failures, which are written before the predictions of their chunk."""


def test_a_run_with_failures_killed_at_any_byte_ends_with_the_same_bytes(
    split: Split, tmp_path: Path
) -> None:
    system = fragile(split, "raises")
    folder = run(split, system, ASKED, tmp_path)
    files = folder.predictions, folder.path / "failures.jsonl"
    whole = [file.read_bytes() for file in files]
    lines = [content.splitlines(keepends=True) for content in whole]

    @settings(max_examples=15)
    @given(cut=st.integers(0, 10**9), chunks=st.none() | st.integers(0, 2))
    def killed_at(cut: int, chunks: int | None) -> None:
        folder.describe(complete=False)
        left = [*whole]
        if chunks is None:
            left[0] = whole[0][: cut % (len(whole[0]) + 1)]
        else:
            left[0] = b"".join(lines[0][: WRITTEN[chunks]])
            kept = len(b"".join(lines[1][: FAILED[chunks]]))
            left[1] = whole[1][: kept + cut % (len(whole[1]) - kept + 1)]
        for file, content in zip(files, left, strict=True):
            file.write_bytes(content)
        run(split, system, ASKED, tmp_path)
        same = [file.read_bytes() == content for file, content in zip(files, whole, strict=True)]
        assert same == [True, True]

    killed_at()


def test_a_system_that_says_it_can_answer_nothing_stops_the_run(
    split: Split, tmp_path: Path
) -> None:
    class Away:
        name, calls = "away", 0

        def cluster(self, texts: Sequence[str]) -> None:
            self.calls += 1
            raise InputError("the server is away", cure="start it")

    away = Away()
    with pytest.raises(InputError, match="the server is away"):
        run(split, away, ASKED, tmp_path)
    assert away.calls == 1


def test_failed_rows_count_as_rows_without_an_answer_and_tables_say_so(
    split: Split, tmp_path: Path
) -> None:
    scores = evaluate(split, ASKED, tmp_path, system=fragile(split, "raises"))
    assert scores["failed"] == len(CULPRITS)
    assert scores["overall"]["n"] == 576
    (folder,) = tmp_path.iterdir()
    assert len(read_answers(folder, split)) == 576
    for table in task_of("sample").comparison_tables({"fragile": scores}):
        (note,) = (note for note in table.notes if note.startswith("fragile: "))
        assert note.startswith("fragile: 4 rows failed and count as rows without an answer; the ")
        assert "the first: ValueError was raised (test_failures.py, line " in note


def test_everything_may_fail(split: Split, tmp_path: Path) -> None:
    system = fragile(split, "None", range(576))
    scores = evaluate(split, ASKED, tmp_path, system=system)
    assert (scores["failed"], scores["overall"]["accuracy"]) == (576, 0)


def test_shards_bring_their_failures_along(split: Split, tmp_path: Path) -> None:
    system = fragile(split, "raises")
    parts = [run(split, system, ASKED, tmp_path, shard=Shard(i, 3)).path for i in (1, 2, 3)]
    assert [*read_failures(merge(parts))] == ids(split)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"{", "the line is not valid JSON"),
        (b"[" * 10**5 + b"]" * 10**5, "the line is not valid JSON"),
        (b"\xff", "the text is not UTF-8"),
        (b"", "the line is not valid JSON"),
        (b"7", "the line is not a JSON object"),
        (b"{}", "the field id is missing"),
        (b'{"id": "x", "cause": 1}', "the field cause is not a string"),
        (b'{"id": ["x"], "cause": "c"}', "the field id is not a string"),
    ],
)
def test_a_damaged_line_is_named(split: Split, tmp_path: Path, line: bytes, cause: str) -> None:
    folder = run(split, fragile(split, "raises"), ASKED, tmp_path).path
    lines = (folder / "failures.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "failures.jsonl").write_bytes(b"".join([lines[0], line + b"\n", *lines[1:]]))
    for read in (read_failures, lambda path: read_answers(path, split)):
        with pytest.raises(InputError, match=rf"failures\.jsonl, line 2: {cause}; remove"):
            read(folder)
    with pytest.raises(InputError, match=rf"failures\.jsonl, line 2: {cause}; remove"):
        run(split, Fragile([], len), ASKED, tmp_path)


def test_failures_do_not_become_answers_by_another_reading(split: Split, tmp_path: Path) -> None:
    rows, texts = split.instances(), split.table["text"].to_pylist()
    system = fragile(split, "raises")
    # a pronoun without a cluster would have the answer of the row before
    found = {row.text: [[row.candidates[0].span, row.pronoun.span]] for row in rows}
    system.cluster = lambda asked: [  # type: ignore[method-assign]
        system.break_at(text) if text in system.culprits else found[text] for text in asked
    ]
    folder = run(split, system, ASKED, tmp_path)
    carried = read_answers(folder.path, split, "upstream-spanbert")
    assert [texts[row] in system.culprits for row in range(len(rows))] == [
        decision == NONE for decision in carried
    ]
    with pytest.raises(InputError, match="the run failed at 4 rows"):
        reread(split, folder.path, "upstream", tmp_path / "other.jsonl")
    assert not (tmp_path / "other.jsonl").exists()


FAILED_ONCE = "bad: 1 row failed and counts as a row without an answer; the first: RuntimeError"

OWN = """
class Mine:
    name = "mine"

    def __init__(self, wrong="nobody"):
        self.wrong = wrong

    def choose(self, instances):
        if any(instance.id == self.wrong for instance in instances):
            raise RuntimeError(instances[0].text)
        return [[1.0, 0.0] for _ in instances]
"""


def test_the_command_line_exits_with_1_and_says_how_many(
    split: Split, sample: Path, tmp_path: Path
) -> None:
    (tmp_path / "failing_mine.py").write_text(OWN)
    (tmp_path / "systems.toml").write_text(
        f'[good]\nsystem = "failing_mine:Mine"\n\n[bad]\nsystem = "failing_mine:Mine"\n'
        f'wrong = "{ids(split)[0]}"\n'
    )
    evaluating = ("evaluate", "--dataset", sample, "--config", "double", "--systems")
    result = pronominal(*evaluating, "systems.toml", cwd=tmp_path)
    assert result.returncode == 1
    assert "bad failed at 1 rows" in result.stderr
    assert "code of your own that you mend is another system, so give it" in result.stderr
    assert "good failed" not in result.stderr
    assert FAILED_ONCE in " ".join(result.stdout.split())
    scoring = ("score", "sample", "--dataset", sample, "--config", "double", "--json")
    result = pronominal(
        *scoring, "--predictions", tmp_path / "runs" / "sample.double.test.bad", cwd=tmp_path
    )
    assert (result.returncode, json.loads(result.stdout)["failed"]) == (1, 1)
    assert pronominal("report", "runs", "--out", "r.html", cwd=tmp_path).returncode == 0
    assert FAILED_ONCE in (tmp_path / "r.html").read_text()
    strict = pronominal(*(*evaluating, "systems.toml", "--strict", "--out", "other"), cwd=tmp_path)
    assert (strict.returncode, len(strict.stderr.splitlines())) == (2, 1)
    assert f"id {ids(split)[0]}: RuntimeError was raised (failing_mine.py, line 10)" in (
        strict.stderr
    )


@pytest.mark.parametrize(
    ("argument", "label", "name", "checkpoint"),
    [
        ("random", "random", "random", None),
        ("lingmess=folder:x", "lingmess", "lingmess", "folder:x"),
        ("mine:System", "System", "mine:System", None),
        ("a.b:System.make", "System.make", "a.b:System.make", None),
        ("ours=mine:System", "ours", "mine:System", None),
        ("mine:System=weights", "System", "mine:System", "weights"),
        ("second=random", "second", "random", None),
        ("large=lingmess=folder:x=y", "large", "lingmess", "folder:x=y"),
        ("ours=mine:System=weights", "ours", "mine:System", "weights"),
    ],
)
def test_systems_are_named_on_the_command_line(
    argument: str, label: str, name: str, checkpoint: str | None
) -> None:
    (asked,) = parse_systems([argument])
    assert (asked.label, asked.name, asked.checkpoint) == (label, name, checkpoint)
    refuse_unknown([asked])


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("a/b=mine:System", "cannot be the name of a folder"),
        ("rndom", "there is no system"),
        ("mine=folder", "there is no system"),
        ("random=3", "no weights; write random alone, and its seed as --set seed=VALUE"),
        ("random=lingmess", "no weights; write random alone"),
        ("gpt2", "after the name of a system, as lm=gpt2, lm-prompts=gpt2 or lingmess=gpt2"),
        ("mine=./folder", "lm-prompts=./folder or lingmess=./folder"),
        ("http://127.0.0.1:8000/v1", "a system, as lm-server=http://127.0.0.1:8000/v1"),
        ("random,first-mention", "by itself: -s random -s first-mention"),
        ("lm:org/model", "there is no system 'lm:org/model'; write lm=org/model"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(argument: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        refuse_unknown(parse_systems([argument]))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["random", "random"], "random is given 2 times; give it once, or .* LABEL=random"),
        (["a=random", "a=first-mention"], "two systems are called a; give one another label"),
    ],
)
def test_nothing_is_asked_for_twice(arguments: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        refuse_unknown(parse_systems(arguments))


def test_other_weights_of_a_system_get_a_number() -> None:
    asked = parse_systems(["bert=seed-1", "bert=seed-2"])
    assert [one.label for one in asked] == ["bert", "bert-2"]


def test_a_warning_of_a_system_is_shown_without_its_words(
    split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def warn_of_the_text(text: str) -> list[list[Span]]:
        warnings.warn(f"odd: {text}", RuntimeWarning, stacklevel=1)
        return []

    texts = split.table["text"].to_pylist()
    system = Fragile(texts, warn_of_the_text)
    with loud_warnings():
        warnings.simplefilter("always")
        run(split, system, ASKED, tmp_path)
    told = capsys.readouterr().err
    assert not any(text in told for text in texts)
    (line,) = told.splitlines()
    assert "the system warns: RuntimeWarning (test_failures.py, line " in line


def test_what_a_system_logs_is_shown_without_its_words(
    split: Split, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def log_the_text(text: str) -> list[list[Span]]:
        try:
            raise ValueError(text)
        except ValueError:
            logging.getLogger("stranger.model").exception("odd: %s", text)
        logging.getLogger("pronominal.own").warning("ours")
        return []

    texts = split.table["text"].to_pylist()
    run(split, Fragile(texts, log_the_text), ASKED, tmp_path)
    assert not any(text in caplog.text for text in texts)
    assert "the system logs: ERROR of stranger.model (test_failures.py, line " in caplog.text
    assert "Traceback" not in caplog.text
    assert "ours" in caplog.messages
    logging.getLogger("stranger.model").warning("afterwards")
    assert caplog.messages[-1] == "afterwards"


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ("name = 'first-word'", "first-word"),
        ("name: str = 'first-word'", "first-word"),
        ("name = 'no folder/name'", "Mine"),
        ("name = 'a' + 'b'", "Mine"),
        ("def __init__(self): self.name = 'made'", "Mine"),
        ("name = ", "Mine"),
    ],
)
def test_an_own_system_is_called_by_the_name_that_its_class_states(
    body: str, label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = f"called_{abs(hash(body))}"
    Path(f"{place}.py").write_text(f"raise SystemExit\nclass Mine:\n    {body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    asked, again = parse_systems([f"{place}:Mine", f"{place}:Mine=weights"])
    assert (asked.label, again.label) == (label, f"{label}-2")
    assert system_of_settings({"system": f"{place}:Mine"}).label == label
    assert parse_systems([f"other={place}:Mine"])[0].label == "other"
