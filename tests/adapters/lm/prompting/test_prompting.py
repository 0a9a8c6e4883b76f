"""Prompts, what models write after them, and what is read from that; all sentences are our own."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal import BOTH, NONE, UNFINISHED, Decision, InputError
from pronominal.adapters import load
from pronominal.adapters.lm.prompting.answers import named_by_upstream, named_by_words
from pronominal.adapters.lm.prompting.prompts import Prompting, read_templates
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs.language_models import most_frequent
from pronominal.eval.runs.runner import SystemSettings, predict, run
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.spans import Mention
from tests.eval.evaluated import score_predictions

PRONOUNS = ("his", "her", "their", "xyr")
SLOT = FillingInstance(
    "slot",
    "The pilot ate since her day was long. The pilot lost ___ keys.",
    Mention("___", 53, 56),
    PRONOUNS,
    1,
)
SENTENCE = ResolutionInstance(
    "sentence",
    "The pilot waved at the cook before she left.",
    Mention("she", 35, 38),
    (Mention("pilot", 4, 9), Mention("cook", 23, 27)),
    0,
)


def test_ruffs_ten_prompts() -> None:
    prompts = Prompting().of(SLOT)
    task = "The pilot ate since her day was long. The pilot lost ___ keys."
    as_printed = Prompting(slot="_______").of(SLOT)
    assert [p.text.replace("_______", "___") for p in as_printed] == [p.text for p in prompts]
    assert all(p.text.count("_") == 7 for p in as_printed)
    assert [prompt.name for prompt in prompts] == [str(number) for number in range(10)]
    assert len({prompt.text for prompt in prompts}) == 10
    assert prompts[3].text == f"Fill in the blank with the appropriate pronoun.\n\n{task}"
    options = "OPTIONS:\n- his\n- her\n- their\n- xyr"
    assert prompts[8].text == f"{prompts[3].text}\n{options}"
    assert [options in prompt.text for prompt in prompts] == [False] * 5 + [True] * 5
    assert {prompt.conclusion for prompt in prompts} == {"Therefore, the correct pronoun is"}


def test_winoprons_ten_prompts_in_three_orders() -> None:
    prompts = {prompt.name: prompt for prompt in Prompting().of(SENTENCE)}
    assert len(prompts) == len({prompt.text for prompt in prompts.values()}) == 30
    assert [*prompts][:4] == ["0-forward", "0-backward", "0-none", "1-forward"]
    text = SENTENCE.text
    assert prompts["9-forward"].text == f'{text}\nWho is "she"?\nOPTIONS:\n- pilot\n- cook'
    assert prompts["9-backward"].text == f'{text}\nWho is "she"?\nOPTIONS:\n- cook\n- pilot'
    assert prompts["9-none"].text == f'{text}\nWho is "she"?\n'
    assert prompts["0-none"].text == f"{text}\n\n\nWho is she referring to?"
    assert prompts["3-none"].text == f"Choose your answer: {text}\nTell me who she is.\n"


def test_every_template_names_its_source() -> None:
    assert read_templates("filling").source == "RUFF (Gautam et al., 2024), Table 3"
    assert read_templates("antecedent").source == "WinoPron (Gautam et al., 2024), Table 7"


def test_nothing_in_a_text_is_a_placeholder() -> None:
    text = "The pilot wrote {options} and {pronoun} on ___ list."
    odd = FillingInstance("odd", text, Mention("___", 43, 46), PRONOUNS, 0)
    assert "{options} and {pronoun} on ___ list." in Prompting().of(odd)[9].text


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"prompts": ("99",)}, "there is no prompt '99'"),
        ({"chain_of_thought": "kojim"}, "there is no chain of thought 'kojim'"),
    ],
)
def test_unknown_prompts_are_refused(settings: dict[str, Any], cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        Prompting(**settings).of(SLOT)


# generation, options, by words, by upstream's rule
ANSWERS: list[tuple[str, list[str], list[int], list[int]]] = [
    ("her", [*PRONOUNS], [1], [1]),
    ("Her.", [*PRONOUNS], [1], [1]),
    ('"her"', [*PRONOUNS], [1], [1]),
    ("**her**", [*PRONOUNS], [1], []),
    ("her,", [*PRONOUNS], [1], []),
    ("hers", [*PRONOUNS], [], []),
    ("", [*PRONOUNS], [], []),
    ("he", [*PRONOUNS], [], []),
    ("his or her", [*PRONOUNS], [0, 1], [0, 1]),
    ("her her her", [*PRONOUNS], [1], [1]),
    ("The blank is filled by\n\ntheir", [*PRONOUNS], [2], [2]),
    ("The pilot.", ["pilot", "cook"], [0], [0]),
    ("the pilot's", ["pilot", "cook"], [0], []),
    ("The pilot, not the cook", ["pilot", "cook"], [0, 1], [1]),
    ("copilot", ["pilot", "cook"], [], []),
    ("PILOT", ["pilot", "cook"], [0], [0]),
    ("Ann Lee", ["Ann Lee", "Ann"], [0], [1]),
    ("Ann", ["Ann Lee", "Ann"], [1], [1]),
    ("Ann Lee and Ann", ["Ann Lee", "Ann"], [0, 1], [1]),
    ("Zoë", ["zoë", "Ann"], [0], [0]),
]


@pytest.mark.parametrize(("text", "options", "by_words", "by_upstream"), ANSWERS)
def test_answers_are_read(
    text: str, options: list[str], by_words: list[int], by_upstream: list[int]
) -> None:
    assert named_by_words(text, options) == by_words
    assert named_by_upstream(text, options) == by_upstream


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_text_can_be_read(text: str, options: list[str]) -> None:
    for named in (named_by_words, named_by_upstream):
        assert set(named(text, options)) <= set(range(len(options)))


@given(st.lists(st.sampled_from([0, 1, 2, "none", "both", "unfinished"]), min_size=1))
def test_the_most_frequent_answer(answers: list[int | str]) -> None:
    decision = most_frequent(answers)
    options = [answer for answer in answers if isinstance(answer, int)]
    if not options:
        counts = {one: answers.count(str(one.abstained)) for one in (NONE, BOTH, UNFINISHED)}
        assert counts[decision] == max(counts.values())
        assert decision == UNFINISHED or counts[decision] > counts[UNFINISHED]
    elif decision.choice is not None:
        others = set(options) - {decision.choice}
        assert all(options.count(decision.choice) > options.count(other) for other in others)
    else:
        assert decision == BOTH


class Parrot:
    """Says the first word that its prompt offers, and notes what it was asked."""

    name = "parrot"

    def __init__(self, **prompting: Any) -> None:
        self.prompting = Prompting(**prompting)
        self.asked: list[tuple[str, int | None]] = []

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[str]:
        self.asked += [(prompt, max_new_tokens) for prompt in prompts]
        return [self.say(prompt) for prompt in prompts]

    def say(self, prompt: str) -> str:
        if prompt.endswith("step by step."):
            return "It is her or his."
        return prompt.split("- ")[1].split("\n")[0] if "- " in prompt else "nobody"


def test_answers_to_every_prompt_are_kept() -> None:
    slot, sentence = (predict(Parrot(), [one])[0] for one in (SLOT, SENTENCE))
    assert slot.given["answers"] == {str(n): "none" if n < 5 else 0 for n in range(10)}
    assert slot.decision == Decision(0)
    orders = {"forward": 0, "backward": 1, "none": "none"}
    assert sentence.given["answers"] == {
        f"{n}-{o}": a for n in range(10) for o, a in orders.items()
    }
    assert sentence.decision == BOTH


def test_a_chain_of_thought_is_two_steps_and_both_are_read() -> None:
    parrot = Parrot(prompts=("8",), chain_of_thought="kojima")
    (found,) = predict(parrot, [SLOT])
    (first, _), (second, _) = parrot.asked
    prompt = Prompting().of(SLOT)[8].text
    assert first == f"Q: {prompt}\nA: Let's think step by step."
    assert second == f"{first} It is her or his.\nTherefore, the correct pronoun is"
    assert [limit for _, limit in parrot.asked] == [128, 10]
    assert found.given == {"answers": {"8": 0}, "chain_answers": {"8": "both"}}


def test_the_other_chain_of_thought() -> None:
    parrot = Parrot(prompts=("0",), chain_of_thought="zhou")
    predict(parrot, [SLOT])
    assert "work this out in a step by step way to be sure we have" in parrot.asked[0][0]


def test_text_is_kept_only_when_asked_for() -> None:
    with_text = predict(Parrot(chain_of_thought="kojima"), [SLOT], include_text=True)[0].given
    assert with_text["generation"]["8"] == "his"
    assert with_text["chain"]["8"] == "It is her or his."
    assert with_text["prompt"]["3"] == Prompting().of(SLOT)[3].text
    without = json.dumps(predict(Parrot(chain_of_thought="kojima"), [SLOT])[0].given)
    assert "pilot" not in without
    assert "nobody" not in without


TRANSCRIPTS = json.loads(
    Path(__file__).parents[3].joinpath("cases", "thoughts.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("reading", ["offsets", "upstream"])
def test_strings_of_ones_own_are_read_as_every_familys(reading: str) -> None:
    """A system of a user's own has no tokenizer and no prompt to look at."""
    whole = [one for one in TRANSCRIPTS if "prompt_end" not in one]

    class Own:
        name = "own"
        prompting = Prompting(prompts=("0",))

        def generate(self, prompts: Sequence[str]) -> list[str]:
            return [one["text"] for one in whole]

    slots = [
        FillingInstance(f"s{n}", "Who? ___ left.", Mention("___", 5, 8), tuple(one["options"]), 0)
        for n, one in enumerate(whole)
    ]
    for one, found in zip(whole, predict(Own(), slots, reading), strict=True):
        if one["state"] == "unfinished":
            assert found.decision == UNFINISHED
        elif reading == "offsets":
            assert found.decision == Decision.among(one["named"])
    assert len(whole) > 60


def test_upstreams_rule_is_a_reading() -> None:
    class Comma(Parrot):
        def say(self, prompt: str) -> str:
            return "the pilot, the cook"

    assert predict(Comma(), [SENTENCE])[0].decision == BOTH
    assert predict(Comma(), [SENTENCE], "upstream")[0].decision == Decision(1)


@pytest.mark.parametrize("answers", [["one"], "text", [1] * 10])
def test_a_model_that_breaks_its_contract_is_named(answers: Any) -> None:
    class Wrong(Parrot):
        def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> Any:
            return answers

    with pytest.raises(InputError, match="parrot gives"):
        predict(Wrong(), [SLOT])


def test_scores_have_the_range_over_prompts(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double").first(96)
    folder = run(split, Parrot(), SystemSettings("parrot", "parrot"), tmp_path)
    found = score_predictions(split, folder.path)["prompts"]
    zero = sum(label == 0 for label in split.table["label"].to_pylist()) / split.num_rows
    assert found["n"] == split.num_rows
    assert found["by_prompt"]["4-forward"]["accuracy"] == pytest.approx(zero)
    none = found["by_prompt"]["4-none"]
    assert [none[name] for name in ("n", "accuracy", "answered", "none", "both")] == [
        96,
        0,
        0,
        1,
        0,
    ]
    # three orders of ten prompts are ten prompts
    assert found["interval"]["accuracy"][0] < found["accuracy"] < found["interval"]["accuracy"][1]
    assert found["lowest"] <= found["median"] <= found["highest"]
    assert {*found["spread"]} == {"units", "prompts", "rest"}
    assert (found["lowest"], found["highest"]) == (0, pytest.approx(max(zero, 1 - zero)))
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["every_answer"]["overall"]["n"] == 96 * 30
    assert found["every_answer"]["overall"]["accuracy"] == pytest.approx(1 / 3)


needs_models = pytest.mark.skipif(find_spec("transformers") is None, reason="needs the extra lm")


def words(end: bool, texts: Sequence[str]) -> Any:
    """A tokenizer of whole words, so that what a tiny model writes are words of its texts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    from tests.adapters.lm.language_models import _fast

    special = ["<pad>", "</s>", "<unk>"]
    found = sorted({word for text in texts for word in text.split()})
    vocabulary = {word: number for number, word in enumerate([*special, *found])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if end:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 1)]
        )
    return _fast(tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


@pytest.fixture(scope="module", params=["t5", "llama", "gpt2"])
def writer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.adapters.lm.language_models import CAUSAL, T5, save

    make = T5[1] if request.param == "t5" else CAUSAL[request.param][1]
    texts = [text for text in TEXTS for _ in range(3)]
    tokenizer = partial(words, request.param == "t5")
    return str(save(tmp_path_factory.mktemp("writer"), (tokenizer, make), texts))


TEXTS = [
    "pilot cook she her his their left",
    "The pilot waved at the cook before she left .",
    "Who left ?",
    "Why did the cook , who had waited for the pilot and then left , not wave at her ?",
    "left",
    "The cook and the pilot waved .",
]


@needs_models
@pytest.mark.parametrize("batch_tokens", [1, 40, 4096])
def test_batches_write_what_each_prompt_alone_does(writer: str, batch_tokens: int) -> None:
    system: Any = load("lm-prompts", writer, device="cpu", batch_tokens=batch_tokens)
    together = system.generate(TEXTS * 2, max_new_tokens=6)
    alone = [system.generate([text], max_new_tokens=6)[0] for text in TEXTS]
    assert together == alone * 2
    assert len(set(together)) > 1


@needs_models
def test_what_is_written_is_greedy_and_ends(writer: str) -> None:
    """The plain loop: one token after another, the likeliest one each time."""
    import torch

    system: Any = load("lm-prompts", writer, device="cpu")
    model, tokenizer = system._loaded.model, system._loaded.tokenizer
    text = TEXTS[1]
    read = torch.tensor([tokenizer(text).input_ids])
    encoder_decoder = model.config.is_encoder_decoder
    written: list[int] = [0] if encoder_decoder else []
    with torch.inference_mode():
        for _ in range(6):
            if encoder_decoder:
                logits = model(input_ids=read, decoder_input_ids=torch.tensor([written])).logits
            else:
                logits = model(torch.cat([read, torch.tensor([written]).long()], dim=1)).logits
            written.append(int(logits[0, -1].argmax()))
            if written[-1] == model.generation_config.eos_token_id:
                break
    expected = tokenizer.decode(written, skip_special_tokens=True)
    assert system.generate([text], max_new_tokens=6) == [expected]


@needs_models
def test_answers_are_as_long_as_the_papers(writer: str) -> None:
    system: Any = load("lm-prompts", writer, device="cpu")
    assert system.max_new_tokens == (5 if system._loaded.objective != "causal" else 20)


TEMPLATE = "{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}cook"


@needs_models
@pytest.mark.parametrize(
    ("chat", "said"),
    [
        ("none", "she left"),
        ("llama-2", "[INST] she left [/INST]"),
        ("template", "user she left cook"),
        (None, "user she left cook"),
    ],
)
def test_chat_formats(
    tmp_path: Path, chat: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.adapters.lm.language_models import CAUSAL, save

    make: Callable[[Sequence[str]], Any] = partial(words, False)
    texts = [*TEXTS, "[INST] [/INST] user"]
    save(tmp_path / "chat", (make, CAUSAL["llama"][1]), texts)
    (tmp_path / "chat" / "chat_template.jinja").write_text(TEMPLATE)
    system: Any = load("lm-prompts", str(tmp_path / "chat"), device="cpu", chat=chat)
    tokenizer, turns = system._loaded.tokenizer, system._conversation.turns
    assert tokenizer.decode(turns.tokens(turns.text("she left"))) == said


@needs_models
@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"chat": "llama"}, "there is no chat format 'llama'; did you mean 'llama-2'"),
        ({"chat": "template"}, "the tokenizer has no chat template"),
        ({"max_new_tokens": 0}, "max_new_tokens is 0"),
        ({"prompts": "0"}, "prompts are a list of names"),
        ({"prompts": []}, "prompts are a list of names"),
        ({"chain_of_thought": 1}, "chain_of_thought is a name"),
    ],
)
def test_wrong_settings_are_refused(writer: str, settings: dict[str, Any], cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        load("lm-prompts", writer, device="cpu", **settings)


@needs_models
def test_a_masked_model_and_a_long_prompt_are_refused(tmp_path: Path) -> None:
    from tests.adapters.lm.language_models import CAUSAL, MASKED, save

    masked = save(tmp_path / "bert", MASKED["bert"], TEXTS)
    with pytest.raises(InputError, match="a masked model answers no prompts"):
        load("lm-prompts", str(masked), device="cpu")
    causal = save(tmp_path / "gpt2", (partial(words, False), CAUSAL["gpt2"][1]), TEXTS)
    system: Any = load("lm-prompts", str(causal), device="cpu")
    system.prompting = Prompting(prompts=("0",))
    text = f"{'left ' * 250}___ keys."
    long = FillingInstance("long", text, Mention("___", 1250, 1253), PRONOUNS, 0)
    with pytest.raises(InputError, match=r"id long: a prompt with .* has \d+ tokens, .* 256"):
        predict(system, [SLOT, long])


@needs_models
def test_a_whole_dataset_is_prompted(writer: str, sample: Path, tmp_path: Path) -> None:
    few = read_split(str(sample), "double").first(12)
    asked = SystemSettings("writer", "lm-prompts", writer, {"prompts": ["2-none"], "device": "cpu"})
    folder = run(few, asked.load(), asked, tmp_path)
    lines = [json.loads(line) for line in folder.predictions.read_text().splitlines()]
    assert [line["id"] for line in lines] == few.table["id"].to_pylist()
    assert {tuple(line["answers"]) for line in lines} == {("2-none",)}
    assert folder.record.system.question == "generation"
