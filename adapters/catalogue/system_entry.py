"""What the table of systems says of each one."""

from dataclasses import dataclass

from pronominal.adapters.contract.systems import Kind


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """One line of ``pronominal systems``.

    Attributes:
        kind: how the system answers.
        place: where its class is, as ``module:attribute`` below ``pronominal.adapters``.
        summary: what it does, in one sentence.
        extra: the extra that installs what it needs; None when the core is enough.
        weights: the Hub id of the published weights; the page that links to them (https://...)
            where they are not on the Hub, or the command that makes them (``pronominal ...``),
            or a key of `GIVEN`, so that a checkpoint has to be given; ``in its environment`` where
            they come with that or are fetched in it; None when it has none.
        given: the keyword of the system's own that takes the checkpoint.
        environment: the environment (``pronominal env create``) that it runs in, if it needs one.
        server: the command that starts the server which it asks, if it asks one.
    """

    kind: Kind
    place: str
    summary: str
    extra: str | None = None
    weights: str | None = None
    given: str = "checkpoint"
    environment: str | None = None
    server: str | None = None


ANY_MODEL = "any model of transformers"

GIVEN: dict[str, str] = {
    ANY_MODEL: "give a folder or a Hub id, as {name}=ORG/NAME",
    "a command": "give the program and its arguments, as {name}='python mine.py'",
    "a URL": "give its address, as {name}=http://localhost:8000/coref",
    "any spaCy pipeline": "give a package or a folder, as {name}=PIPELINE",
}
"""Weights of systems that run whatever they are given -> how to give it."""
