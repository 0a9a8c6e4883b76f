"""A seed's folder takes what is saved, also after a save that was killed half-way."""

from pathlib import Path

from pronominal.eval.training.seed_folder import SeedFolder


def test_a_folder_of_a_killed_save_is_replaced(tmp_path: Path) -> None:
    folder = SeedFolder(tmp_path / "seed-1", {}, {})
    left = folder.path / "encoder"
    left.mkdir(parents=True)
    (left / "of-the-killed-one").touch()

    def save(new: Path) -> None:
        (new / "encoder").mkdir()
        (new / "encoder" / "config.json").write_text("{}")
        (new / "model.safetensors").touch()

    folder.save(save)
    assert [file.name for file in left.iterdir()] == ["config.json"]
    assert {file.name for file in folder.path.iterdir()} == {"encoder", "model.safetensors"}
