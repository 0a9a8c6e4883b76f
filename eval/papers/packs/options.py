"""What the user asks of the runs behind a paper's tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How rows are run.

    Attributes:
        data: the folder of built datasets; one that is not there is built.
        runs: the folder of runs; those of the user's own weights are in folders of theirs in it.
        sources: upstream's files; they are downloaded without.
        weights: key of a row -> a checkpoint of the user's own.
        limit: the first rows of each split only, no more than so many.
        mirror: where files are fetched from instead of their published addresses.
        trust_remote_code: run the Python code that checkpoints bring.
    """

    data: Path = Path("replication", "data")
    runs: Path = Path("replication", "runs")
    sources: Path | None = None
    weights: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    mirror: str | None = None
    trust_remote_code: bool = False

    def runs_of(self, key: str) -> Path:
        """Return the folder of a row's runs: other weights are other runs."""
        own = self.weights.get(key)
        return self.runs if own is None else self.runs / f"of {quote(own, safe='')}"


AS_PUBLISHED = RunOptions()
"""What is meant where nothing is asked: the published weights, all rows."""
