"""`pronominal check-system` says of a broken system what is wrong, and of a good one nothing."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronominal import InputError
from pronominal.adapters import load
from pronominal.adapters.catalogue.own_object import instantiate
from pronominal.adapters.contract.check import Check, check_system
from tests.cli.test_main import pronominal


def faults(system: Any) -> list[str]:
    return [fault for check in check_system(system) for fault in check.faults]


def words(text: str) -> list[list[tuple[int, int]]]:
    """One cluster of the first and the last word."""
    parts = "".join(c if c.isalnum() else " " for c in text).split()
    if len(parts) < 2:
        return []
    end = text.rindex(parts[-1]) + len(parts[-1])
    start = text.index(parts[0])
    return [[(start, start + len(parts[0])), (end - len(parts[-1]), end)]]


class Own:
    """A clustering system with an answer of the case's own."""

    name = "own"

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self.cluster = answer


def each(answer: Callable[[str], Any]) -> Callable[[Sequence[str]], Any]:
    return lambda texts: [answer(text) for text in texts]


def shifted(text: str) -> list[list[tuple[int, int]]]:
    """Offsets into the UTF-16 of the text."""
    clusters = words(text)
    return [
        [tuple(len(text[:place].encode("utf-16-le")) // 2 for place in span) for span in cluster]
        for cluster in clusters
    ]


def raising(text: str) -> list[Any]:
    if not text:
        raise IndexError(text)
    return words(text)


def moved(texts: Sequence[str]) -> Any:
    random.random()
    return [words(text) for text in texts]


def raising_alone(texts: Sequence[str]) -> Any:
    if len(texts) == 1:
        raise KeyError(texts[0])
    return [words(text) for text in texts]


def exiting(texts: Sequence[str]) -> Any:
    raise SystemExit(texts[0])


NOT_EVEN_CLUSTERS = "two integers"

BROKEN = {
    "one answer too few": (lambda texts: [[]] * (len(texts) - 1), "answers to 6 inputs"),
    "no list": (lambda texts: None, "returns a NoneType"),
    "no clusters": (each(lambda text: None), "no list of clusters"),
    "nothing found": (each(lambda text: []), "no cluster in any of 6 plain sentences"),
    "outside": (each(lambda text: [[(0, 1), (2, len(text) + 1)]]), "outside the text"),
    "singletons": (each(lambda text: [words(text)[0][:1]] if words(text) else []), "fewer than"),
    "twice": (each(lambda text: [words(text)[0] * 2] if words(text) else []), "span twice"),
    "UTF-16": (each(shifted), "inside a word"),
    "order": (lambda texts: [words(texts[0])] * len(texts), "in another order"),
    "batch": (lambda texts: [words(t)[: len(texts) - 1] for t in texts], "alone, inputs have"),
    "empty text": (each(raising), "at odd text 1 (''...): IndexError was raised"),
    "random state": (moved, "the state of the module random"),
    "raises alone": (raising_alone, "KeyError was raised (test_check.py, line "),
    "exits": (exiting, "SystemExit was raised (test_check.py, line "),
    "fractions": (each(lambda text: [[(0.5, 1), (2, 2.5)]]), NOT_EVEN_CLUSTERS),
    "whole fractions": (each(lambda text: [[(0.0, 1.0), (2.0, 3.0)]]), NOT_EVEN_CLUSTERS),
    "truth values": (each(lambda text: [[(False, True), (2, 3)]]), NOT_EVEN_CLUSTERS),
    "digits": (each(lambda text: [[("0", "1"), ("2", "3")]]), NOT_EVEN_CLUSTERS),
    "a mapping": (each(lambda text: {}), NOT_EVEN_CLUSTERS),
    "no texts": (lambda texts: [words(texts[0])] + [words(t) for t in texts[1:]], "IndexError"),
}


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_good_system_has_no_faults(kind: Callable[[Any], Any]) -> None:
    assert faults(Own(each(lambda text: [kind(cluster) for cluster in words(text)]))) == []


def test_promises_about_answers_that_are_not_there_are_not_examined() -> None:
    _, missing, *others = check_system(Own(lambda texts: None))
    assert missing.faults == ("it returns a NoneType and not a list",)
    assert [(check.faults, check.examined) for check in others] == [((), False)] * 6


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_system_is_told_what_is_wrong(name: str) -> None:
    answer, message = BROKEN[name]
    found = faults(Own(answer))
    assert any(message in fault for fault in found), found


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (lambda i: [[1.0] for _ in i], "one number for each of the candidates"),
        (lambda i: [[2.0, 0.0] for _ in i], "outside [0, 1]"),
        (lambda i: [["x", 1] for _ in i], "no list of numbers"),
        (lambda i: [["0.5", "0.5"] for _ in i], "no list of numbers"),
        (lambda i: [{0: 1.0, 1: 0.0} for _ in i], "no list of numbers"),
        (lambda i: [[float(one.label == 0), 0.5] for one in i], "looks at the solution"),
    ],
)
def test_a_choosing_system_is_checked(system: Any, message: str) -> None:
    class Choosing:
        name = "choosing"
        choose = staticmethod(system)

    assert any(message in fault for fault in faults(Choosing()))


def test_candidates_that_are_as_probable_are_noted() -> None:
    class Undecided:
        name = "undecided"

        def choose(self, instances: Any) -> list[Any]:
            return [np.array([0.5, 0.5]) for _ in instances]

    checks = [*check_system(Undecided())]
    assert not any(check.faults for check in checks)
    (note,) = (note for check in checks for note in check.notes)
    assert note.startswith("no candidate is the most probable in 5 of 5 plain sentences")
    assert note.endswith("'none', which is right only where neither is the answer (GAP)")


@pytest.mark.parametrize("name", ["toy-nine-in-ten", "toy-blind-to-xe", "toy-stereotypes"])
def test_systems_for_teaching_are_said_to_look_at_the_label(name: str) -> None:
    (fault,) = faults(load(name))
    assert fault == "with another label it answers differently: it looks at the solution"


@pytest.mark.parametrize("read", ["he", "she", "they", "xe"])
def test_the_label_is_not_looked_at_for_one_pronoun_set_either(read: str) -> None:
    class Reading:
        name = "reading"

        def choose(self, instances: Any) -> list[list[float]]:
            seen = [one.columns["pronoun_set"] == read and one.label == 0 for one in instances]
            return [[1.0, 0.0] if first else [0.0, 1.0] for first in seen]

    assert faults(Reading()) == [
        "with another label it answers differently: it looks at the solution"
    ]


def test_a_system_is_not_said_to_look_at_the_label_when_it_does_not() -> None:
    class Undefined:
        name = "undefined"

        def choose(self, instances: Any) -> list[list[float]]:
            return [[float("nan"), 0.5] for _ in instances]

    class Guessing(Undefined):
        def choose(self, instances: Any) -> list[list[float]]:
            return [[random.random(), 0.5] for _ in instances]

    assert faults(Undefined()) == ["a number is outside [0, 1]"]
    found = faults(Guessing())
    assert "asked twice, it answers differently" in found
    assert not any("label" in fault for fault in found)


def test_a_system_that_is_offered_options_is_checked() -> None:
    class Offered:
        name = "offered"

        def option_loglikelihoods(self, prompts: Any, options: Any) -> list[list[float]]:
            return [[-1.0 * len(option) for option in every][:2] for every in options]

    assert faults(Offered()) == ["it does not give one number for each of the options"]


@pytest.mark.parametrize("name", ["first-mention", "parallelism", "random", "always-he"])
def test_systems_of_ours_keep_the_contract(name: str) -> None:
    checks = list(check_system(load(name)))
    assert len(checks) >= 6
    assert all(isinstance(check, Check) and not check.faults for check in checks)


def test_a_number_may_differ_in_its_last_digits_only() -> None:
    class Scoring:
        name = "scoring"

        def __init__(self, noise: float) -> None:
            self.noise = noise

        def loglikelihood(self, instances: Any) -> list[list[float]]:
            return [[-5.0 + self.noise * len(instances), -1.0, -2.0, -3.0] for _ in instances]

    assert faults(Scoring(1e-6)) == []
    assert any("alone" in fault for fault in faults(Scoring(0.1)))


def test_a_generating_system_is_checked() -> None:
    class Writing:
        name = "writing"

        def generate(self, prompts: Sequence[str]) -> list[Any]:
            return [3 for _ in prompts]

    assert faults(Writing()) == ["an answer is no string"]


def test_something_that_is_no_system_is_refused() -> None:
    with pytest.raises(InputError, match="object is not a system"):
        faults(object())


@pytest.mark.parametrize(
    ("annotation", "value", "told"),
    [
        (int | None, "x", "mine's beam is 'x'; give a whole number"),
        (float, True, "mine's beam is True; give a number"),
        (int | float, "3,5", "give a whole number or a number"),
        (float, 3, None),
        (int | None, None, None),
        (int | str, "x", None),
        (list[int], "x", None),
    ],
)
def test_a_word_is_no_number(annotation: Any, value: object, told: str | None) -> None:
    class Mine:
        def __init__(self, beam: Any) -> None:
            self.beam = beam

    Mine.__init__.__annotations__["beam"] = annotation
    if told is None:
        assert instantiate("mine", Mine, {"beam": value}).beam == value
    else:
        with pytest.raises(InputError, match=told):
            instantiate("mine", Mine, {"beam": value})


def test_the_command_exits_with_1_when_a_promise_is_broken(tmp_path: Path) -> None:
    (tmp_path / "checked_mine.py").write_text(
        "class Mine:\n    name = 'mine'\n    def choose(self, instances):\n        return None\n"
    )
    good = pronominal("check-system", "first-mention")
    assert (good.returncode, good.stdout.splitlines()[-1]) == (0, "7 of 7 promises kept")
    bad = pronominal("check-system", "checked_mine:Mine", cwd=tmp_path)
    assert bad.returncode == 1
    assert "FAULT  choose: one answer for each input" in bad.stdout
    assert "- it returns a NoneType and not a list" in bad.stdout
    as_json = pronominal("check-system", "checked_mine:Mine", "--json", cwd=tmp_path)
    assert as_json.returncode == 1
    assert {"promise", "faults", "examined", "notes"} == {*json.loads(as_json.stdout)["checks"][0]}
    assert bad.stdout.splitlines()[-1] == "1 of 7 promises kept, 5 not examined"


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("nowhere_at_all:Mine", "there is no module nowhere_at_all"),
        ("checked_empty:Mine", "there is no Mine"),
        ("checked_wrong", "no system 'checked_wrong'; name its class, as checked_wrong:Mine"),
        ("checked_wrong.py", "name its class, as checked_wrong:Mine"),
        ("lingmess:nofolder", "for lingmess with weights write lingmess=nofolder"),
        ("stanza:nofolder", "for stanza with weights write stanza=nofolder"),
        ("checked_broken:Mine", "NameError was raised (checked_broken.py, line 1)"),
        ("checked_exits:Mine", "checked_exits cannot be imported: SystemExit was raised"),
        ("checked_wrong:Mine", "checked_wrong:Mine cannot be made: KeyError was raised"),
        ("checked_wrong:made", "made already and takes no settings"),
        ("checked_needs:Mine", "needs the package no_such_package_at_all"),
        ("frist-mention", "did you mean 'first-mention'?"),
    ],
)
def test_a_system_that_cannot_be_loaded_is_one_line(
    tmp_path: Path, system: str, message: str
) -> None:
    (tmp_path / "checked_empty.py").write_text("")
    (tmp_path / "checked_broken.py").write_text("undefined")
    (tmp_path / "checked_exits.py").write_text("raise SystemExit(0)")
    (tmp_path / "checked_needs.py").write_text("import no_such_package_at_all")
    (tmp_path / "checked_wrong.py").write_text(
        "class Mine:\n    name = 'mine'\n    def __init__(self, beam=1): raise KeyError('x')\n"
        "made = 3\n"
    )
    result = pronominal("check-system", system, "--set", "beam=3", cwd=tmp_path)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert message in result.stderr
