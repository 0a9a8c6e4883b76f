"""Where KnowRef's files come from: the release, and a copy with the text of its Reddit splits."""

from pronominal.dataset_scripts.building.sources import Sources, Upstream

TEST = "knowref_test.json"
SPREADSHEET = "knowref_dev_val_info.xlsx"
_IDS = ("redditID_dev_final.txt", "redditID_val_final.txt")

KNOWREF = Upstream(
    repository="aemami1/KnowRef",
    commit="4446bacfcb4ad0ba972df87dbc8f02baeb0da919",
    licence="CC-BY-SA-3.0 (the test data)",
    folder="knowref/knowref_release",
    files={
        TEST: "0be6f4d7d4a3e57cf96178f3a70c7fb1e1c06ee15814c329ad755d0986784e1f",
        SPREADSHEET: "7b85896d177f0e906f11cdc8769f7b9ec783b5429a785ba2cee72fd3ec7feb16",
        _IDS[0]: "5ebc6235dd199652677aff6e3b3936a5b5f1b183df37d013c125a6ef741f79ac",
        _IDS[1]: "5b25fcd12c484c1f454a9500e2f82b909faa745677b2158dbf0b639a1a6fec1c",
    },
    paths={
        **{name: f"Knowref_dataset/{name}" for name in (TEST, SPREADSHEET)},
        **{name: f"Knowref_scraping/knowref_scraper/sources/reddit/{name}" for name in _IDS},
    },
)

_60K = {
    "data/val.json": "fe8e1df3baa117aa4bc9485f920dd0a3c8652d31df60e84cc8b3e6b243314bc8",
    "data/dev.tsv": "3487371729d8d9b34b05e07b4ed5af1cdc98b792c8caa943fd55b0ec6e510cea",
    "data/test.tsv": "4adafba0e027cbb06c30b6b541ef298576d668f21ca45334a3fd947059720eaf",
    "data/train.tsv": "4e55423208fed346478560e9e0876522268308b4ad5b89a92bba94719fa50285",
    "data_switched/test.tsv": "5c52a21e7d171a57a57d88ad8d50e60475375b65a498a0b19fa324f1c6df81e8",
    "data_switched/train.tsv": "bc7148313884938c18030487ba858ac491dd4c11b1aaab2643590234e8d9761c",
    "data_switched/val.tsv": "eb8dfd30591c1898f51cc18a5015d6a681f7cc88b5159415e24ff3d7bb22ad9c",
}
KNOWREF60K = Upstream(
    repository="aemami1/KnowRef60k",
    commit="29bd6cb9d55a82e8bcdaf73b4a9e7b72e7e1cf2f",
    licence="none stated",
    folder="knowref/knowref60k_copy",
    files=_60K,
    paths={name: f"Overlap_Analysis/Test_sets/benchmarks/knowref/{name}" for name in _60K},
)


def held(sources: Sources, upstream: Upstream, name: str) -> bool:
    """Say whether a file lies in the sources folder; such files are used but never downloaded."""
    return sources.root is not None and (sources.root / upstream.folder / name).exists()
