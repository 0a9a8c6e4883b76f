"""Log-likelihoods of filled texts from a server, where it gives them for a text that it is handed.

vLLM and SGLang say how likely every token of a prompt is. llama.cpp's server and Ollama do not: one
of them refuses the question, the other one leaves the answer out, and a program that does not
notice scores at chance.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.contract.self_check import PLAIN_SENTENCES
from pronominal.adapters.lm.prompting.model_server import (
    ModelServer,
    PromptAtFaultError,
    checked_address,
)
from pronominal.errors import InputError
from pronominal.instances import FillingInstance


class ServedScores:
    """A causal model that a server runs, asked to fill slots as the system ``lm`` is.

    A text's score is the sum of the log-probabilities of all its tokens but the first, as the
    server cuts it: ``scores = "sentences"`` of `LanguageModel`.

    Args:
        url: as for `ServedModel`.
        model: as for `ServedModel`.
        program: as for `ServedModel`.
        host: as for `ServedModel`.
        i_accept_contamination: as for `ServedModel`.
        at_once: as for `ServedModel`, of texts.
        patience: as for `ServedModel`.

    Raises:
        InputError: the server gives no log-likelihoods of what it is handed.
    """

    name = "lm-server-scores"
    chunk = 60

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        url: str,
        *,
        model: str | None = None,
        program: str | None = None,
        host: str | None = None,
        i_accept_contamination: bool = False,
        at_once: int = 16,
        patience: float = 60,
    ) -> None:
        address = checked_address(url, host, i_accept_contamination)
        self._server = ModelServer(address, model, program, at_once, patience)
        known = self._server.known
        if known is not None and known.no_scores:
            raise self._no_scores(known.no_scores)
        self._log_likelihood(PLAIN_SENTENCES[0])
        self.question = f"log-likelihood under {self._server.model}"
        self.inference = {"server": self._server.described}

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return for each instance, in order, the log-likelihood of each filled text, in nats.

        Raises:
            RefusedTextError: the server refuses a text, and answers a plain one.
            InputError: it refuses every text, or cannot be reached any more.
        """
        texts = [(text, place) for place, one in enumerate(instances) for text in one.filled()]
        scores = iter(
            self._server.asked(
                lambda text, number: self._score(text, texts[number][1]),
                [text for text, _ in texts],
            )
        )
        return [[next(scores) for _ in instance.options] for instance in instances]

    def _score(self, text: str, index: int) -> float:
        try:
            return self._log_likelihood(text)
        except PromptAtFaultError as error:
            raise RefusedTextError(
                f"the server answers another text, and not this one ({error})",
                cure="shorten it, or start the server with more room for a text",
                index=index,
                among="instances",
                checkpoint=self._server.address,
            ) from error

    def _log_likelihood(self, text: str) -> float:
        native = self._server.program == "sglang"
        content = _native if native else self._echoed
        method = "generate" if native else "completions"
        plain = content(PLAIN_SENTENCES[1])
        plain.pop("echo", None)  # what is refused may be to echo
        plain.pop("logprobs", None)
        try:
            answer = self._server.ask(method, content(text), plain, native=native)
        except PromptAtFaultError:
            if text == PLAIN_SENTENCES[0]:
                raise self._no_scores("it refuses to echo a text") from None
            raise
        with self._server.in_protocol():
            numbers = _of_input(answer) if native else self._of_echo(answer, text)
        if len(numbers) < 2 or not all(math.isfinite(number) for number in numbers[1:]):
            raise self._no_scores("its answer has none")
        return math.fsum(numbers[1:])

    def _echoed(self, text: str) -> dict[str, Any]:
        # a server takes no answer of 0 tokens for one of 1
        limits = {"max_tokens": 1, "temperature": 0}
        return {"model": self._server.model, "prompt": text, "echo": True, "logprobs": 1, **limits}

    def _of_echo(self, answer: Any, text: str) -> list[float]:
        """Return the log-probabilities of a text's tokens, with NaN for the first."""
        choice = answer["choices"][0]
        given = choice.get("logprobs")
        if not given or not str(choice["text"]).startswith(text[: len(text) // 2]):
            raise self._no_scores("it does not echo what it is handed")
        numbers = given["token_logprobs"]
        written = answer.get("usage", {}).get("completion_tokens", 1)
        return [math.nan, *map(float, numbers[1 : len(numbers) - written])]

    def _no_scores(self, reason: str) -> InputError:
        return InputError(
            f"the server gives no log-likelihood of a given text: {reason}",
            cure="ask it in words as lm-server, serve the model with vLLM or SGLang, or give its "
            "checkpoint to the system lm",
            file=self._server.address,
        )


def _native(text: str) -> dict[str, Any]:
    """Return what SGLang's own interface is asked."""
    limits = {"max_new_tokens": 1, "temperature": 0}
    asked: Mapping[str, Any] = {"return_logprob": True, "logprob_start_len": 0}
    return {"text": text, "sampling_params": limits, **asked}


def _of_input(answer: Any) -> list[float]:
    """Return the log-probabilities of a text's tokens, with NaN for the first."""
    triples = answer["meta_info"]["input_token_logprobs"]
    return [math.nan, *(float(triple[0]) for triple in triples[1:])]
