"""Prompts for models that write: which ones there are, and how an instance is put into them.

The templates are in ``filling_prompts.toml`` and ``antecedent_prompts.toml``, with their sources.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from pronominal.errors import InputError
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.names import unknown_name

CHAINS_OF_THOUGHT: dict[str, str] = {
    "kojima": "Let's think step by step.",
    "zhou": "Let's work this out in a step by step way to be sure we have the right answer.",
}
"""What begins a chain of thought: Kojima et al. (2022), Zhou et al. (2023) (RUFF, section F.2)."""

ANSWER_TOKENS = 20
"""The most new tokens of a chat model's answer (RUFF, section F.1)."""

CHAIN_TOKENS, CONCLUSION_TOKENS = 128, 10
"""The most new tokens of a chain and of the answer after it (RUFF, section F.2)."""


class Prompt(NamedTuple):
    """One way to ask about an instance.

    Attributes:
        name: the template's place in its table and, where it lists options in several orders, the
            order: ``"3"``, ``"3-backward"``.
        text: what the model reads.
        conclusion: what asks for the answer after a chain of thought.
    """

    name: str
    text: str
    conclusion: str


class Templates(NamedTuple):
    """The templates for one kind of instance.

    Attributes:
        source: the paper and table that they are from.
        blank: how a slot is drawn.
        conclusion: see `Prompt`.
        texts: name -> the template and how options are ordered: 1, -1 (backward) or 0 (none).
    """

    source: str
    blank: str
    conclusion: str
    texts: dict[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Prompting:
    """How a model that writes is asked.

    Attributes:
        prompts: names of the prompts to ask; all of them when None.
        chain_of_thought: a key of `CHAINS_OF_THOUGHT`; None asks for the answer at once.
        slot: how a slot is drawn; None as upstream's program draws it.
    """

    prompts: tuple[str, ...] | None = None
    chain_of_thought: str | None = None
    slot: str | None = None

    def __post_init__(self) -> None:
        if self.chain_of_thought not in {None, *CHAINS_OF_THOUGHT}:
            raise unknown_name("chain of thought", str(self.chain_of_thought), CHAINS_OF_THOUGHT)

    def of(self, instance: FillingInstance | ResolutionInstance) -> list[Prompt]:
        """Return the prompts for an instance, in the order of their table."""
        if isinstance(instance, FillingInstance):
            templates = read_templates("filling")
            text, slot = instance.text, instance.blank
            drawn = templates.blank if self.slot is None else self.slot
            task, pronoun = f"{text[: slot.start]}{drawn}{text[slot.end :]}", ""
            options = instance.options
        else:
            templates = read_templates("antecedent")
            task, pronoun = instance.text, instance.pronoun.text
            options = tuple(candidate.text for candidate in instance.candidates)
        conclusion = templates.conclusion.replace("{pronoun}", pronoun)
        prompts = []
        for name in templates.texts if self.prompts is None else self.prompts:
            if name not in templates.texts:
                raise unknown_name("prompt", name, templates.texts)
            text = filled(*templates.texts[name], task, pronoun, options)
            prompts.append(Prompt(name, text, conclusion))
        return prompts


@cache
def read_templates(question: Literal["filling", "antecedent"]) -> Templates:
    """Return the templates that ask which form fills a slot, or what a pronoun refers to."""
    file = files("pronominal.adapters.lm.prompting").joinpath(f"{question}_prompts.toml")
    table = tomllib.loads(file.read_text("utf-8"))
    orders: dict[str, int] = table["orders"]
    texts = {}
    for number, template in enumerate(table["templates"]):
        if len(orders) == 1 or "{options}" not in template:
            texts[str(number)] = (template, 1)
        else:
            texts |= {f"{number}-{order}": (template, way) for order, way in orders.items()}
    return Templates(table["source"], table.get("blank", ""), table["conclusion"], texts)


def filled(template: str, order: int, task: str, pronoun: str, options: Sequence[str]) -> str:
    r"""Return a template with everything in its place.

    Args:
        template: with ``{task}`` and, if need be, ``{pronoun}`` and ``{options}``.
        order: 1 lists the options as they are, -1 backward, 0 leaves them out and, as upstream
            does, keeps the line breaks around them.
        task: the sentence or passage.
        pronoun: the pronoun to resolve.
        options: the possible answers.

    >>> filled("{task}\n\nWho is {pronoun}?\n{options}", -1, "Ann met Eve and she left.", "she",
    ...        ("Ann", "Eve"))
    'Ann met Eve and she left.\n\nWho is she?\nOPTIONS:\n- Eve\n- Ann'
    """
    listed = "\n".join(["OPTIONS:", *(f"- {option}" for option in options[:: order or 1])])
    listed = listed if order else ""
    # the text last: nothing in it is a placeholder
    return (
        template.replace("{options}", listed).replace("{pronoun}", pronoun).replace("{task}", task)
    )


def question_and_answer(prompt: str, chain_of_thought: str) -> str:
    """Return the prompt that asks for a chain of thought (RUFF, Table 5)."""
    return f"Q: {prompt}\nA: {CHAINS_OF_THOUGHT[chain_of_thought]}"


def concluding(question: str, chain: str, conclusion: str) -> str:
    """Return the prompt that asks for the answer after a chain of thought (RUFF, Table 5)."""
    return f"{question} {chain}\n{conclusion}"


def parse_prompts(prompts: object, chain_of_thought: object, slot: object = None) -> Prompting:
    """Return a system's settings as `Prompting`; `InputError` for values of another type."""
    if prompts is not None and (
        not isinstance(prompts, list | tuple)
        or not prompts
        or not all(isinstance(name, str) for name in prompts)
    ):
        raise InputError("prompts are a list of names", cure='write prompts = ["0", "3"], say')
    if not isinstance(chain_of_thought, str | None):
        raise InputError("chain_of_thought is a name", cure='write "kojima" or "zhou"')
    if not isinstance(slot, str | None) or slot == "":
        raise InputError("slot is no text", cure='write "_______", say')
    return Prompting(None if prompts is None else tuple(prompts), chain_of_thought, slot)
