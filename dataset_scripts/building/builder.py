"""Every dataset as a `datasets` builder, for those who want ``download_and_prepare()``."""

import hashlib
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pronominal.dataset_scripts.building.build import build
from pronominal.dataset_scripts.tables.checksums import SUMS
from pronominal.errors import extra_needed
from pronominal.names import unknown_name

if TYPE_CHECKING:
    from datasets import DatasetBuilder


def builder(
    name: str,
    config: str | None = None,
    *,
    sources: str | Path | None = None,
    allow_changed: bool = False,
    cache_dir: str | Path | None = None,
    **options: Any,
) -> "DatasetBuilder":
    """Return the builder of one config of a dataset.

    Its ``download_and_prepare()``, ``as_dataset()`` and ``as_streaming_dataset()`` are those of
    `datasets`, on a folder that `build` makes below its cache; the same upstream bytes and options
    give the same folder.

    Args:
        name: the dataset, such as ``"winopron"``.
        config: its config; the first one when None.
        sources: folder with the upstream files; None downloads them.
        allow_changed: whether upstream files that are not the pinned ones may be used.
        cache_dir: where `datasets` writes; None for its own cache.
        options: as `build` takes them.

    Raises:
        InputError: `datasets` is not installed, the dataset or config does not exist, or an
            upstream file is missing or wrong.
    """
    with extra_needed("hub", "a builder"):
        import datasets

    cache = Path(cache_dir or datasets.config.HF_DATASETS_CACHE, "pronominal")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        built = build(name, scratch, sources=sources, allow_changed=allow_changed, **options)
        folder = cache / hashlib.sha256((built / SUMS).read_bytes()).hexdigest()[:16] / name
        folder.parent.mkdir(exist_ok=True)
        # it is there already where it was built before
        with suppress(OSError):
            built.rename(folder)
    configs = {path.parent.name for path in folder.glob("*/*.parquet")}
    if config is not None and config not in configs:
        raise unknown_name("config", config, configs)
    # the cache of `datasets` does not look at what the files hold
    return datasets.load_dataset_builder(str(folder), config, cache_dir=str(folder.parent))
