"""WinoPron from the upstream archive: exact to the row, and every planted fault is named."""

import csv
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pronominal import InputError, load_pronoun_sets
from pronominal.cli.main import main
from pronominal.dataset_scripts import winopron
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split

Rows = list[list[str]]
SLOTS = {"nominative": "$NOM_PRONOUN", "accusative": "$ACC_PRONOUN", "possessive": "$POSS_PRONOUN"}


def upstream_digest(rows: list[dict]) -> str:
    """The order-independent digest of facts/data.md, section 0, over upstream's columns."""
    lines = sorted(
        "\t".join(
            (
                row["occupation"],
                row["participant"],
                row["text"],
                SLOTS[row["case"]],
                row["pronoun"]["text"],
                row["candidates"][row["label"]]["text"],
            )
        )
        for row in rows
    )
    return hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()


@pytest.fixture(scope="module")
def published(built: Callable[[str], Path]) -> Path:
    return built("winopron")


@pytest.mark.parametrize("config", ["double", "single"])
def test_rows_are_upstreams(published: Path, goldens: Path, config: str) -> None:
    rows = read_split(str(published), config).table.to_pylist()
    digests = json.loads((goldens / "data" / "digests.json").read_text())
    assert len(rows) == 1440
    assert upstream_digest(rows) == digests[f"winopron_{config}"]["sha256"]


@pytest.mark.parametrize("config", ["double", "single"])
def test_columns_are_the_contracts(published: Path, config: str) -> None:
    rows = read_split(str(published), config).table.to_pylist()
    assert list(rows[0]) == [
        *("id", "text", "pronoun", "candidates", "label", "occupation", "participant", "case"),
        *("pronoun_set", "template_id", "pair_id"),
    ]
    for row in rows:
        located = [candidate["start"] >= 0 for candidate in row["candidates"]]
        assert located[row["label"]], row["id"]
        assert all(located) == (config == "double"), row["id"]
    assert len({row["template_id"] for row in rows}) == 360
    assert len({row["pair_id"] for row in rows}) == 180
    assert len({row["id"] for row in rows}) == 1440


def test_balance_is_the_papers(published: Path) -> None:
    table = read_split(str(published), "double").table
    for column, size in (("case", 480), ("pronoun_set", 360), ("label", 720)):
        counts = {v["values"]: v["counts"] for v in table[column].value_counts().to_pylist()}
        assert set(counts.values()) == {size}, column


def test_validate_passes_on_the_real_data(upstream: Path) -> None:
    assert [str(violation) for violation in winopron.violations(Sources(upstream))] == []


def test_a_users_pronoun_set_fills_every_template(upstream: Path, tmp_path: Path) -> None:
    (tmp_path / "ze.toml").write_text(
        '[ze]\nnominative = "ze"\naccusative = "zir"\npossessive = "zir"\n'
    )
    options = BuildOptions(pronouns=load_pronoun_sets(tmp_path / "ze.toml"))
    write_dataset(winopron, Sources(upstream), options, tmp_path)
    rows = read_split(str(tmp_path / "winopron"), "double").table.to_pylist()
    assert len(rows) == 1800
    forms = {(r["case"], r["pronoun"]["text"]) for r in rows if r["pronoun_set"] == "ze"}
    assert forms == {("nominative", "ze"), ("accusative", "zir"), ("possessive", "zir")}


def planted(upstream: Path, out: Path, change: Callable[[Rows], object]) -> Sources:
    """Sources whose template table was changed; row 0 is the header, row N is line N + 1."""
    password = zip_password(upstream)
    with zipfile.ZipFile(upstream / "winopron/data.zip") as archive:
        text = archive.read("new_templates.tsv", pwd=password).decode()
    rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    change(rows)
    (out / "winopron").mkdir()
    shutil.copy(upstream / "winopron/README.md", out / "winopron")
    with zipfile.ZipFile(out / "winopron/data.zip", "w") as archive:
        archive.writestr("new_templates.tsv", "\r\n".join("\t".join(row) for row in rows))
    return Sources(out)


def zip_password(upstream: Path) -> bytes:
    return (
        (upstream / "winopron/README.md").read_text().split("password `")[1].split("`")[0].encode()
    )


def replace(row: int, column: int, old: str, new: str) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        found = old in rows[row][column]
        assert found, "the fault cannot be planted"
        rows[row][column] = rows[row][column].replace(old, new, 1)

    return change


FAULTS = {
    "an answer that is not 0 or 1": (replace(7, 2, "", "2"), 8, "the answer is"),
    "an unknown case": (replace(9, 3, "$ACC_PRONOUN", "$DAT_PRONOUN"), 10, "no grammatical case"),
    "the same answer twice": (lambda rows: rows[2].__setitem__(2, rows[1][2]), 3, "same answer"),
    "another start": (
        replace(12, 4, "$OCCUPATION", "$OCCUPATION gladly"),
        13,
        "before the pronoun",
    ),
    "a slot that is missing": (
        replace(20, 4, "$PARTICIPANT", "person"),
        21,
        "0 $PARTICIPANT slots",
    ),
    "a slot of another case": (replace(31, 4, "$NOM_PRONOUN", "$ACC_PRONOUN"), 32, "$NOM_PRONOUN"),
    "a further pronoun": (replace(40, 4, ".", " for xem."), 41, "further pronoun, 'xem'"),
    "a reflexive before a comma": (replace(44, 4, ".", " by herself, too."), 45, "'herself'"),
    "another entity in the single version": (
        replace(50, 5, ".", " with the $PARTICIPANT and $OCCUPATION."),
        51,
        "single:",
    ),
    "a repeated template": (lambda rows: rows[61].__setitem__(4, rows[55][4]), 62, "same template"),
    "a row that is gone": (lambda rows: rows.pop(70), 68, "1 "),
    "a determiner that is not the": (
        replace(81, 4, "he $OCCUPATION", "his $OCCUPATION"),
        82,
        "determiner",
    ),
    "no period": (lambda rows: rows[90].__setitem__(4, rows[90][4].rstrip(".")), 91, "no period"),
    "a double blank": (replace(95, 5, " ", "  "), 96, "double blank"),
    "was after the pronoun": (replace(97, 4, "$NOM_PRONOUN", "$NOM_PRONOUN was"), 98, "'was'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_validate_names_the_line_of(upstream: Path, tmp_path: Path, fault: str) -> None:
    change, line, message = FAULTS[fault]
    found = list(winopron.violations(planted(upstream, tmp_path, change)))
    named = [violation.message for violation in found if violation.row == f"line {line}"]
    assert any(message in text for text in named), [violation.row for violation in found]


def test_changed_sources_are_refused_unless_allowed(upstream: Path, tmp_path: Path) -> None:
    sources = planted(upstream, tmp_path, lambda rows: rows.pop())
    with pytest.raises(InputError, match=r"SHA-256 differs.*--allow-changed"):
        write_dataset(winopron, sources, BuildOptions(), tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))
    allowed = Sources(tmp_path, allow_changed=True)
    write_dataset(winopron, allowed, BuildOptions(), tmp_path / "out")
    assert "winopron/data.zip" in (tmp_path / "out/winopron/README.md").read_text()


def test_line_ends_do_not_matter(upstream: Path, tmp_path: Path) -> None:
    shutil.copytree(upstream / "winopron", tmp_path / "winopron")
    readme = tmp_path / "winopron/README.md"
    readme.chmod(0o644)
    readme.write_bytes(readme.read_bytes().replace(b"\n", b"\r\n"))
    assert [str(violation) for violation in winopron.violations(Sources(tmp_path))] == []


def truncated(folder: Path) -> None:
    path = folder / "data.zip"
    path.write_bytes(path.read_bytes()[:-5000])


def without_password(folder: Path) -> None:
    (folder / "README.md").write_text("no word of it")


def without_column(folder: Path) -> None:
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("new_templates.tsv", "occupation(0)\tanswer\nsmith\t0\n")


def empty(folder: Path) -> None:
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("new_templates.tsv", "")


def latin1(folder: Path) -> None:
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("new_templates.tsv", b"occupation(0)\nma\xeetre\n")


def without_member(folder: Path) -> None:
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("other.tsv", "")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncated, "data.zip: the archive is truncated"),
        (without_password, "data.zip: its README names no password; set PRONOMINAL_ZIP_PASSWORD"),
        (without_column, "new_templates.tsv, line 1: the column 'other-participant.1.' is missing"),
        (empty, "new_templates.tsv: the table is empty"),
        (latin1, "new_templates.tsv, line 2: the text is not UTF-8"),
        (without_member, "data.zip: there is no new_templates.tsv"),
        (lambda folder: shutil.rmtree(folder), "README.md|data.zip: cannot be read"),
    ],
)
def test_damaged_sources_are_named(
    upstream: Path, tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    shutil.copytree(upstream / "winopron", tmp_path / "winopron")
    for path in (tmp_path / "winopron").iterdir():
        path.chmod(0o644)
    damage(tmp_path / "winopron")
    with pytest.raises(InputError, match=message):
        write_dataset(winopron, Sources(tmp_path), BuildOptions(), tmp_path / "out")
    assert not list(tmp_path.glob("out/*")), "something half-built was left"


def test_a_wrong_password_is_named(upstream: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("wrong", "wrong2", *map(str, range(300))):  # some pass the check byte
        monkeypatch.setenv("PRONOMINAL_ZIP_PASSWORD", wrong)
        with pytest.raises(InputError, match="password"):
            list(winopron.violations(Sources(upstream)))


SHORT = {"nom": "nominative", "acc": "accusative", "poss": "possessive"}
NUMBERS = {
    **{"tp": "tp", "fp": "fp", "fn": "fn", "tn": "tn", "n": "n"},
    **{"p": "precision", "r": "recall", "f1": "f1"},
}
SYSTEMS: dict[str, Callable[[dict], int | None]] = {
    "gold": lambda row: row["label"],
    "always_occupation": lambda row: 0,
    "none": lambda row: None,
    "gold_but_abstain_on_xe": lambda row: None if row["pronoun_set"] == "xe" else row["label"],
    "acc_wrong_else_gold": lambda row: row["label"] ^ (row["case"] == "accusative"),
}


@pytest.mark.parametrize("config", ["double", "single"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_score_gives_every_number_of_the_upstream_scorer(
    published: Path, goldens: Path, tmp_path: Path, capsys, monkeypatch, config: str, system: str
) -> None:
    rows = read_split(str(published), config).table.to_pylist()
    lines = (
        {"id": row["id"], "choice": choice, "abstained": "none" if choice is None else None}
        for row in rows
        for choice in [SYSTEMS[system](row)]
    )
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = ["score", "winopron", "--dataset", published, "--config", config, "--json"]
    command += ["--predictions", tmp_path / "p.jsonl"]
    monkeypatch.setattr("sys.argv", ["pronominal", *map(str, command)])
    with pytest.raises(SystemExit):
        main()
    scores = json.loads(capsys.readouterr().out)
    reference = json.loads((goldens / "data/winopron_scorer_reference.json").read_text())
    for key, numbers in reference[f"{config}/{system}"].items():
        pairing, stratum = key.split("/")
        block = {
            "None": scores,
            "template": scores["pronoun_consistency"],
            "coref_dir": scores["disambiguation_consistency"],
        }[pairing]
        found = (
            block.get("overall", block)
            if stratum == "None"
            else (block["by_case"] | block["by_pronoun_set"])[SHORT.get(stratum, stratum)]
        )
        ours = {name: found[ours] for name, ours in NUMBERS.items()}
        ours["acc"] = found["accuracy" if pairing == "None" else "score"]
        assert ours == pytest.approx(numbers, abs=1e-6), key


@pytest.mark.parametrize("columns", [(2, 4), (0, 4), (1, 5), (3, 4)])
def test_moved_columns_put_no_sentence_into_a_message(
    upstream: Path, tmp_path: Path, columns: tuple[int, int]
) -> None:
    first, second = columns

    def move(rows: Rows) -> None:
        for row in rows[1:]:
            row[first], row[second] = row[second], row[first]

    sources = planted(upstream, tmp_path, move)
    longest = max(len(violation.message) for violation in winopron.violations(sources))
    assert longest < 120
    with pytest.raises(InputError) as caught:
        write_dataset(
            winopron, Sources(tmp_path, allow_changed=True), BuildOptions(), tmp_path / "out"
        )
    assert len(caught.value.cause) < 120


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replace(3, 4, "$ACC_PRONOUN", "someone"), "line 4: 0 $ACC_PRONOUN slots"),
        (replace(3, 4, "$OCCUPATION", "$FOO"), "line 4: 0 $OCCUPATION slots"),
        (replace(3, 4, "$ACC_PRONOUN", "$ACC_PRONOUNs"), "line 4: letters at a slot"),
        (lambda rows: rows[3].__setitem__(0, ""), "line 4: an entity without a name"),
        (lambda rows: rows[3].__setitem__(4, rows[3][4] + "\r!"), "the table is damaged"),
        (lambda rows: rows[3].__setitem__(4, "x" * 140_000), "the table is damaged"),
    ],
)
def test_a_template_that_cannot_be_filled_is_named(
    upstream: Path, tmp_path: Path, change: Callable[[Rows], None], message: str
) -> None:
    planted(upstream, tmp_path, change)
    with pytest.raises(InputError) as caught:
        write_dataset(
            winopron, Sources(tmp_path, allow_changed=True), BuildOptions(), tmp_path / "out"
        )
    assert message in str(caught.value)
