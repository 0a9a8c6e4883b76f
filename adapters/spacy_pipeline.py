"""Any spaCy pipeline that finds coreference."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from spacy.about import __version__ as spacy_version
from spacy.language import Language

from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.adapters.checkpoints.spacy_pipelines import open_spacy
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import contract_clusters, refuse_bare_string
from pronominal.adapters.remote.programs.spacy_coreference import PREFIX, clusters_of, load_pipeline
from pronominal.adapters.words.length_batches import require_batch_size
from pronominal.checksums import file_sha256
from pronominal.errors import InputError
from pronominal.spans import Cluster


class SpacyPipeline:
    """A pipeline whose documents hold clusters (see `clusters_of` for where).

    Args:
        pipeline: a package, a folder, or a loaded pipeline.
        components: modules that register its components, as ``fastcoref.spacy_component``; of
            ``coreferee:coreferee`` the component is added to the pipeline, too.
        prefix: how the keys of the span groups with clusters begin.
        batch_size: how many texts the pipeline takes together; its own default when None.
    """

    name = "spacy"
    engine = "spacy"

    def __init__(
        self,
        pipeline: str | Language,
        *,
        components: Sequence[str] = (),
        prefix: str = PREFIX,
        batch_size: int | None = None,
    ) -> None:
        if batch_size is not None:
            require_batch_size(batch_size)
        if not isinstance(components, list | tuple):
            raise InputError(
                "components are a list of modules",
                cure='write components = ["fastcoref.spacy_component"], say',
            )
        self._prefix, self._batch_size = prefix, batch_size
        self._pipeline = _loaded(pipeline, components) if isinstance(pipeline, str) else pipeline
        self.checkpoint = _checkpoint(pipeline, self._pipeline)
        self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans."""
        refuse_bare_string(texts)
        answers = []
        for doc in self._pipeline.pipe(texts, batch_size=self._batch_size):
            clusters = clusters_of(doc, self._prefix)
            answers.append([] if clusters is None else contract_clusters(clusters))
        return answers


def _loaded(name: str, components: Sequence[str]) -> Language:
    def load(pipeline: str) -> Language:
        try:
            loaded: Language = load_pipeline(pipeline, components)
        except ModuleNotFoundError as error:
            raise InputError(
                f"there is no module {error.name}",
                cure="install the package that has the component",
            ) from error
        return loaded

    return open_spacy(name, "name its component's module in components", load)


def _checkpoint(given: str | Language, pipeline: Language) -> Checkpoint | None:
    """Identify a pipeline by its files."""
    folder = Path(given) if isinstance(given, str) and Path(given).is_dir() else pipeline.path
    if folder is None:
        return None
    listing = hashlib.sha256(f"spacy {spacy_version}\n".encode())
    for file in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        listing.update(f"{file_sha256(file)}  {file.relative_to(folder).as_posix()}\n".encode())
    name = given if isinstance(given, str) else f"{pipeline.lang}_{pipeline.meta['name']}"
    return Checkpoint(name, Path(folder), listing.hexdigest())
