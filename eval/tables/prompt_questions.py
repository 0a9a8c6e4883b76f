"""The questions that models are prompted with, which do not compare with each other."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptQuestion:
    """A question, asked with several prompts.

    Attributes:
        key: where scores have the accuracy over its prompts.
        answers: where predictions have the answer to each prompt.
        title: of the table of systems.
        chart_title: of the chart of all prompts.
        written: whether models write the answers, so that they can be cut off.
    """

    key: str
    answers: str
    title: str
    chart_title: str
    written: bool = True


PROMPT_QUESTIONS = (
    PromptQuestion(
        "prompts",
        "answers",
        "Accuracy over prompts: what models write",
        "Accuracy over prompts",
    ),
    PromptQuestion(
        "chains",
        "chain_answers",
        "Accuracy over prompts: what chains of thought name",
        "With chains of thought",
    ),
    PromptQuestion(
        "multiple_choice",
        "likeliest",
        "Accuracy over prompts: the likeliest of the options offered",
        "Accuracy over prompts, of the likeliest option",
        written=False,
    ),
)
