"""Two questions of one instance: figures of models whose answers are known."""

import json
import random
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronominal import InputError
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split, instances_of
from pronominal.eval.results import evaluate, score
from pronominal.eval.runs.runner import predict
from pronominal.eval.runs.two_questions import contexts_of, first_form
from pronominal.eval.statistics.agreement import (
    agreement_interval,
    beta_of,
    cohens_kappa,
    matthews_correlation,
)
from pronominal.instances import FillingInstance

SAMPLES = 5
OPTIONS = ("he", "she", "they", "xe")

Answer = Callable[[FillingInstance, random.Random], int]


def right(instance: FillingInstance, drawn: random.Random) -> int:
    return instance.label


def wrong(instance: FillingInstance, drawn: random.Random) -> int:
    return (instance.label + 1) % len(instance.options)


def at_random(instance: FillingInstance, drawn: random.Random) -> int:
    return drawn.randrange(len(instance.options))


class Asked:
    """A model whose answers to both questions follow from two rules."""

    def __init__(self, name: str, split: Split, probability: Answer, generation: Answer) -> None:
        self.name = name
        self._probability, self._generation = probability, generation
        self._of = {
            context: instance
            for instance in instances_of(split.table)
            for context in contexts_of(instance).values()
        }

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        chosen = [self._probability(one, random.Random(one.id)) for one in instances]
        return [
            [-float(option != best) for option in range(len(one.options))]
            for one, best in zip(instances, chosen, strict=True)
        ]

    def continuations(self, contexts: Sequence[str]) -> list[list[str]]:
        return [[self._sample(one, number) for number in range(SAMPLES)] for one in contexts]

    def _sample(self, context: str, number: int) -> str:
        instance = self._of[context]
        form = self._generation(instance, random.Random(f"{context} {number}"))
        return f" and so, later, {instance.options[form]} went home with her."


@pytest.fixture(scope="module")
def split(own_ruff: str) -> Split:
    # every row has a context before its slot of its own
    return read_split(own_ruff, "distractors_0")


def asked(split: Split, out: Path, probability: Answer, generation: Answer) -> dict[str, Any]:
    system = Asked("asked", split, probability, generation)
    found = evaluate(split, [system], out=out).scores["asked"]
    return dict(found["agreement"])


@pytest.mark.parametrize("where", ["before", "after"])
def test_right_by_probability_and_random_by_generation(
    split: Split, tmp_path: Path, where: str
) -> None:
    found = asked(split, tmp_path, right, at_random)
    assert found["samples"] == SAMPLES
    for block in (found[where], *found[where]["by_pronoun_set"].values()):
        assert block["probability"] == 1
        # agreeing is being right by generation, and p = 1 leaves d = 1 - g
        assert block["agreement"] == block["first_generation"]
        assert block["disagreement"] == pytest.approx(1 - block["generation"])
        # the verdict by probability says nothing of the other one
        assert block["kappa"] == pytest.approx(0, abs=1e-12)
        assert block["mcc"] is None
        assert block["without_form"] == 0
    block = found[where]
    low, high = block["interval"]["generation"]
    assert low <= 1 / 4 <= high
    # the mean over rows of the standard deviation of 5 verdicts, each right in one of four
    expected = np.mean([np.std(one) for one in _verdicts()])
    assert block["variation"] == pytest.approx(expected, rel=0.1)
    assert set(found[where]["by_pronoun_set"]) == {"he", "she", "they", "xe"}


def _verdicts() -> list[list[bool]]:
    """All outcomes of five samples, each as often as chance has it: one right of four options."""
    return [[form == 0 for form in forms] for forms in product(range(4), repeat=SAMPLES)]


@pytest.mark.parametrize("where", ["before", "after"])
def test_random_by_probability_and_right_by_generation(
    split: Split, tmp_path: Path, where: str
) -> None:
    found = asked(split, tmp_path, at_random, right)
    for block in (found[where], *found[where]["by_pronoun_set"].values()):
        assert (block["generation"], block["first_generation"], block["variation"]) == (1, 1, 0)
        assert block["agreement"] == block["probability"]
        assert block["disagreement"] == pytest.approx(1 - block["probability"])
        assert block["kappa"] == pytest.approx(0, abs=1e-12)
        assert block["mcc"] is None
    low, high = found[where]["interval"]["probability"]
    assert low <= 1 / 4 <= high


def test_always_the_same_answer(split: Split, tmp_path: Path) -> None:
    both = asked(split, tmp_path / "right", right, right)["before"]
    assert (both["agreement"], both["disagreement"], both["kappa"]) == (1, 0, None)
    assert both["beta"] is None
    never = asked(split, tmp_path / "wrong", right, wrong)["before"]
    assert (never["agreement"], never["disagreement"]) == (0, 1)
    assert never["kappa"] == pytest.approx(0, abs=1e-12)


def sometimes(instance: FillingInstance, drawn: random.Random) -> int:
    answer = right if instance.id.endswith(("0", "3", "7")) else wrong
    return answer(instance, drawn)


def test_two_questions_with_one_answer(split: Split, tmp_path: Path) -> None:
    block = asked(split, tmp_path, sometimes, sometimes)["after"]
    assert 0 < block["probability"] == block["generation"] < 1
    assert block["agreement"] == 1
    assert block["kappa"] == pytest.approx(1)
    assert block["mcc"] == pytest.approx(1)


def test_no_form_is_no_wrong_one(split: Split, tmp_path: Path) -> None:
    system = Asked("silent", split, right, right)
    system._sample = lambda context, number: " and so on."  # type: ignore[method-assign]
    block = evaluate(split, [system], out=tmp_path).scores["silent"]["agreement"]["before"]
    assert (block["without_form"], block["generation"], block["agreement"]) == (1, 1, 1)


def test_the_tables_have_both_contexts(split: Split, tmp_path: Path) -> None:
    systems = [Asked("one", split, right, at_random), Asked("other", split, at_random, right)]
    results = evaluate(split, systems, out=tmp_path / "runs")
    shown = results.to_markdown(full=True)
    for title in ("Two questions, before the slot", "Two questions, after the slot"):
        assert f"**{title}**" in shown
        assert f"**{title}: disagreement by pronoun set**" in shown
    for first in (results.summary, results.to_markdown(), results.to_latex()):
        assert "one: probability and generation agree on" in " ".join(first.split())
    page = results.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Two questions, before the slot" in page
    lines = (tmp_path / "runs").glob("*.one/predictions.jsonl")
    (row,) = {line.count('"continuations"') for file in lines for line in file.open()}
    assert row == 1
    again = score(split, next((tmp_path / "runs").glob("*distractors_0*.one")))
    assert "agreement" in next(iter(again.scores.values()))


def test_without_a_right_form_there_is_no_text_after_it(own_ruff: str, tmp_path: Path) -> None:
    rows = read_split(own_ruff, "no_context")
    results = evaluate(rows, [Asked("asked", rows, at_random, at_random)], out=tmp_path)
    assert "agreement" not in results.scores["asked"]
    (file,) = tmp_path.glob("*/predictions.jsonl")
    kept = [json.loads(line)["continuations"] for line in file.read_text().splitlines()]
    assert {tuple(one) for one in kept} == {("before",)}


def test_damaged_continuations_are_named(split: Split, tmp_path: Path) -> None:
    evaluate(split, [Asked("asked", split, right, right)], out=tmp_path)
    (file,) = tmp_path.glob("*distractors_0*/predictions.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for damage in ("he", [["he"]], {"before": ["he"]}, {"before": [0], "after": [0, 0]}):
        rows[1]["continuations"] = damage
        with pytest.raises(InputError, match="continuations"):
            score(split, rows)


def test_texts_that_are_no_lists_are_refused(split: Split) -> None:
    system = Asked("wrong", split, right, right)
    system.continuations = lambda contexts: ["she"] * len(contexts)  # type: ignore
    with pytest.raises(InputError, match="lists of texts"):
        predict(system, [*instances_of(split.table)][:2])


@pytest.mark.parametrize(
    ("text", "options", "form"),
    [
        ("Their dog saw him.", OPTIONS, 2),
        ("THEM!", OPTIONS, 2),
        ("They're late.", ("his", "her", "their", "xyr"), 2),
        ("a hat of hers, theirs or himself", OPTIONS, None),
        ("Xyr hat.", ("him", "her", "them", "xem"), 3),
        ("then zir hat, her hat", (*OPTIONS[:3], "zir"), 3),
        ("her hat", ("xe", "she"), 1),
        ("", OPTIONS, None),
    ],
)
def test_the_first_form_decides(text: str, options: tuple[str, ...], form: int | None) -> None:
    assert first_form(text, options) == form


def test_kappa_and_correlation_by_hand() -> None:
    tables = np.array([[[20, 5], [10, 15]], [[9, 0], [0, 1]], [[5, 0], [5, 0]]], float)
    # the first is Cohen's own textbook case: 0.7 observed, 0.5 expected
    assert cohens_kappa(tables)[:2] == pytest.approx([0.4, 1])
    assert matthews_correlation(tables)[:2] == pytest.approx([(20 * 15 - 5 * 10) / 612.3724, 1])
    assert np.isnan(matthews_correlation(tables)[2])


def test_the_correlation_is_pearsons() -> None:
    drawn = np.random.default_rng(5)
    one = drawn.integers(0, 2, 60)
    other = np.where(drawn.random(60) < 0.7, one, 1 - one)
    table = np.zeros((1, 2, 2))
    np.add.at(table[0], (one, other), 1)
    assert matthews_correlation(table)[0] == pytest.approx(np.corrcoef(one, other)[0, 1])


def test_the_interval_weighs_units() -> None:
    drawn = np.random.default_rng(7)
    tables = drawn.integers(0, 6, (30, 2, 2)).astype(float)
    found = agreement_interval(cohens_kappa, tables)
    assert found.low[0] < found.estimate[0] < found.high[0]
    assert found.units[0] == 30
    # a unit without rows does not count
    more = np.concatenate([tables, np.zeros((1, 2, 2))])
    assert agreement_interval(cohens_kappa, more) == found
    # what four units agree in, or a single one, is not certain
    for units in (4, 1):
        same = np.tile(np.diag([2.0, 6.0]), (units, 1, 1))
        alike = agreement_interval(cohens_kappa, same)
        assert alike.low[0] < 0.7
        assert alike.estimate[0] == alike.high[0] == 1
    one_verdict = np.array([[[0.0, 0.0], [2.0, 5.0]]] * 4)
    assert np.isnan(agreement_interval(matthews_correlation, one_verdict).low[0])


def test_few_wrong_verdicts_are_known_to_say_little() -> None:
    """Ten units of thirty rows, nine of ten right by both, and the same units hard."""
    random, held, samples = np.random.default_rng(3), 0, 200
    right = np.array([0.98, 0.66])  # of easy units, and of every fourth one
    cells = np.array([[(1 - p) ** 2, p * (1 - p), p * (1 - p), p**2] for p in right])
    true = cohens_kappa((cells.T @ [0.75, 0.25]).reshape(1, 2, 2))[0]
    for _ in range(samples):
        hard = (random.random(10) < 0.25).astype(int)
        tables = random.multinomial(30, cells[hard]).reshape(-1, 2, 2)
        found = agreement_interval(cohens_kappa, tables)
        held += bool(found.low[0] <= true <= found.high[0])
    assert held >= 0.88 * samples


def test_the_beta_distribution_has_the_moments() -> None:
    values = np.array([0.0, 0.2, 0.2, 0.4, 1.0])
    fitted = beta_of(values)
    assert fitted is not None
    alpha, beta = fitted
    assert alpha / (alpha + beta) == pytest.approx(values.mean())
    spread = alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1))
    assert spread == pytest.approx(values.var(ddof=1))
    assert beta_of(np.array([0.2, 0.2])) is None
    assert beta_of(np.array([0.0, 1.0])) is None
