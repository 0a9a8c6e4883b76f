"""Every folder of `dataset_scripts` is a dataset, or a room whose imports are under a rule."""

from configparser import ConfigParser
from pathlib import Path

from pronominal import dataset_scripts

ROOT = Path(__file__).parents[2]


def test_rooms_have_their_place_in_the_rules_for_imports() -> None:
    rules = ConfigParser()
    rules.read(ROOT / ".importlinter")
    layers = rules["importlinter:contract:dataset-rooms"]["layers"]
    rooms = {path.parent.name for path in (ROOT / "dataset_scripts").glob("*/__init__.py")}
    assert rooms - dataset_scripts.DATASETS.keys() == {*layers.replace("|", " ").split()}
