"""Systems in another process or on another machine: what is asked and answered as JSON.

Every input is one object, and so is its answer, which has the same ``id``:

=============  ============================================  ================================
method         input                                         answer
=============  ============================================  ================================
cluster        ``id, text``                                  ``id, clusters``
choose         ``id, text, pronoun, candidates``             ``id, scores``
loglikelihood  ``id, text, blank, options``                  ``id, scores``
generate       ``id, prompt``, perhaps ``max_new_tokens``    ``id, generation``
=============  ============================================  ================================

``clusters`` are lists of ``[start, end]``, half open, in Unicode code points; mentions are objects
``{"text", "start", "end"}``; ``scores`` has a number for each candidate or option. An answer
``{"id", "error"}`` says that there is none. Labels and the dataset's ids, some of which tell the
answer, are not sent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pronominal.adapters.contract.plain_questions import (
    plain_prompts,
    plain_resolutions,
    plain_slots,
)
from pronominal.adapters.contract.refusals import FailedCallError, RefusedTextError
from pronominal.adapters.contract.self_check import PLAIN_SENTENCES
from pronominal.adapters.contract.systems import System, refuse_bare_string
from pronominal.errors import InputError, redacted
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.names import unknown_name
from pronominal.spans import Cluster

Message = Mapping[str, Any]


class Connection(Protocol):
    """Where a system is, and how it is reached."""

    name: str

    def exchange(self, inputs: Sequence[Message]) -> list[Message]:
        """Return one answer for each input, in order.

        Raises:
            RefusedTextError: one of the inputs has no answer.
            FailedCallError: none has, perhaps because of one of them.
            InputError: nothing can be answered any more.
        """
        ...


class _RemoteSystem:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.name = connection.name
        checkpoint = getattr(connection, "checkpoint", None)
        if checkpoint is not None:
            self.checkpoint = checkpoint

    def _ask(self, inputs: Sequence[Message], wanted: str) -> list[Any]:
        answers = self.connection.exchange(inputs)
        for index, answer in enumerate(answers):
            if wanted not in answer:
                error = answer.get("error")
                said = f": {redacted(error)}" if isinstance(error, str) else ""
                cause = f"an error{said}" if "error" in answer else f"an answer without {wanted}"
                raise RefusedTextError(
                    f"{self.name} gives {cause}",
                    cure=f"answer with {wanted}",
                    index=index,
                    among="inputs",
                )
        return [answer[wanted] for answer in answers]


class RemoteClustering(_RemoteSystem):
    """A coreference system that is reached over a connection."""

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as the system gives them."""
        refuse_bare_string(texts)
        return self._ask([{"text": text} for text in texts], "clusters")


def _resolution(instance: ResolutionInstance) -> Message:
    candidates = [candidate._asdict() for candidate in instance.candidates]
    pronoun = instance.pronoun._asdict()
    return {"text": instance.text, "pronoun": pronoun, "candidates": candidates}


class RemoteChoosing(_RemoteSystem):
    """A system that is told the candidates, reached over a connection."""

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        """Return for each instance, in order, one number in [0, 1] for each candidate."""
        return self._ask([_resolution(instance) for instance in instances], "scores")


def _slot(instance: FillingInstance) -> Message:
    blank, options = instance.blank._asdict(), list(instance.options)
    return {"text": instance.text, "blank": blank, "options": options}


class RemoteScoring(_RemoteSystem):
    """A language model that scores, reached over a connection."""

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return for each instance, in order, one number for each option."""
        return self._ask([_slot(instance) for instance in instances], "scores")


class RemoteGenerating(_RemoteSystem):
    """A language model that writes, reached over a connection."""

    def generate(self, prompts: Sequence[str], max_new_tokens: int | None = None) -> list[str]:
        """Return for each prompt, in order, what follows it."""
        limit = {} if max_new_tokens is None else {"max_new_tokens": max_new_tokens}
        return self._ask([{"prompt": prompt} | limit for prompt in prompts], "generation")


class Greeting(NamedTuple):
    """A question about a sentence of ours, which a system that starts is asked first.

    Its answer has to have the key `wanted`.
    """

    question: Message
    wanted: str

    def greet(self, connection: Connection) -> None:
        """Raise `InputError` unless a system answers."""
        cure = f"answer with {self.wanted}"
        try:
            (answer,) = connection.exchange([self.question])
        except (FailedCallError, RefusedTextError) as error:
            cause, cure = error.cause, error.cure
        else:
            if self.wanted in answer:
                return
            cause = f"an answer without {self.wanted}"
        raise InputError(f"{connection.name} does not answer a plain sentence: {cause}", cure=cure)


METHODS: dict[str, tuple[type[_RemoteSystem], Greeting]] = {
    "cluster": (RemoteClustering, Greeting({"text": PLAIN_SENTENCES[0]}, "clusters")),
    "choose": (RemoteChoosing, Greeting(_resolution(plain_resolutions()[0]), "scores")),
    "loglikelihood": (RemoteScoring, Greeting(_slot(plain_slots()[0]), "scores")),
    "generate": (RemoteGenerating, Greeting({"prompt": plain_prompts()[0]}, "generation")),
}


def connect(method: str, make_connection: Callable[[Greeting], Connection]) -> System:
    """Return the system behind a connection, whose `method` is a key of `METHODS`.

    `make_connection` takes the greeting for a system that starts, or starts anew.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    remote_class, greeting = METHODS[method]
    system: Any = remote_class(make_connection(greeting))
    return system  # type: ignore[no-any-return]
