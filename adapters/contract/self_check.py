"""What a system examines about itself on load, because a broken one answers all the same."""

import warnings

from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.contract.systems import ClusteringSystem

PLAIN_SENTENCES = (
    "Anna said that she was tired.",
    "The baker lost his hat, but the neighbour brought it back to him.",
    "My uncle Peter sold his car because he never drove it.",
    "When Maria came home, her dog ran to her and followed her to the kitchen.",
    "The children washed their hands before they sat down.",
    "The old clock stopped last night, so Tom took it to a shop that could repair it.",
)
"""Sentences of our own in which any working English coreference system finds a pair."""


class SelfCheckWarning(UserWarning):
    """A system failed its self-check; its answers are not what its name promises."""


def check_clusters(system: ClusteringSystem) -> tuple[str, ...]:
    """Say in one line if a system finds no cluster in any of the `PLAIN_SENTENCES`.

    It stops at the first sentence with a cluster, so a working system pays for one or two.
    `InputError` if the system cannot answer one of them.
    """
    for number, sentence in enumerate(PLAIN_SENTENCES, 1):
        try:
            if any(system.cluster([sentence])):
                return ()
        except RefusedTextError as error:
            raise error.at(f"self-check, sentence {number}") from error
    return (
        f"{_who(system)}: no cluster in any of {len(PLAIN_SENTENCES)} plain sentences, so every "
        f"answer will be 'none'; check that the checkpoint is one of {system.name} and complete",
    )


def announce(messages: tuple[str, ...]) -> tuple[str, ...]:
    """Warn of each message with a `SelfCheckWarning`, and return them."""
    for message in messages:
        warnings.warn(message, SelfCheckWarning, stacklevel=3)
    return messages


def _who(system: ClusteringSystem) -> str:
    checkpoint = getattr(system, "checkpoint", None)
    name = getattr(checkpoint, "name", None)
    return f"{system.name} ({name})" if name else system.name
