"""RUFF: upstream's rows and pandas' samples, from arithmetic; and each fault is named.

What fails prints counts, ids and line numbers, no sentences.
"""

import hashlib
import io
import itertools
import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.dataset_scripts import ruff
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.ruff.assembly import SLOTS, Setting
from pronominal.dataset_scripts.ruff.checks import setting_violations, template_violations
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.dataset_scripts.ruff.templates import ENTITY, Templates
from pronominal.pronouns import CASES, PRONOUN_SETS, PronounSet
from tests.dataset_scripts.ruff.own_templates import Tables, own_tables, write_sources

Row = dict[str, Any]

STEMS = ["eo_task", *(f"eo_ep{'_ip' * more}_task" for more in range(5))]
ROWS = [7_200, 86_400, 345_600, 1_036_800, 2_073_600, 2_073_600]
DOUBLE_BLANKS = [240, 5_760]
ZE = PronounSet("ze", "ze", "zir", "zirs")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return write_sources(tmp_path_factory.mktemp("own"), own_tables())


@pytest.fixture(scope="module")
def templates(upstream: Path) -> Templates:
    found, errors = ruff.read_templates(Sources(upstream))
    assert not errors
    return found


@pytest.fixture(scope="module")
def published(templates: Templates) -> list[Instances]:
    return [Instances(Setting(templates, PRONOUN_SETS, count)) for count in range(6)]


@pytest.fixture(scope="module")
def digests(goldens: Path) -> dict[str, Any]:
    return dict(json.loads((goldens / "data" / "digests.json").read_text())["ruff"])


def tables_of(sources: Sources, options: BuildOptions) -> dict[tuple[str, str], pa.Table]:
    splits = ruff.splits(sources, options)
    return {(split.config, split.name): pa.concat_tables(split.tables) for split in splits}


@pytest.fixture(scope="module")
def by_default(upstream: Path) -> dict[tuple[str, str], pa.Table]:
    return tables_of(Sources(upstream), BuildOptions())


def upstream_lines(table: pa.Table) -> list[bytes]:
    """Turn published rows into those of upstream's files, from published columns only."""
    lines: list[bytes] = []
    for case in CASES:
        rows = table.filter(pc.equal(table["case"], case)).combine_chunks()
        forms = pc.list_flatten(rows["options"])
        firsts = np.arange(0, 4 * len(rows), 4)
        names = pa.array([pronouns.name for pronouns in PRONOUN_SETS])
        other = pc.index_in(rows["distractor_set"], value_set=names, skip_nulls=True)
        confused = forms.take(pc.add(firsts, other.cast(pa.int64())))
        slot = SLOTS[case]
        columns = (
            rows["occupation"],
            rows["participant"],
            pc.replace_substring(rows["text"], "___", slot),
            slot,
            rows["occupation"],
            forms.take(pc.add(firsts, rows["label"])),
            rows["uid"],
            pc.fill_null(confused, ""),
        )
        joined = pc.binary_join_element_wise(*columns, "\t")
        lines += joined.cast(pa.binary()).to_pylist()
    return lines


def sum256(tables: Iterator[pa.Table]) -> str:
    total = 0
    for table in tables:
        digests = b"".join([hashlib.sha256(line).digest() for line in upstream_lines(table)])
        parts = np.frombuffer(digests, ">u4").reshape(-1, 8).sum(axis=0, dtype=np.uint64)
        total += sum(part << 32 * place for place, part in enumerate(reversed(parts.tolist())))
    return f"{total % 2**256:064x}"


@pytest.mark.parametrize("distractors", range(6))
def test_every_row_is_upstreams(
    published: list[Instances], digests: dict[str, Any], distractors: int
) -> None:
    golden = digests["settings"][STEMS[distractors]]
    assert len(published[distractors]) == golden["rows"] == ROWS[distractors]
    found = sum256(published[distractors].tables())
    assert found == golden["sum256"]


@pytest.mark.parametrize("distractors", range(6))
def test_samples_are_upstreams(
    published: list[Instances], digests: dict[str, Any], distractors: int
) -> None:
    golden = digests["samples_sha256"][f"13_{STEMS[distractors]}.tsv"]
    (table,) = published[distractors].sampled(13)
    assert table.num_rows == golden["rows"] == 2_160
    text = b"\n".join(sorted(upstream_lines(table))) + b"\n"
    found = hashlib.sha256(text).hexdigest()
    assert found == golden["sha256"]


def pandas_sample(instances: Instances, seed: int) -> list[int]:
    """Draw with pandas itself from the groups that upstream makes, in upstream's row order."""
    pandas = pytest.importorskip("pandas")
    setting = instances.setting
    at = setting.coordinates(np.arange(len(setting)))
    tasks = setting.templates.tasks

    def ranks(strings: list[Any]) -> Any:
        return np.unique(strings, return_inverse=True)[1].reshape(np.shape(strings))

    forms = ranks([[pronouns.form(task.case) for pronouns in PRONOUN_SETS] for task in tasks])
    keys = {
        "word": ranks([task.occupation for task in tasks])[at.task],
        "slot": ranks([SLOTS[task.case] for task in tasks])[at.task],
        "form": forms[at.task, at.pronoun],
    }
    if setting.distractors:
        keys["confused"] = forms[at.task, setting.distractor_sets(at)]
    groups = pandas.DataFrame(keys).groupby(list(keys))
    drawn = groups.sample(1 if setting.distractors else 3, random_state=seed)
    return list(drawn.index)


@pytest.mark.parametrize(("distractors", "seed"), [(0, 17), (1, 17), (2, 19), (3, 17), (5, 19)])
def test_samples_are_those_of_pandas(
    published: list[Instances], distractors: int, seed: int
) -> None:
    found = published[distractors].setting.sample(seed).tolist()
    same = found == pandas_sample(published[distractors], seed)
    assert same


def test_human_sample_is_that_of_pandas(
    by_default: dict[tuple[str, str], pa.Table], published: list[Instances]
) -> None:
    pandas = pytest.importorskip("pandas")
    frames = [
        pandas.DataFrame({"id": next(instances.sampled(13))["id"].to_pylist()})
        for instances in published
    ]
    drawn = pandas.concat(frames, keys=STEMS).groupby(level=0).sample(100, random_state=131719)
    assert by_default["human", "test"]["id"].to_pylist() == drawn["id"].tolist()


def test_table_1_of_the_paper(upstream: Path, by_default: dict[tuple[str, str], pa.Table]) -> None:
    sizes = {split: table.num_rows for split, table in by_default.items()}
    configs = [f"distractors_{count}" for count in range(6)]
    samples = {(config, f"seed_{seed}"): 2_160 for config in configs for seed in (13, 17, 19)}
    whole = {("distractors_0", "test"): 7_200, ("distractors_1", "test"): 86_400}
    assert sizes == {**samples, **whole, ("no_context", "test"): 180, ("human", "test"): 600}
    every = list(ruff.splits(Sources(upstream), BuildOptions(all=True)))
    assert {split.config for split in every if split.name == "test"} - {"human"} == {
        "no_context",
        *configs,
    }


@pytest.mark.parametrize("distractors", [0, 1])
def test_balance_offsets_and_entities(published: list[Instances], distractors: int) -> None:
    rows = [row for table in published[distractors].tables() for row in table.to_pylist()]
    assert set(Counter(row["case"] for row in rows).values()) == {ROWS[distractors] // 3}
    forms = Counter((row["case"], row["options"][row["label"]]) for row in rows)
    assert len(forms) == 12
    assert set(forms.values()) == {ROWS[distractors] // 12}
    wrong = Counter()
    for row in rows:
        text, (blank, start, end) = row["text"], row["blank"].values()
        words = text.lower().replace(".", " ").replace(",", " ").replace("'", " ").split()
        wrong["offsets"] += not text[start:end] == blank == "___"
        wrong["slots"] += text.count("___") != 1
        wrong["occupation"] += words.count(row["occupation"]) != 2
        wrong["participant"] += words.count(row["participant"]) != bool(distractors)
        wrong["set"] += PRONOUN_SETS[row["label"]].name != row["pronoun_set"]
        wrong["distractor"] += (row["distractor_set"] is None) != (distractors == 0)
        wrong["same set"] += row["distractor_set"] == row["pronoun_set"]
        wrong["double blanks"] += "  " in text
    assert +wrong == {"double blanks": DOUBLE_BLANKS[distractors]}
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({(row["text"], row["label"]) for row in rows}) == len(rows)


def test_every_sample_is_balanced(upstream: Path) -> None:
    for split in ruff.samples(Sources(upstream), BuildOptions()):
        (table,) = split.tables
        keys = ("occupation", "case", "pronoun_set", "distractor_set")
        groups = Counter(zip(*(table[key].to_pylist() for key in keys), strict=True))
        expected = {3} if split.config == "distractors_0" else {1}
        assert set(groups.values()) == expected, (split.config, split.name)
        assert pc.count_distinct(table["id"]).as_py() == 2_160


def test_task_sentences_alone(upstream: Path) -> None:
    rows = rows_of_config(Sources(upstream), BuildOptions(), "no_context", "test")
    assert {row["label"] for row in rows} == {-1}
    assert {row["pronoun_set"] for row in rows} == {row["distractor_set"] for row in rows} == {None}
    assert len({row["id"] for row in rows}) == 180
    located = [row["text"][row["blank"]["start"] : row["blank"]["end"]] for row in rows]
    assert set(located) == {"___"}
    assert {tuple(row["options"]) for row in rows} == {
        tuple(pronouns.form(case) for pronouns in PRONOUN_SETS) for case in CASES
    }


def narratives(tables: Tables, distractors: int, sets: tuple[PronounSet, ...]) -> Iterator[Row]:
    """Assemble the rows as section 3.2 of the paper says, one after another."""
    contexts: dict[str, list[list[str]]] = {}
    for cells in tables["context.tsv"][1:]:
        contexts.setdefault(cells[0], []).append(cells)

    @cache
    def say(template: str, noun: str, slot: str, pronouns: PronounSet) -> str:
        case = next(case for case, known in SLOTS.items() if known == slot)
        return template.replace(ENTITY, noun).replace(slot, pronouns.form(case)).capitalize()

    for occupation, participant, sentence, slot, _ in tables["task.tsv"][1:]:
        own = contexts[slot]
        task = sentence.replace(slot, "___")
        for (i, first), mine in itertools.product(enumerate(own), sets):
            opening = say(first[2], occupation, slot, mine)
            if not distractors:
                yield {"text": f"{opening} {task}", "uid": f"eo{i}", "sets": (mine.name, None)}
                continue
            for (j, second), other in itertools.product(enumerate(own), sets):
                if other == mine or second[1] == first[1] or j % 5 == i % 5:
                    continue
                same = [k for k in range(10) if own[k][1] == second[1] and k != j]
                for order in itertools.permutations(same, distractors - 1):
                    further = [say(own[k][3], "", slot, other) for k in order]
                    spoken = [opening, say(second[2], participant, slot, other), *further, task]
                    uid = f"eo{i}_ep{j}" + "".join(f"_ip{k}" for k in order)
                    yield {"text": " ".join(spoken), "uid": uid, "sets": (mine.name, other.name)}


FIVE = (*PRONOUN_SETS, ZE)


@pytest.mark.parametrize(
    ("distractors", "sets"),
    [*((count, PRONOUN_SETS) for count in (0, 1, 2, 3, 5)), (0, FIVE), (3, FIVE)],
    ids=lambda value: value if isinstance(value, int) else f"{len(value)} sets",
)
def test_arithmetic_is_assembly(
    own: Sources, distractors: int, sets: tuple[PronounSet, ...]
) -> None:
    options = BuildOptions(pronouns=sets, all=True)
    rows = rows_of_config(own, options, f"distractors_{distractors}", "test")
    expected = list(narratives(own_tables(), distractors, sets))
    assert len(rows) == len(expected)
    for row, (number, narrative) in zip(rows, enumerate(expected), strict=True):
        found = (row["text"], row["uid"], (row["pronoun_set"], row["distractor_set"]))
        assert found == tuple(narrative.values()), number
        assert row["options"][row["label"]] == sets[row["label"]].form(row["case"])
        assert row["text"][row["blank"]["start"] : row["blank"]["end"]] == "___"


def rows_of_config(sources: Sources, options: BuildOptions, config: str, name: str) -> list[Row]:
    found = (s for s in ruff.splits(sources, options) if (s.config, s.name) == (config, name))
    return [row for table in next(found).tables for row in table.to_pylist()]


@pytest.fixture(scope="module")
def own_instances(own: Sources) -> Callable[[tuple[PronounSet, ...], int], Instances]:
    templates, _ = ruff.read_templates(own)
    return cache(lambda sets, distractors: Instances(Setting(templates, sets, distractors)))


@settings(max_examples=60)
@given(data=st.data(), distractors=st.integers(0, 5), further=st.booleans())
def test_any_row_is_made_from_its_number(
    own_instances: Callable[[tuple[PronounSet, ...], int], Instances],
    data: st.DataObject,
    distractors: int,
    further: bool,
) -> None:
    instances = own_instances(FIVE if further else PRONOUN_SETS, distractors)
    numbers = data.draw(st.lists(st.integers(0, len(instances) - 1), min_size=1, max_size=20))
    together = instances.table(np.array(numbers)).to_pylist()
    alone = [instances.table(np.array([number])).to_pylist()[0] for number in numbers]
    assert together == alone
    for row in together:
        assert row["text"][row["blank"]["start"] : row["blank"]["end"]] == "___"
        assert row["pronoun_set"] != row["distractor_set"]
        assert len(row["uid"].split("_")) == distractors + 1


def test_samples_are_rows_of_test_under_the_same_id(
    by_default: dict[tuple[str, str], pa.Table],
) -> None:
    def same(sample: pa.Table, rows: pa.Table) -> bool:
        return rows.take(pc.index_in(sample["id"], value_set=rows["id"])) == sample

    for config in ("distractors_0", "distractors_1"):
        test = by_default[config, "test"]
        assert all(same(by_default[config, f"seed_{seed}"], test) for seed in (13, 17, 19))
    human = by_default["human", "test"]
    assert same(human, pa.concat_tables(t for (_, n), t in by_default.items() if n == "seed_13"))
    settings = Counter(uid.count("_") for uid in human["uid"].to_pylist())
    assert settings == dict.fromkeys(range(6), 100)


def test_a_further_set_leaves_the_papers_samples(
    upstream: Path, by_default: dict[tuple[str, str], pa.Table]
) -> None:
    grown = tables_of(Sources(upstream), BuildOptions(pronouns=FIVE))
    assert len(grown["distractors_1", "test"]) == 180 * 10 * 5 * 4 * 4
    assert len(grown["distractors_0", "seed_17"]) == 180 * 5 * 3
    assert len(grown["distractors_5", "seed_17"]) == 180 * 5 * 4
    for (config, name), table in grown.items():
        assert set(pc.list_value_length(table["options"]).unique().to_pylist()) == {5}
        known = by_default[config, name]
        if name == "test" and config.startswith("distractors"):
            kept = pc.is_in(table["id"], value_set=known["id"].combine_chunks())
            table = table.filter(kept)
        for column in ("id", "text", "label", "uid"):
            same = table[column].slice(0, len(known)).equals(known[column])
            assert same, (config, name, column)
        further = table.slice(len(known))
        with_ze = pc.or_kleene(
            pc.equal(further["pronoun_set"], "ze"), pc.equal(further["distractor_set"], "ze")
        )
        assert pc.all(with_ze, min_count=0).as_py()


@pytest.mark.parametrize(
    ("sets", "cause"),
    [
        (PRONOUN_SETS[:2], "missing"),
        ((ZE, *PRONOUN_SETS), "missing"),
        ((*PRONOUN_SETS, PronounSet("hir", "ze", "him", "hir")), "accusative form 'him'"),
        ((*PRONOUN_SETS, ZE, PronounSet("zie", "zie", "zim", "zirs")), "sets 'ze' and 'zie'"),
    ],
)
def test_sets_that_leave_no_right_answer_are_refused(
    own: Sources, sets: tuple[PronounSet, ...], cause: str
) -> None:
    with pytest.raises(InputError, match=cause):
        next(ruff.splits(own, BuildOptions(pronouns=sets)))


# builds


def test_built_folder_loads(built: Callable[[str], Path], tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    files = sorted(built("ruff").glob("*/*.parquet"))
    assert len(files) == 22
    for config in sorted({file.parent.name for file in files}):
        found = datasets.load_dataset(str(built("ruff")), config, cache_dir=str(tmp_path / "c"))
        assert set(found) == {file.stem for file in files if file.parent.name == config}
        for name, loaded in found.items():
            file = built("ruff") / config / f"{name}.parquet"
            assert loaded.num_rows == pq.read_metadata(file).num_rows
            names = ["he", "she", "they", "xe"]
            assert loaded.features["label"] == datasets.ClassLabel(names=names)
            row = loaded[0]
            assert row["text"][row["blank"]["start"] : row["blank"]["end"]] == "___"
            right = row["options"][row["label"]] in ("he", "him", "his")
            assert right == (row["pronoun_set"] == "he") or config == "no_context"
    # the whole of RUFF has to stay below 80 MB
    one = built("ruff") / "distractors_1" / "test.parquet"
    assert one.stat().st_size / ROWS[1] < 80e6 / sum(ROWS)


def test_no_sentence_stands_in_a_footer(own: Sources, tmp_path: Path) -> None:
    write_dataset(ruff, own, BuildOptions(), tmp_path)  # type: ignore[arg-type]
    file = pq.ParquetFile(tmp_path / "ruff" / "distractors_1" / "test.parquet")
    group = file.metadata.row_group(0)
    assert not any(group.column(index).is_stats_set for index in range(group.num_columns))


def test_same_bytes_again(own: Sources, tmp_path: Path) -> None:
    sums = []
    for name in ("first", "second"):
        sources = Sources(own.root, allow_changed=True)
        write_dataset(ruff, sources, BuildOptions(all=True), tmp_path / name)  # type: ignore[arg-type]
        sums.append((tmp_path / name / "ruff" / "SHA256SUMS").read_text())
    assert sums[0] == sums[1]


def test_samples_need_little_memory(upstream: Path) -> None:
    """The eighteen samples, and nothing else, in under 200 MB."""
    program = (
        "import sys, resource, pathlib\n"
        "from pronominal.dataset_scripts import ruff\n"
        "from pronominal.dataset_scripts.building.options import BuildOptions\n"
        "from pronominal.dataset_scripts.building.sources import Sources\n"
        "splits = ruff.samples(Sources(pathlib.Path(sys.argv[1])), BuildOptions())\n"
        "print(sum(table.num_rows for split in splits for table in split.tables))\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(status.split('VmHWM:')[1].split()[0])\n"
    )
    command = [sys.executable, "-c", program, str(upstream)]
    # how many huge pages the kernel has to give says nothing about the samples
    environment = {**os.environ, "MIMALLOC_ALLOW_THP": "0"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    rows, peak = done.stdout.split()
    assert int(rows) == 18 * 2_160
    assert int(peak) < 200_000


# bad input

Damage = Callable[[Tables], None]


def cell(file: str, line: int, column: int, change: Callable[[str], str]) -> Damage:
    def damage(tables: Tables) -> None:
        tables[file][line - 1][column] = change(tables[file][line - 1][column])

    return damage


def drop(file: str, line: int) -> Damage:
    return lambda tables: tables[file].pop(line - 1) and None


def double(file: str, line: int) -> Damage:
    return lambda tables: tables[file].insert(line, tables[file][line - 1])


def exchange(file: str, line: int, other: int) -> Damage:
    def damage(tables: Tables) -> None:
        rows = tables[file]
        rows[line - 1], rows[other - 1] = rows[other - 1], rows[line - 1]

    return damage


DAMAGES = [
    (cell("task.tsv", 1, 2, str.upper), "task.tsv, line 1: the column 'sentence' is missing"),
    (cell("context.tsv", 1, 1, str.upper), "context.tsv, line 1: the column 'polarity' is missing"),
    (lambda tables: tables["task.tsv"][4].pop(), "task.tsv, line 5: the row is cut short"),
    (cell("task.tsv", 3, 2, lambda text: text[:9]), "line 3: 0 $POSS_PRONOUN slots instead of"),
    (cell("task.tsv", 3, 2, lambda text: f"{text} ___"), "line 3: the sentence has another slot"),
    (cell("task.tsv", 3, 3, lambda _: "$PRONOUN"), "line 3: '$PRONOUN' is no grammatical case"),
    (cell("task.tsv", 3, 4, lambda _: "mayor"), "line 3: the word is not the occupation"),
    (double("task.tsv", 3), "task.tsv, line 4: the same occupation and grammatical case as line 3"),
    (cell("context.tsv", 7, 1, lambda _: "mixed"), "line 7: there is no polarity 'mixed'"),
    (cell("context.tsv", 7, 2, lambda _: "A $NOM_PRONOUN."), "line 7: the explicit template needs"),
    (
        cell("context.tsv", 7, 3, lambda _: "Nothing."),
        "line 7: 0 $NOM_PRONOUN slots instead of one",
    ),
    (cell("context.tsv", 7, 3, lambda text: f"{ENTITY} {text}"), "line 7: a template has a slot"),
    (double("context.tsv", 7), "context.tsv, line 2: the nominative templates are not 5 negative"),
    (drop("context.tsv", 16), "context.tsv, line 12: the possessive templates are not 5 negative"),
    (exchange("context.tsv", 6, 7), "context.tsv, line 2: the nominative templates are not 5"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES, ids=[text for _, text in DAMAGES])
def test_damaged_tables_are_refused(tmp_path: Path, damage: Damage, message: str) -> None:
    tables = own_tables()
    damage(tables)
    sources = write_sources(tmp_path, tables)
    with pytest.raises(InputError) as caught:
        write_dataset(ruff, sources, BuildOptions(), tmp_path / "out")  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert not list((tmp_path / "out").glob("*"))


def test_line_ends_do_not_matter(own: Sources, tmp_path: Path) -> None:
    other = write_sources(tmp_path, own_tables(), newline="\r\n")
    assert tables_of(own, BuildOptions()) == tables_of(other, BuildOptions())


def test_another_archive_needs_consent(own: Sources) -> None:
    with pytest.raises(InputError, match="SHA-256"):
        next(ruff.splits(Sources(own.root), BuildOptions()))


def test_damaged_archives_are_refused(upstream: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ruff"
    folder.mkdir()
    (folder / "README.md").write_bytes((upstream / "ruff" / "README.md").read_bytes())
    archive = (upstream / "ruff" / "data.zip").read_bytes()
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as opened:
        opened.writestr("data/other.tsv", "")
    for content, cause in ((archive[:-400], "truncated"), (empty.getvalue(), "no data/task.tsv")):
        (folder / "data.zip").write_bytes(content)
        with pytest.raises(InputError, match=cause):
            next(ruff.splits(Sources(tmp_path, allow_changed=True), BuildOptions()))


# validate


def test_upstream_keeps_every_rule(upstream: Path) -> None:
    assert [str(violation) for violation in ruff.violations(Sources(upstream))] == []


def task(index: int, **changes: str) -> Callable[[Templates], Templates]:
    def change(templates: Templates) -> Templates:
        tasks = list(templates.tasks)
        tasks[index] = replace(tasks[index], **changes)  # type: ignore[arg-type]
        return replace(templates, tasks=tuple(tasks))

    return change


def context(index: int, **changes: str) -> Callable[[Templates], Templates]:
    def change(templates: Templates) -> Templates:
        contexts = list(templates.contexts)
        contexts[index] = replace(contexts[index], **changes)  # type: ignore[arg-type]
        return replace(templates, contexts=tuple(contexts))

    return change


FAULTS = [
    (
        task(0, text="The technician saw that ___ cat and his dog slept."),
        "line 2",
        "pronoun, 'his'",
    ),
    (
        task(0, text="The technician whistled since ___ was cold."),
        "line 2",
        "does not agree with they",
    ),
    (task(0, text="A technician or the technician: ___ won."), "line 2", "occurs 2 times instead"),
    (task(0, text="The technician and the customer sang as ___ ate."), "line 2", "'customer' occ"),
    (task(0, text="The technician hummed. Then ___ slept."), "line 2", "no period at the end"),
    (task(0, text="The technician hummed while ___ swam in the \u0160umava."), "line 2", "ASCII"),
    (task(0, participant="mayor"), "line 3", "another participant than in line 2"),
    (task(0, case="accusative"), "line 2", "has 0 nominative sentences, not one"),
    (task(0, case="accusative"), "line 2", "has 2 accusative sentences, not one"),
    (
        context(0, implicit="$NOM_PRONOUN met a taxpayer."),
        "line 2",
        "an occupation or a participant",
    ),
    (context(0, implicit="$NOM_PRONOUN left for Paris."), "line 2", "a capital within"),
    (context(0, implicit="$NOM_PRONOUN was late."), "line 2", "implicit: the verb after the pron"),
    (context(0, implicit="$NOM_PRONOUN sang to them."), "line 2", "a further pronoun, 'them'"),
]


@pytest.mark.parametrize(("change", "row", "message"), FAULTS, ids=[f[2] for f in FAULTS])
def test_faults_of_templates_are_found(
    templates: Templates, change: Callable[[Templates], Templates], row: str, message: str
) -> None:
    found = [(v.row, v.message) for v in template_violations(change(templates))]
    named = any(where == row and message in what for where, what in found)
    assert named


def test_repeated_sentences_are_found(templates: Templates) -> None:
    origin = replace(templates.tasks[4].origin, row="line 182", line=182)
    repeated = replace(templates.tasks[4], origin=origin)
    again = replace(templates, tasks=(*templates.tasks, repeated))
    found = {(v.row, v.message) for v in template_violations(again)}
    assert (None, "181 templates instead of 180") in found
    assert ("line 182", "the same task sentence as line 6") in found


def test_lost_balance_is_found(templates: Templates) -> None:
    fewer = replace(templates, tasks=templates.tasks[:-1])
    instances = Instances(Setting(fewer, PRONOUN_SETS, 1))
    found = [violation.message for violation in setting_violations(instances, (13,))]
    assert "distractors_1: 85920 rows instead of 86400" in found
    assert "distractors_1, seed_13: 2148 different rows instead of 2160" in found
    assert "distractors_1, test: from 28320 to 28800 rows of each case" in found


def test_damaged_tables_are_violations(tmp_path: Path) -> None:
    tables = own_tables()
    cell("task.tsv", 3, 4, lambda _: "mayor")(tables)
    cell("context.tsv", 7, 1, lambda _: "mixed")(tables)
    found = [str(v) for v in ruff.violations(write_sources(tmp_path, tables))]
    assert any("task.tsv, line 3: the word is not the occupation" in line for line in found)
    assert any("context.tsv, line 7: there is no polarity" in line for line in found)
    assert sum("not the pinned upstream version" in line for line in found) == 2


def test_a_coreference_system_cannot_be_asked(own: Sources, tmp_path: Path) -> None:
    write_dataset(ruff, own, BuildOptions(), tmp_path)
    split = read_split(str(tmp_path / "ruff"), "no_context")
    with pytest.raises(InputError, match="asks for a pronoun, not for its antecedent"):
        split.instances()
