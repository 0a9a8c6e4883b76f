"""The embedded sample: WinoPron's form, its own sentences, answers that position cannot tell."""

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pronominal import Mention
from pronominal.dataset_scripts import sample
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.schemas.templates import SLOT, fill


def test_it_passes_winoprons_checks() -> None:
    assert [str(violation) for violation in sample.violations(Sources())] == []


def test_it_has_24_pairs_in_three_cases_and_two_endings(sample: Path) -> None:
    rows = read_split(str(sample), "double").table.to_pylist()
    assert len(rows) == 24 * 3 * 2 * 4
    assert len({(row["occupation"], row["participant"]) for row in rows}) == 24


def test_answers_cannot_be_told_from_position(sample: Path) -> None:
    counts: Counter[tuple] = Counter()
    for row in read_split(str(sample), "double").table.to_pylist():
        occupation, participant = row["candidates"]
        first = 0 if occupation["start"] < participant["start"] else 1
        counts[row["case"], first, row["label"]] += 1
    assert len(counts) == 12
    assert set(counts.values()) == {48}


def test_single_sentences_name_one_entity(sample: Path) -> None:
    for row in read_split(str(sample), "single").table.to_pylist():
        assert [c["start"] >= 0 for c in row["candidates"]] == [
            row["label"] == 0,
            row["label"] == 1,
        ], row["id"]


def test_a_rebuild_gives_the_same_bytes(sample: Path, tmp_path: Path) -> None:
    from pronominal.dataset_scripts import sample as script

    write_dataset(script, Sources(), BuildOptions(), tmp_path)
    for name in ("SHA256SUMS", "double/test.parquet", "single/test.parquet", "README.md"):
        assert (tmp_path / "sample" / name).read_bytes() == (sample / name).read_bytes()


words = st.text(st.characters(exclude_characters="$"), min_size=1, max_size=8)
slots = st.permutations(["$OCCUPATION", "$PARTICIPANT", "$NOM_PRONOUN"])


@given(slots, st.lists(words, min_size=4, max_size=4), st.lists(words, min_size=3, max_size=3))
def test_filled_slots_stand_where_their_offsets_say(order, fixed, fillers) -> None:
    text = fixed[0] + "".join(
        f" {slot} {rest}" for slot, rest in zip(order, fixed[1:], strict=True)
    )
    given_words = dict(zip(order, fillers, strict=True))
    filled, mentions = fill(text, given_words)
    assert filled == SLOT.sub(lambda slot: given_words[slot.group()], text)
    for slot, mention in mentions.items():
        assert mention.text == given_words[slot]
        assert Mention(*mention).stands_in(filled)
