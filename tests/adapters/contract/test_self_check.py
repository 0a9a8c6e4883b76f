import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.adapters.contract.self_check import (
    PLAIN_SENTENCES,
    SelfCheckWarning,
    announce,
    check_clusters,
)
from pronominal.spans import Cluster, Span


class FindsIn:
    """A system that finds one cluster in some sentences and none in the others."""

    name = "finder"

    def __init__(self, *sentences: str) -> None:
        self.sentences = sentences
        self.seen = 0

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        self.seen += len(texts)
        found = [Span(0, 1), Span(2, 3)]
        return [[found] if text in self.sentences else [] for text in texts]


def test_a_system_without_clusters() -> None:
    (message,) = check_clusters(FindsIn())
    assert message.startswith("finder: no cluster in any of 6 plain sentences")
    assert "\n" not in message
    assert not any(sentence in message for sentence in PLAIN_SENTENCES)


@pytest.mark.parametrize("place", range(len(PLAIN_SENTENCES)))
def test_one_cluster_is_enough(place: int) -> None:
    system = FindsIn(PLAIN_SENTENCES[place])
    assert check_clusters(system) == ()
    assert system.seen == place + 1


def test_messages_name_the_checkpoint() -> None:
    system = FindsIn()
    system.checkpoint = Checkpoint("org/name", Path(), "")  # type: ignore[attr-defined]
    assert check_clusters(system)[0].startswith("finder (org/name): ")


def test_every_message_is_a_warning() -> None:
    with pytest.warns(SelfCheckWarning) as caught:
        announce(("one", "two"))
    assert [str(warning.message) for warning in caught] == ["one", "two"]


def test_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert announce(()) == ()
