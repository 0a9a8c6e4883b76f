"""CoreNLP's systems behind the interface of all clustering systems."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import contract_clusters, refuse_bare_string
from pronominal.adapters.corenlp.answers import MisplacedTokenError, clusters_of
from pronominal.adapters.corenlp.server import START, URL, CoreNLPServer
from pronominal.adapters.remote.servers import asked_together, own_server
from pronominal.errors import InputError
from pronominal.spans import Cluster, Span

_WHITE = "".join(map(chr, range(33)))
"""What the server cuts off both ends of a text before it counts (Java's ``trim``)."""


class CoreNLPSystem:
    """What the three systems share; they differ in the annotators that they ask for.

    Args:
        url: the server's address.
        host: the name of a machine of your own that has a public name.
        i_accept_contamination: send evaluation text to a host that is not your own.
        properties: more properties of CoreNLP, such as ``{"ssplit.eolonly": "true"}``.
        at_once: how many texts the server is given at a time.
        text_timeout: after how many seconds the server gives a text up.
        patience: for how many seconds an unreachable server is asked again.
    """

    name: str
    engine = "Stanford CoreNLP"
    annotation: ClassVar[Mapping[str, str]]

    def __init__(  # noqa: PLR0913 - each one is a key of a systems file
        self,
        url: str = URL,
        *,
        host: str | None = None,
        i_accept_contamination: bool = False,
        properties: Mapping[str, str] | None = None,
        at_once: int = 4,
        text_timeout: float = 60,
        patience: float = 60,
    ) -> None:
        if at_once < 1 or text_timeout <= 0:
            raise InputError("nothing is asked, or no time given", cure="give numbers above 0")
        parts = own_server(url, host, i_accept_contamination)
        asked = {**self.annotation, **(properties or {})}
        self._server = CoreNLPServer(parts, asked, text_timeout, patience)
        self._at_once = at_once
        self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans."""
        refuse_bare_string(texts)
        return asked_together(self._cluster, texts, self._at_once)

    def _cluster(self, text: str, index: int) -> list[Cluster]:
        sent = text.strip(_WHITE)
        if not sent:
            return []
        before = len(text) - len(text.lstrip(_WHITE))
        answer = self._server.annotate(sent, index)
        try:
            clusters = clusters_of(answer, sent)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            cause = "the server does not answer in CoreNLP's JSON"
            cure = f"give the URL of one that was started with {START}"
            if isinstance(error, MisplacedTokenError):
                cause = "the server's tokens are not where it says"
                cure = "give a newer CoreNLP, or properties that leave the text as it is"
            where = self._server.address
            raise RefusedTextError(cause, cure=cure, index=index, checkpoint=where) from error
        return contract_clusters(
            [span and Span(span.start + before, span.end + before) for span in cluster]
            for cluster in clusters
        )


class CoreNLPRule(CoreNLPSystem):
    """The deterministic system (Raghunathan et al., 2010): KnowRef's Rule."""

    name = "corenlp-rule"
    annotation: ClassVar = {"annotators": "tokenize,ssplit,pos,lemma,ner,parse,dcoref"}


class CoreNLPStatistical(CoreNLPSystem):
    """The statistical system (Clark and Manning, 2015): KnowRef's Stat."""

    name = "corenlp-statistical"
    annotation: ClassVar = {
        "annotators": "tokenize,ssplit,pos,lemma,ner,depparse,coref",
        "coref.algorithm": "statistical",
    }


class CoreNLPNeural(CoreNLPSystem):
    """The neural system (Clark and Manning, 2016): KnowRef's Deep-RL, WinoNB's C&M."""

    name = "corenlp-neural"
    annotation: ClassVar = {
        "annotators": "tokenize,ssplit,pos,lemma,ner,parse,coref",
        "coref.algorithm": "neural",
    }
