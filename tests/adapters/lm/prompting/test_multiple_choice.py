"""Models that are offered answers: agreement with a plain loop, and what a run keeps of it."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("transformers") is None:
    pytest.skip("needs the extra lm", allow_module_level=True)

import torch

from pronominal import BOTH, Decision, InputError
from pronominal.adapters import load
from pronominal.adapters.lm.prompting.prompts import Prompting
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.runner import SystemSettings, predict, run
from pronominal.eval.scores.winopron.task import TASK as WINOPRON
from pronominal.eval.tables.comparison import prompt_tables
from pronominal.instances import FillingInstance
from pronominal.spans import Mention
from tests.adapters.lm.language_models import CAUSAL, MASKED, T5, own_instances, save
from tests.adapters.lm.prompting.test_prompting import PRONOUNS, SENTENCE, SLOT
from tests.eval.evaluated import score_predictions
from tests.eval.scores.tables import tables_of

FAMILIES = {**CAUSAL, "t5": T5}
ASKED = own_instances()
TEXTS = [text for asked in ASKED for text in asked.filled()]
PROMPTS = [
    "Who whistled?\nOPTIONS:\n- pilot\n- night baker",
    "Who?\n",
    "Nobody knew whether the singer was ill or had only forgotten the key. Who was ill?",
]
OPTIONS = [["pilot", "night baker"], ["they"], ["singer", "the gardener", "xe"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    made: dict[str, str] = {}

    def of(family: str) -> str:
        if family not in made:
            place = tmp_path_factory.mktemp(family)
            made[family] = str(save(place, FAMILIES[family], [*TEXTS, *PROMPTS]))
        return made[family]

    return of


def loaded(checkpoint: str, **settings: Any) -> Any:
    return load("lm-multiple-choice", checkpoint, device="cpu", **settings)


def plain(system: Any, turn: str, option: str) -> float:
    """One option of one prompt through the model."""
    model, tokenizer = system._loaded.model, system._loaded.tokenizer
    before = tokenizer(turn).input_ids
    with torch.inference_mode():
        if model.config.is_encoder_decoder:
            answer = tokenizer(option).input_ids
            begun = torch.tensor([[0, *answer[:-1]]])
            logits = model(input_ids=torch.tensor([before]), decoder_input_ids=begun).logits[0]
            found = logits.log_softmax(dim=-1)[range(len(answer)), answer]
        else:
            blank = "" if turn.endswith("\n") else " "
            ids = torch.tensor([tokenizer(f"{turn}{blank}{option}").input_ids])
            logits = model(ids).logits[0].log_softmax(dim=-1)[:-1]
            found = logits.gather(1, ids[0, 1:, None])[len(before) - 1 :]
    return found.double().sum().item()


@pytest.mark.parametrize("family", ["gpt2", "llama", "opt", "t5"])
@pytest.mark.parametrize("batch_tokens", [None, 20])
def test_options_have_the_scores_of_a_plain_loop(
    family: str, batch_tokens: int | None, folder: Callable[[str], str]
) -> None:
    system = loaded(folder(family), batch_tokens=batch_tokens)
    found = system.option_loglikelihoods(PROMPTS, OPTIONS)
    for turn, options, scores in zip(PROMPTS, OPTIONS, found, strict=True):
        expected = [plain(system, turn, option) for option in options]
        assert scores == pytest.approx(expected, abs=1e-4)
    assert system.option_loglikelihoods([], []) == []


@pytest.mark.parametrize("family", ["gpt2", "t5"])
def test_rows_are_answered_as_the_plain_loop_answers_them(
    family: str, folder: Callable[[str], str]
) -> None:
    system = loaded(folder(family), prompts=["3", "8"])
    decided = set()
    for asked, one in zip(ASKED[:12], predict(system, ASKED[:12]), strict=True):
        for prompt in system.prompting.of(asked):
            expected = [plain(system, prompt.text, form) for form in asked.options]
            assert one.given["scores"][prompt.name] == pytest.approx(expected, abs=1e-4)
            best = max(range(4), key=expected.__getitem__)
            assert one.given["likeliest"][prompt.name] == best
            decided.add(best)
    assert len(decided) > 1


def test_tokens_across_the_border_are_counted_for_every_option(
    folder: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an option changes the last token before it, all are compared from that token on."""
    system = loaded(folder("gpt2"))
    known = {"a ": [5, 6], "a b": [5, 7], "a c": [5, 6, 8], "a": [5]}
    monkeypatch.setattr(system._turns, "tokens", known.__getitem__)
    given: list[Any] = []
    monkeypatch.setattr(system._scorer, "score", lambda *args: given.append(args) or [0.0, 0.0])
    monkeypatch.setattr("numpy.split", lambda *_: [])
    system.option_loglikelihoods(["a "], [["b", "c"]])
    assert given[0][1].tolist() == [1, 1]
    assert given[0][0].lengths.tolist() == [2, 3]


def test_a_chat_models_answer_follows_its_template(tmp_path: Path) -> None:
    place = save(tmp_path / "chat", CAUSAL["llama"], [*TEXTS, "user assistant"])
    template = "{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}{{ 'assistant ' }}"
    (place / "chat_template.jinja").write_text(template)
    system, bare = loaded(str(place)), loaded(str(place), chat="none")
    asked = [["he", "she"]]
    (found,) = system.option_loglikelihoods(["Who?"], asked)
    tokenizer = system._loaded.tokenizer
    turn = "user Who? assistant "
    texts = [turn, *(f"{turn}{form}" for form in asked[0])]
    before, *whole = (tokenizer(text, add_special_tokens=False).input_ids for text in texts)
    first = len(before) - 1  # the last token is the blank, which becomes part of the answer's
    with torch.inference_mode():
        for tokens, score in zip(whole, found, strict=True):
            ids = torch.tensor([tokens])
            logits = system._loaded.model(ids).logits[0].log_softmax(dim=-1)[:-1]
            expected = logits.gather(1, ids[0, 1:, None])[first - 1 :].sum().item()
            assert score == pytest.approx(expected, abs=1e-4)
    assert bare.option_loglikelihoods(["Who?"], asked) != [found]


def test_a_run_says_which_question_it_asked(
    folder: Callable[[str], str], sample: Path, tmp_path: Path
) -> None:
    split = read_split(str(sample), "double").first(48)
    settings = {"prompts": ["2-none", "9-forward"], "device": "cpu"}
    asked = SystemSettings("offered", "lm-multiple-choice", folder("gpt2"), settings)
    done = run(split, asked.load(), asked, tmp_path)
    assert "each option as the answer to a prompt" in done.record.system.question
    lines = [json.loads(line) for line in done.predictions.read_text().splitlines()]
    assert {tuple(line["likeliest"]) for line in lines} == {("2-none", "9-forward")}
    assert all("answers" not in line and "prompt" not in line for line in lines)
    scores = score_predictions(split, done.path)
    assert "prompts" not in scores
    labels = split.table["label"].to_pylist()
    for prompt in ("2-none", "9-forward"):
        right = sum(a["likeliest"][prompt] == b for a, b in zip(lines, labels, strict=True))
        block = scores["multiple_choice"]["by_prompt"][prompt]
        assert block["accuracy"] == pytest.approx(right / len(labels))
        assert block["none"] == 0
    (table,) = prompt_tables({"offered": scores, "other": {"n": 48}})
    assert table.title == "Accuracy over prompts: the likeliest of the options offered"
    assert [row[0] for row in table.rows] == ["offered"]
    assert table in tables_of(WINOPRON, {"offered": scores})


class Preferring:
    """Prefers the option at a place that depends on the prompt."""

    name = "preferring"

    def __init__(self, places: Sequence[int], tied: bool = False) -> None:
        self.prompting = Prompting(prompts=("0", "1", "8"))
        self.places, self.tied = places, tied

    def option_loglikelihoods(
        self, prompts: Sequence[str], options: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        places = [*self.places] * (len(prompts) // 3)
        return [
            [0.0 if self.tied or n == place else -1.0 for n in range(len(every))]
            for place, every in zip(places, options, strict=True)
        ]


@pytest.mark.parametrize(
    ("places", "tied", "expected"),
    [((1, 2, 1), False, Decision(1)), ((0, 1, 2), False, BOTH), ((0, 0, 0), True, BOTH)],
)
def test_the_choice_is_that_of_most_prompts(
    places: tuple[int, ...], tied: bool, expected: Decision
) -> None:
    (found,) = predict(Preferring(places, tied), [SLOT])
    assert found.decision == expected
    assert [*found.given["likeliest"].values()] == (["both"] * 3 if tied else [*places])


def test_text_is_kept_only_when_asked_for() -> None:
    (found,) = predict(Preferring((0, 0, 0)), [SLOT], include_text=True)
    assert found.given["prompt"]["0"] == Prompting().of(SLOT)[0].text
    assert "pilot" not in json.dumps(predict(Preferring((0, 0, 0)), [SLOT])[0].given)


@pytest.mark.parametrize("answer", [[[0.0]] * 3, [[float("nan")] * 4] * 3, ["none"] * 3, [[0.0]]])
def test_answers_that_are_no_numbers(answer: Any) -> None:
    class Wrong(Preferring):
        def option_loglikelihoods(self, prompts: Any, options: Any) -> Any:
            return answer

    with pytest.raises(InputError, match=r"preferring (does not give one finite|gives 1 answers)"):
        predict(Wrong((0, 0, 0)), [SLOT])


def test_a_masked_model_and_a_long_prompt_are_refused(
    folder: Callable[[str], str], tmp_path: Path
) -> None:
    masked = save(tmp_path / "bert", MASKED["bert"], TEXTS)
    with pytest.raises(InputError, match="a masked model answers no prompts"):
        loaded(str(masked))
    system = loaded(folder("gpt2"), prompts=["0"])
    text = f"{'Stones lay there. ' * 150}___ keys."
    place = text.index("___")
    long = FillingInstance("long", text, Mention("___", place, place + 3), PRONOUNS, 0)
    with pytest.raises(InputError, match=r"id long: .* has \d+ tokens, and the model reads 256"):
        predict(system, [SLOT, long])


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"batch_tokens": 0}, "a batch of 0 tokens"),
        ({"chain_of_thought": "kojima"}, "lm-multiple-choice has no setting 'chain_of_thought'"),
        ({"chat": "template"}, "the tokenizer has no chat template"),
        ({"prompts": ["99"]}, "there is no prompt '99'"),
    ],
)
def test_settings_that_cannot_be_used(
    settings: dict[str, Any], cause: str, folder: Callable[[str], str]
) -> None:
    with pytest.raises(InputError, match=cause):
        partial(predict, instances=[SENTENCE])(loaded(folder("gpt2"), **settings))
