"""Writes the figures of docs/performance.md: runs the other benchmarks and draws how cost grows.

``python benchmarks/performance.py [--sources DIR] [NAME ...]`` runs those that are named, or all of
`MEASURED`, keeps what each printed in docs/performance.json, and writes the tables and drawings of
all that is kept there anew. What was never measured stands in no table.
"""

import argparse
import json
import math
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from pronominal.eval.report.charts import svg

ROOT = Path(__file__).resolve().parent.parent
DOCS, SHARED = ROOT / "docs", ROOT.parent / "shared" / "upstream"
KEPT, PAGE = DOCS / "performance.json", DOCS / "performance.md"
BEGIN, END = "<!-- {} -->", "<!-- end of {} -->"

WIDTH, HEIGHT, LEFT, TOP = 300.0, 190.0, 44.0, 24.0
GROWTH = {
    "systems": ("systems compared", "`evaluate`, tests included"),
    "finished": ("finished systems", "`evaluate` again"),
    "runs": ("runs in a report", "`report`"),
    "submissions": ("runs on a leaderboard", "`leaderboard`"),
    "rows": ("rows scored", "`score ruff`"),
    "draws": ("draws of an interval", "a look of `--until`"),
    "decoder": ("words in a text", "options by a decoder"),
    "encoder": ("words in a text", "options by an encoder"),
    "lingmess": ("words in a text", "clusters by LingMess"),
    "caw": ("words in a text", "clusters by CAW"),
}


class Line(NamedTuple):
    """A line of the table of what users wait for.

    Attributes:
        what: is measured.
        before: as the work on speed began; those were other machines and rows where it says so.
        benchmark: that measures it.
        now: the keys of the figures in what it prints, each with its unit.
    """

    what: str
    before: str
    benchmark: str
    now: tuple[tuple[tuple[str, ...], str], ...]


MEGABYTES = ("peak_megabytes",), "MB"
LINES = (
    Line(
        "`evaluate`, six finished runs on the sample",
        "10 to 15 s, 613 MB (WinoPron)",
        "front_door",
        ((("cpu_seconds", "finished_runs"), "s"),),
    ),
    Line(
        "`pronominal --help`",
        "0.6 to 1.0 s",
        "front_door",
        ((("cpu_seconds", "help"), "s"),),
    ),
    Line(
        "`import pronominal`",
        "0.06 to 0.13 s",
        "front_door",
        ((("cpu_seconds", "import"), "s"),),
    ),
    Line(
        "`evaluate`, 61,155 rows of WinoNB",
        "126 s, profiled",
        "winonb_evaluate",
        ((("cpu_seconds",), "s"), MEGABYTES),
    ),
    Line(
        "`score ruff`, 2,073,600 rows",
        "41 s, 1,190 MB",
        "ruff_scores",
        ((("cpu_seconds",), "s"), MEGABYTES),
    ),
    Line(
        "`evaluate`, 300 systems on the sample, tests included",
        "over 580 s, stopped",
        "many_systems",
        ((("cpu_seconds", "evaluate"), "s"), MEGABYTES),
    ),
    *(
        Line(
            f"`report`, {runs} runs",
            before,
            "report",
            (
                ((f"{runs} runs", "cpu_seconds"), "s"),
                ((f"{runs} runs", "page_megabytes"), "MB"),
                ((f"{runs} runs", "peak_megabytes"), "MB of memory"),
            ),
        )
        for runs, before in ((100, "10.7 s, 12.8 MB"), (500, "184 s, 298 MB, 3.1 GB of memory"))
    ),
    Line(
        "paired tests of 40 systems, five measures",
        "233 s for one measure",
        "paired_tests",
        ((("seconds", "pronominal"), "s"), (("ratio",), "times as fast as scipy")),
    ),
    Line(
        "reading 100,000 predictions, in columns",
        "line by line",
        "prediction_columns",
        ((("lines_to_columns",), "times as fast"),),
    ),
    Line(
        "RUFF to half a point, a system that is right in half of the rows",
        "every row",
        "optional_stopping",
        ((("rows", "half", "share"), "of the rows"),),
    ),
    Line(
        "building RUFF, settings 0 to 2",
        "row by row",
        "ruff_build",
        (
            (("ratios", "tsv/whole_columns"), "times as fast as plain Python"),
            (("ratios", "generator/whole_columns"), "as a generator of datasets"),
            (("ratios", "pandas/samples"), "as pandas for samples"),
        ),
    ),
    Line(
        "sentence filters of a construction",
        "KnowRef's released rule",
        "construction_filters",
        ((("mixed", "ratio"), "times as fast"), (("in_form", "ratio"), "on sentences in form")),
    ),
    Line(
        "LingMess, 24 layers extrapolated from 4",
        "fastcoref's `predict`",
        "lingmess_dense",
        (
            (("ratio_24_layers_extrapolated", "predict"), "times as fast"),
            (("ratio_24_layers_extrapolated", "int16"), "times that in int16"),
            (("ratio_24_layers_extrapolated", "bfloat16"), "in bfloat16"),
            (("ratio_24_layers_extrapolated", "int8"), "in int8"),
        ),
    ),
    Line(
        "CAW, 24 layers extrapolated from 6",
        "one document at a time, padded",
        "caw_batching",
        (
            (("ratio_24_layers_extrapolated", "padded"), "times as fast"),
            (("ratio_24_layers_extrapolated", "int16"), "times that in int16"),
            (("ratio_24_layers_extrapolated", "bfloat16"), "in bfloat16"),
            (("ratio_24_layers_extrapolated", "int8"), "in int8"),
        ),
    ),
    Line(
        "decoder, options of RUFF's first setting",
        "one sentence at a time",
        "ruff_decoder",
        (
            (("places", "sample_0", "ratio_to_upstream", "options"), "times as fast"),
            (("places", "sample_0", "ratio_to_upstream", "int16"), "in int16"),
            (("places", "sample_0", "naive_tokens_to_fed"), "times fewer tokens"),
        ),
    ),
    Line(
        "decoder, options of a stretch of RUFF's last setting",
        "one sentence at a time",
        "ruff_decoder",
        (
            (("places", "stretch_5", "ratio_to_upstream", "options"), "times as fast"),
            (("places", "stretch_5", "ratio_to_upstream", "int16"), "in int16"),
            (("places", "stretch_5", "naive_tokens_to_fed"), "times fewer tokens"),
        ),
    ),
    Line(
        "encoder pseudo-log-likelihood, BERT-base",
        "one sentence at a time, as minicons has it",
        "ruff_encoder",
        (
            (("ratio", "float32"), "times as fast"),
            (("ratio", "int16"), "in int16"),
            (("logits_memory_ratio",), "times fewer logits"),
        ),
    ),
    Line(
        "FLAN-T5's answers to prompts",
        "one `generate` for each",
        "t5_generation",
        ((("ratio",), "times as fast"),),
    ),
    Line(
        "training in length buckets, BERT-base extrapolated",
        "padded to 128",
        "training_buckets",
        ((("ratio_12_layers_extrapolated",), "times as fast"),),
    ),
    Line(
        "an update of LingMess's training on short texts, 2 layers",
        "fastcoref's own update",
        "lingmess_training",
        ((("ratio",), "times as fast"),),
    ),
)
MEASURED = (
    "growth",
    "text_lengths",
    "leaderboard",
    *dict.fromkeys(line.benchmark for line in LINES),
)
FROM_SOURCES = ("ruff_scores", "winonb_evaluate", "ruff_build", "ruff_decoder", "ruff_encoder")
SIZES = {
    "construction_filters": "--sentences 10000",
    "ruff_build": "--settings 0,1,2",
    "ruff_decoder": "--rows 24 --plain-rows 2 --rounds 1",
    "ruff_encoder": "--rows 1",
    "t5_generation": "--sentences 1",
    "training_buckets": "--batches 2 --layers 1 2",
}
"""What a benchmark is given where its own sizes take longer than a few minutes."""


def measured(name: str, sources: Path) -> dict[str, Any]:
    """Run a benchmark and return what it printed; some build their datasets from upstream files."""
    command = [sys.executable, str(Path(__file__).with_name(f"{name}.py"))]
    command += ["--sources", str(sources)] if name in FROM_SOURCES else []
    command += SIZES.get(name, "").split()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(done.stdout))


def processor() -> str:
    """Name this processor, and the widest of its instructions for products of matrices."""
    file = Path("/proc/cpuinfo")
    told = file.read_text("utf-8") if file.exists() else platform.processor()
    known = re.search(r"(AMD EPYC|Intel\S* Xeon)", told)
    name = known[0].replace("(R)", "") if known else platform.machine()
    widest = {"amx_tile": "AMX", "avx512f": "AVX-512", "avx2": "AVX2"}
    return f"{name}, {next((widest[flag] for flag in widest if flag in told), 'plain')}"


def lines_of(kept: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table of what users wait for, as far as it was measured."""
    yield "| what | before | now | benchmark | on |"
    yield "|---|---|---|---|---|"
    for line in LINES:
        if line.benchmark in kept:
            printed = ((_figure(kept[line.benchmark], keys), unit) for keys, unit in line.now)
            figures = (f"{figure} {unit}" for figure, unit in printed if figure)
            told = f"{line.what} | {line.before} | {', '.join(figures)}"
            yield f"| {told} | `{line.benchmark}` | {kept[line.benchmark]['processor']} |"


def _figure(block: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return a figure as it is printed, and nothing where a processor has none of it."""
    value: Any = block
    for key in keys:
        if key in ("int16", "int8") and key not in value:
            return ""
        value = value[key]
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def growth_lines(growth: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table of exponents, and the drawings below it."""
    yield "| cost of | over | from | to | CPU seconds | exponent |"
    yield "|---|---|---|---|---|---|"
    known = {name: told for name, told in GROWTH.items() if name in growth}
    for name, (over, cost) in known.items():
        sizes, seconds = growth[name]["sizes"], growth[name]["cpu_seconds"]
        ends = f"{sizes[0]:,} | {sizes[-1]:,} | {seconds[0]:.3g} to {seconds[-1]:.3g}"
        yield f"| {cost} | {over} | {ends} | {growth[name]['exponent']} |"
    yield ""
    for name, (over, cost) in known.items():
        yield f"![CPU seconds of {cost.replace('`', '')} over {over}](performance-{name}.svg)"


def growth_of(kept: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return sizes, seconds and exponent of all that is kept and measured over sizes."""
    found: dict[str, Any] = {**kept.get("growth", {}), **kept.get("text_lengths", {})}
    found.pop("processor", None)
    if pages := kept.get("leaderboard"):
        sizes = sorted(map(int, pages["runs"]))
        seconds = {size: pages["runs"][str(size)]["cpu_seconds"] for size in sizes}
        slope = np.polyfit(np.log([*seconds]), np.log([*seconds.values()]), 1)[0]
        found["submissions"] = {
            "sizes": [*seconds],
            "cpu_seconds": [*seconds.values()],
            "exponent": round(float(slope), 2),
        }
    return found


def plot(over: str, sizes: Sequence[int], seconds: Sequence[float]) -> Markup:
    """Draw CPU seconds over sizes, both in logarithms; dashed, what linear growth would be."""
    right, bottom = WIDTH - 26, HEIGHT - 34
    low, high = math.log(min(seconds)), math.log(max(*seconds, min(seconds) * 2))
    first, last = math.log(sizes[0]), math.log(sizes[-1])

    def x(size: float) -> float:
        return LEFT + (math.log(size) - first) / (last - first) * (right - LEFT)

    def y(value: float) -> float:
        return bottom - (math.log(value) - low) / (high - low) * (bottom - TOP)

    drawn = [svg.text(0, 10, f"CPU seconds over {over}", "title")]
    for value in (min(seconds), max(seconds)):
        drawn += [
            svg.line(LEFT, y(value), right, y(value), "grid"),
            svg.text(LEFT - 6, y(value) + 4, f"{value:.2g}", "scale"),
        ]
    drawn += [svg.text(x(size), bottom + 16, f"{size:,}", "tick") for size in sizes]
    share = min(1.0, (high - low) / (last - first))
    end = math.exp(first + share * (last - first))
    linear = seconds[0] * end / sizes[0]
    drawn.append(svg.line(x(sizes[0]), y(seconds[0]), x(end), y(linear), "chance"))
    points = [*zip(map(x, sizes), map(y, seconds), strict=True)]
    for (x1, y1), (x2, y2) in pairwise(points):
        drawn.append(svg.line(x1, y1, x2, y2, "curve s0"))
    figures = ", ".join(f"{s:,}: {v:.3g}" for s, v in zip(sizes, seconds, strict=True))
    return svg.drawing(f"CPU seconds over {over}: {figures}", HEIGHT, drawn, WIDTH)


def written(page: str, part: str, lines: Sequence[str]) -> str:
    """Put lines between a part's marks on the page."""
    before, _, rest = page.partition(BEGIN.format(part))
    _, _, after = rest.partition(END.format(part))
    body = "\n".join((BEGIN.format(part), "", *lines, "", END.format(part)))
    return f"{before}{body}{after}"


def write(kept: Mapping[str, Mapping[str, Any]]) -> None:
    """Write all figures that are kept into the page, and draw how cost grows."""
    page = written(PAGE.read_text("utf-8"), "waiting", [*lines_of(kept)])
    if growth := growth_of(kept):
        page = written(page, "growth", [*growth_lines(growth)])
        for name, one in growth.items():
            over, _ = GROWTH[name]
            drawn = svg.standalone(plot(over, one["sizes"], one["cpu_seconds"]))
            DOCS.joinpath(f"performance-{name}.svg").write_text(drawn, "utf-8")
    PAGE.write_text(page, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--sources", type=Path, default=SHARED)
    given = parser.parse_args()
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for name in given.names or MEASURED:
        kept[name] = measured(name, given.sources) | {"processor": processor()}
        KEPT.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", "utf-8")
        write(kept)


if __name__ == "__main__":
    main()
