"""Building RUFF in whole columns against plain Python, and its samples without the rest.

Every variant runs in a process of its own that reports its CPU seconds (user and system, imports
included) and its peak memory. The comparators are written here, from the paper's description:

- ``tsv``: every row assembled from its templates, the same rows and columns as TSV;
- ``upstream_tsv``: the same with every sentence filled only once, and upstream's eight columns;
- ``generator``: a `datasets.GeneratorBasedBuilder` over the rows of ``tsv``, to Parquet; run on the
  first rows of the largest setting (its imports are not counted) and extrapolated linearly;
- ``pandas``: ``upstream_tsv``, then ``groupby.sample`` with the paper's three seeds.

``python benchmarks/ruff_build.py [--settings 0,1,2] [--sources DIR]`` prints one JSON object. All
six settings take some minutes and 3 GB of temporary disk.
"""

import argparse
import functools
import itertools
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

SHARED = Path(__file__).resolve().parents[2] / "shared" / "upstream"
GENERATED_ROWS = 100_000
KEYS = ["word", "pronoun_type", "pronoun", "confuse_pronoun"]
HEADER = [
    "occupation",
    "participant",
    "sentence",
    "pronoun_type",
    "word",
    "pronoun",
    "uid",
    "confuse_pronoun",
]


def choices(
    templates: Any, distractors: int
) -> Iterator[tuple[Any, int, int, int | None, int | None, tuple[int, ...]]]:
    """Yield (task, introduction, its set, first distractor, its set, further ones) of each row."""
    for task in templates.tasks:
        for i, own in itertools.product(range(10), range(4)):
            if not distractors:
                yield task, i, own, None, None, ()
                continue
            for j, other in itertools.product(range(10), range(4)):
                if other != own and j // 5 != i // 5 and j % 5 != i % 5:
                    same = [k for k in range(10) if k // 5 == j // 5 and k != j]
                    for order in itertools.permutations(same, distractors - 1):
                        yield task, i, own, j, other, order


def instantiated(template: str, slot: str, form: str, noun: str = "") -> str:
    return template.replace("$OCCUPATION/PARTICIPANT", noun).replace(slot, form).capitalize()


def published(sources: Path, distractors: int) -> Iterator[tuple[Any, ...]]:
    """Yield the values that `pronominal build` publishes, each row assembled from its templates."""
    from pronominal.dataset_scripts import ruff
    from pronominal.dataset_scripts.building.sources import Sources
    from pronominal.dataset_scripts.ruff.assembly import SLOTS
    from pronominal.dataset_scripts.ruff.templates import BLANK
    from pronominal.pronouns import CASES, PRONOUN_SETS

    templates, _ = ruff.read_templates(Sources(sources))
    names = [pronouns.name for pronouns in PRONOUN_SETS]
    options = {case: [pronouns.form(case) for pronouns in PRONOUN_SETS] for case in CASES}
    numbered = {case: templates.contexts_of(case) for case in CASES}
    for task, i, own, j, other, order in choices(templates, distractors):
        contexts, forms, slot = numbered[task.case], options[task.case], SLOTS[task.case]
        sentences = [instantiated(contexts[i].explicit, slot, forms[own], task.occupation)]
        about, uid = names[own], f"eo{i}"
        if j is not None and other is not None:
            form = forms[other]
            sentences.append(instantiated(contexts[j].explicit, slot, form, task.participant))
            sentences += [instantiated(contexts[k].implicit, slot, form) for k in order]
            about = f"{about}-{names[other]}"
            uid = f"{uid}_ep{j}" + "".join(f"_ip{k}" for k in order)
        text = " ".join([*sentences, task.text])
        start = text.index(BLANK)
        yield (
            f"{task.name}-{about}-{uid}",
            text,
            (BLANK, start, start + len(BLANK)),
            forms,
            own,
            names[own],
            None if other is None else names[other],
            task.case,
            task.occupation,
            task.participant,
            uid,
        )


def whole_columns(sources: Path, settings: list[int], folder: Path) -> dict[str, Any]:
    """Build the ``test`` splits with pronominal: tables, digests, Parquet, card, checksums."""
    from pronominal.dataset_scripts import ruff
    from pronominal.dataset_scripts.building.build import write_dataset
    from pronominal.dataset_scripts.building.options import BuildOptions
    from pronominal.dataset_scripts.building.sources import Sources

    wanted = {(f"distractors_{distractors}", "test") for distractors in settings}
    script = SimpleNamespace(
        NAME=ruff.NAME,
        OPTIONS=ruff.OPTIONS,
        UPSTREAM=ruff.UPSTREAM,
        UNPUBLISHABLE=ruff.UNPUBLISHABLE,
        splits=lambda *given: (s for s in ruff.splits(*given) if (s.config, s.name) in wanted),
    )
    built = write_dataset(script, Sources(sources), BuildOptions(all=True), folder)
    return {"rows": sum(s.rows for s in built), "bytes": sum(s.file_bytes for s in built)}


def tsv(sources: Path, settings: list[int], folder: Path) -> dict[str, Any]:
    """Write the same rows and columns as TSV."""
    for distractors in settings:
        with (folder / f"{distractors}.tsv").open("w", encoding="utf-8") as file:
            for name, text, blank, forms, label, own, other, *rest in published(
                sources, distractors
            ):
                cells = (name, text, blank[0], str(blank[1]), str(blank[2]), " ".join(forms))
                row = "\t".join((*cells, str(label), own, other or "", *rest))
                file.write(f"{row}\n")
    return {"bytes": sum(path.stat().st_size for path in folder.glob("*.tsv"))}


def upstream_tsv(sources: Path, settings: list[int], folder: Path) -> dict[str, Any]:
    """Write the same rows with upstream's columns as TSV, every sentence filled once."""
    from pronominal.dataset_scripts import ruff
    from pronominal.dataset_scripts.building.sources import Sources
    from pronominal.dataset_scripts.ruff.assembly import SLOTS
    from pronominal.dataset_scripts.ruff.templates import BLANK
    from pronominal.pronouns import CASES, PRONOUN_SETS

    templates, _ = ruff.read_templates(Sources(sources))
    options = {case: [pronouns.form(case) for pronouns in PRONOUN_SETS] for case in CASES}
    numbered = {case: templates.contexts_of(case) for case in CASES}
    fill = functools.cache(instantiated)
    for distractors in settings:
        with (folder / f"{distractors}.tsv").open("w", encoding="utf-8") as file:
            file.write("\t".join(HEADER) + "\n")
            for task, i, own, j, other, order in choices(templates, distractors):
                contexts, forms, slot = numbered[task.case], options[task.case], SLOTS[task.case]
                sentences = [fill(contexts[i].explicit, slot, forms[own], task.occupation)]
                uid, form = f"eo{i}", ""
                if j is not None and other is not None:
                    form = forms[other]
                    sentences.append(fill(contexts[j].explicit, slot, form, task.participant))
                    sentences += [fill(contexts[k].implicit, slot, form) for k in order]
                    uid = f"{uid}_ep{j}" + "".join(f"_ip{k}" for k in order)
                text = " ".join([*sentences, task.text.replace(BLANK, slot)])
                noun = task.occupation
                cells = (noun, task.participant, text, slot, noun, forms[own], uid, form)
                file.write("\t".join(cells) + "\n")
    return {"bytes": sum(path.stat().st_size for path in folder.glob("*.tsv"))}


def generator(sources: Path, settings: list[int], folder: Path) -> dict[str, Any]:
    """Make a part of the largest setting with a `datasets.GeneratorBasedBuilder`."""
    import datasets

    from pronominal.dataset_scripts import ruff
    from pronominal.dataset_scripts.tables.columns import arrow_schema
    from pronominal.pronouns import PRONOUN_SETS

    columns = ruff.columns(PRONOUN_SETS)
    names = [column.name for column in columns]
    features = datasets.Features.from_arrow_schema(arrow_schema(columns, {}))

    class Ruff(datasets.GeneratorBasedBuilder):  # type: ignore[misc]
        def _info(self) -> Any:
            return datasets.DatasetInfo(features=features)

        def _split_generators(self, _: Any) -> Any:
            return [datasets.SplitGenerator("test")]

        def _generate_examples(self) -> Iterator[tuple[int, dict[str, Any]]]:
            rows = itertools.islice(published(sources, max(settings)), GENERATED_ROWS)
            for key, row in enumerate(rows):
                blank = dict(zip(("text", "start", "end"), row[2], strict=True))
                yield key, {**dict(zip(names, row, strict=True)), "blank": blank}

    datasets.disable_progress_bars()
    builder = Ruff(cache_dir=str(folder))
    start = time.process_time()
    builder.download_and_prepare(str(folder / "out"), file_format="parquet")
    rows = builder.info.splits["test"].num_examples
    return {"rows": rows, "seconds": time.process_time() - start}


def samples(sources: Path, settings: list[int], folder: Path) -> dict[str, Any]:
    """Make the seeds' splits with pronominal, and nothing else."""
    from pronominal.dataset_scripts import ruff
    from pronominal.dataset_scripts.building.options import BuildOptions
    from pronominal.dataset_scripts.building.sources import Sources

    wanted = {f"distractors_{distractors}" for distractors in settings}
    rows = 0
    for split in ruff.samples(Sources(sources), BuildOptions()):
        if split.config in wanted:
            rows += sum(table.num_rows for table in split.tables)
    return {"rows": rows}


def pandas(sources: Path, settings: list[int], folder: Path) -> dict[str, Any]:
    """Draw the seeds' samples from the files that `upstream_tsv` has written."""
    import pandas

    rows = 0
    for distractors in settings:
        table = pandas.read_csv(folder / f"{distractors}.tsv", sep="\t")
        for seed in (13, 17, 19):
            keys, drawn = (KEYS, 1) if distractors else (KEYS[:3], 3)
            rows += len(table.groupby(keys).sample(drawn, random_state=seed))
    return {"rows": rows}


VARIANTS: dict[str, Callable[[Path, list[int], Path], dict[str, Any]]] = {
    variant.__name__: variant
    for variant in (whole_columns, tsv, generator, samples, upstream_tsv, pandas)
}


def measured(variant: str, arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run one variant in a process of its own and return what it reports."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, __file__, "--variant", variant, "--folder", str(folder)]
    given = ["--sources", str(arguments.sources), "--settings", arguments.settings]
    done = subprocess.run([*command, *given], check=True, stdout=subprocess.PIPE, text=True)
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def run_variant(arguments: argparse.Namespace) -> dict[str, Any]:
    settings = [int(number) for number in arguments.settings.split(",")]
    report = VARIANTS[arguments.variant](arguments.sources, settings, arguments.folder)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = usage.ru_utime + usage.ru_stime
    return {"seconds": seconds, "peak_mib": round(usage.ru_maxrss / 1024), **report}


def compared(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run every variant, one after another, and put the numbers side by side."""
    found = {}
    with tempfile.TemporaryDirectory() as root:
        for variant in VARIANTS:
            folder = Path(root, "upstream_tsv" if variant == "pandas" else variant)
            found[variant] = measured(variant, arguments, folder)
            if variant != "upstream_tsv":
                shutil.rmtree(folder)
    rows = found["whole_columns"]["rows"]
    seconds = {name: report["seconds"] for name, report in found.items()}
    seconds["generator"] *= rows / found["generator"]["rows"]
    seconds["pandas"] += seconds["upstream_tsv"]
    pairs = [("tsv", "whole_columns"), ("upstream_tsv", "whole_columns")]
    pairs += [("generator", "whole_columns"), ("pandas", "samples")]
    return {
        "benchmark": "ruff_build",
        "settings": arguments.settings,
        "rows": rows,
        "sampled_rows": found["samples"]["rows"],
        "ratios": {
            f"{slow}/{ours}": round(seconds[slow] / seconds[ours], 1) for slow, ours in pairs
        },
        "seconds": {name: round(spent, 2) for name, spent in seconds.items()},
        "peak_mib": {name: report["peak_mib"] for name, report in found.items()},
        "megabytes": {
            name: round(report["bytes"] / 1e6, 1)
            for name, report in found.items()
            if "bytes" in report
        },
        "generator_extrapolated_from_rows": found["generator"]["rows"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sources", type=Path, default=SHARED, help="as for pronominal build")
    parser.add_argument("--settings", default="0,1,2,3,4,5", help="numbers of distractors")
    parser.add_argument("--variant", choices=VARIANTS, help="run this one here")
    parser.add_argument("--folder", type=Path, help="where the variant writes")
    arguments = parser.parse_args()
    print(json.dumps(run_variant(arguments) if arguments.variant else compared(arguments)))


if __name__ == "__main__":
    main()
