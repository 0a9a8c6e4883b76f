"""No file that a stranger sends ends in a traceback, a hang or half a result."""

import json

import pytest

from tests.cli.test_main import pronominal
from tests.fuzzing.commands import CASES, READS_NOTHING, WITH_UPSTREAM, Case, commands
from tests.fuzzing.harness import Inputs, fuzzed, sound
from tests.fuzzing.weights import WITH_WEIGHTS, write_weights

CALLS = 1
"""For each case; ``python -m tests.fuzzing --cases 300`` makes as many as are asked for."""


def test_every_command_that_reads_a_file_is_there() -> None:
    called = {case.command for case in (*CASES, *WITH_UPSTREAM, *WITH_WEIGHTS)}
    assert called | READS_NOTHING == {*commands()}


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case.command}" for i, case in enumerate(CASES)])
def test_a_damaged_file_is_one_line(case: Case, inputs: Inputs) -> None:
    # a command that refuses its sound inputs would be said to take damaged ones well
    assert sound(case, inputs) is None
    for call in range(CALLS):
        outcome = fuzzed(case, inputs, f"{case.arguments}/{call}")
        assert outcome.fault is None, f"{outcome.damage}: {outcome.fault}"


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("case", WITH_UPSTREAM, ids=[case.command for case in WITH_UPSTREAM])
def test_a_damaged_file_beside_upstreams_is_one_line(case: Case, inputs: Inputs) -> None:
    test_a_damaged_file_is_one_line(case, inputs)


FEW = [case for case in WITH_WEIGHTS if case.command in ("convert", "train fcoref", "train e2e")]


@pytest.fixture(scope="module")
def with_weights(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    folder = tmp_path_factory.mktemp("fuzzing-weights") / "inputs"
    folder.mkdir()
    write_weights(folder, ["fcoref", "e2e"])
    return Inputs(folder)


@pytest.mark.parametrize("case", FEW, ids=[f"{i}-{case.command}" for i, case in enumerate(FEW)])
def test_damaged_weights_and_trainings_are_one_line(case: Case, with_weights: Inputs) -> None:
    test_a_damaged_file_is_one_line(case, with_weights)


HEAD = ("fcoref", "config.json", "coref_head")
WORDS = ("fcoref", "tokenizer_config.json")
NO_LENGTH = "model_max_length in tokenizer_config.json is no number of tokens; give the tokenizer"


@pytest.mark.parametrize(
    ("damaged", "key", "value", "said"),
    [
        (HEAD, "top_lambda", [["a", 1]], "the field top_lambda is not a number; give a checkpoint"),
        *((WORDS, "model_max_length", value, NO_LENGTH) for value in ([1], "x", -1, True)),
        (WORDS, "sep_token_type", "\ud800", "tokenizer_config.json holds half a character"),
        (("e2e", "config.json"), "lm_path", {}, "config.json: a value is missing or of the wrong"),
    ],
)
def test_settings_of_weights_that_are_of_another_type_are_refused(
    with_weights: Inputs, damaged: tuple[str, ...], key: str, value: object, said: str
) -> None:
    system, name, *inside = damaged
    case = next(one for one in FEW if one.command == f"train {system}")
    file = with_weights.folder / "goldens" / system / "checkpoint" / name
    table = told = json.loads(file.read_text())
    for one in inside:
        table = table[one]
    table[key] = value
    file.write_text(json.dumps(told))
    result = pronominal(*case.words(with_weights.folder))
    with_weights.restore()
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert said in result.stderr
