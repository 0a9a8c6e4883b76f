"""Every command that reads a file: its inputs, and the call whose inputs are damaged."""

import bz2
import gzip
import json
import lzma
import shutil
import string
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from pronominal.cli.main import app
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.knowref.files import read_train
from pronominal.dataset_scripts.knowref.reddit import read_ids
from pronominal.eval.exchange import FORMATS
from tests.cli.test_main import pronominal
from tests.conftest import ROOT, SHARED
from tests.dataset_scripts.construction.texts import corpus, planted, write_names
from tests.dataset_scripts.ruff.own_templates import own_tables, write_sources

READS_NOTHING = {
    *("access", "datasets", "doctor", "ids key", "systems"),
    *("env create", "env list"),
}
"""Commands without a file of the user's: lists, requests to the Hub, environments."""

ROWS = 48


@dataclass(frozen=True)
class Case:
    """One way to call a command.

    Attributes:
        command: its name, such as ``annotate import``.
        arguments: what follows, in which ``{}`` is the folder of the inputs.
        damaged: patterns of the files that are damaged, one of them at a time.
        goes_on: patterns of what it leaves even when it refuses its input, for it goes on with
            that the next time. It leaves nothing else.
        ends: how it ends with sound inputs.
    """

    command: str
    arguments: str
    damaged: tuple[str, ...]
    goes_on: tuple[str, ...] = ()
    ends: int = 0

    def words(self, folder: Path) -> list[str]:
        """Return the command line."""
        return [*self.command.split(), *self.arguments.replace("{}", str(folder)).split()]


DATASET = "--dataset {}/rows --config double"
TABLE = "rows/double/test.parquet"
RUN = "runs/sample.double.test.pairs"
PAIRS = "pairs=tests.fuzzing.pairs:Pairs"
FILES_OF_A_RUN = tuple(f"{RUN}/{name}" for name in ("run.json", "predictions.jsonl"))
SCORED = (*FILES_OF_A_RUN, f"{RUN}/score.json", f"{RUN}/units.npz")

PIECES = "--vocabulary {}/vocab.txt --segment-length 128"
"""What formats of word pieces are written with."""

CASES = [
    Case("build", "sample --pronouns {}/ze.toml --out {}/out", ("ze.toml",)),
    Case(
        "build",
        "ruff --sources {}/sources --allow-changed --out {}/out",
        ("sources/ruff/*",),
    ),
    # templates of our own are not the pinned ones
    Case("validate", "ruff --sources {}/sources", ("sources/ruff/*",), ends=1),
    Case(
        "publish",
        "{}/sample --repo me/sample --gated auto --dry-run",
        ("sample/README.md", "sample/SHA256SUMS", "sample/*/test.parquet"),
    ),
    Case("leakcheck", "{}/text.jsonl --index {}/leak.index", ("text.jsonl", "leak.index")),
    Case(
        "leakcheck",
        "{}/text.jsonl --dataset {}/rows --write-index {}/new.index",
        (TABLE,),
    ),
    Case("leakcheck", "{}/packed --index {}/leak.index", ("packed/*",), ends=1),
    Case("overlap", "{}/text.jsonl --index {}/leak.index --json", ("text.jsonl", "leak.index")),
    Case(
        "ids resolve",
        f"{{}}/opaque.jsonl --key {{}}/ids.key {DATASET}",
        ("opaque.jsonl", "ids.key", TABLE),
    ),
    Case("switch", "{}/own.jsonl {}/switched.jsonl", ("own.jsonl",)),
    Case("switch", "{}/own.parquet {}/switched.parquet", ("own.parquet",)),
    Case(
        "construct knowref",
        "--input {}/corpus --names {}/names.csv --proper-names-only --out {}/out",
        ("corpus/*", "names.csv"),
    ),
    Case(
        "construct knowref",
        "--input {}/told --names {}/names.csv --proper-names-only --out {}/out",
        ("told/*",),
    ),
    Case(
        "construct check",
        "{}/constructed --names {}/names.csv",
        ("constructed/README.md", "constructed/*/*.parquet", "names.csv"),
    ),
    Case("annotate export", f"{DATASET} --out {{}}/sheets2", (TABLE,)),
    Case(
        "annotate import",
        "{}/sheets {}/ann.csv {}/bob.jsonl",
        ("sheets/key.json", "ann.csv", "bob.jsonl"),
    ),
    Case("annotate agreement", "{}/sheets --json", ("sheets/key.json", "sheets/answers.jsonl")),
    Case(
        "annotate keep",
        "{}/sheets --dataset {}/rows --votes 2 --out {}/out",
        ("sheets/key.json", "sheets/answers.jsonl", TABLE),
    ),
    Case(
        "annotate baseline",
        "{}/sheets --dataset {}/rows --beside {}/runs --out {}/people --json",
        ("sheets/key.json", "sheets/answers.jsonl", TABLE, *SCORED),
    ),
    Case("run", f"{DATASET} --system random --out {{}}/out", (TABLE,), ("out",)),
    Case(
        "run",
        f"{DATASET} --system {PAIRS} --out {{}}/begun",
        tuple(f"begun/*/{name}" for name in ("run.json", "predictions.jsonl", "failures.jsonl")),
        ("begun",),
    ),
    Case(
        "evaluate",
        f"{DATASET} --systems {{}}/systems.toml --out {{}}/out",
        (TABLE, "systems.toml", "words/*.json"),
        ("out",),
    ),
    Case("evaluate", f"{DATASET} --system {PAIRS} --out {{}}/runs", SCORED, ("runs",)),
    Case(
        "evaluate",
        f"{DATASET} --system {PAIRS} --out {{}}/runs --reading upstream",
        SCORED,
        ("runs",),
    ),
    Case(
        "evaluate",
        "{}/experiment.toml --dataset {}/rows --out {}/out --save {}/scores",
        ("experiment.toml",),
        ("out",),
    ),
    Case(
        "plan",
        f"{DATASET} --systems {{}}/systems.toml --out {{}}/out.json",
        (TABLE, "systems.toml"),
    ),
    Case(
        "evaluate",
        f"{DATASET} --plan {{}}/plan.json --out {{}}/out",
        ("plan.json", TABLE),
        ("out",),
    ),
    Case("merge", "{}/shards/one {}/shards/two --out {}/merged", ("shards/*/*.json*",)),
    Case(
        "reread",
        f"{{}}/{RUN} {{}}/again.jsonl {DATASET} --reading upstream",
        (*FILES_OF_A_RUN, TABLE),
    ),
    Case(
        "score",
        f"sample {DATASET} --predictions {{}}/predictions.jsonl --json",
        ("predictions.jsonl", TABLE),
    ),
    Case("score", f"sample {DATASET} --predictions {{}}/{RUN} --reading upstream", FILES_OF_A_RUN),
    Case(
        "report",
        "{}/runs --out {}/report.html --hub-metadata {}/metadata --eval-results {}/results",
        SCORED,
    ),
    Case(
        "report",
        "{}/runs --out {}/report.html --dataset {}/rows --include-text --plan {}/plan-of-two.json "
        "--markdown {}/t.md --latex {}/t.tex --csv {}/tables --svg {}/charts",
        (*SCORED, TABLE, "plan-of-two.json"),
    ),
    Case("leaderboard", "{}/runs --out {}/site --id-key {}/ids.key", (*SCORED, "ids.key")),
    Case("check-run", "{}/runs --dataset {}/rows --json", (*SCORED, TABLE)),
    Case(
        "publish",
        "{}/offered --results ORG/MODEL --dry-run",
        ("offered/.eval_results/sample.yaml",),
    ),
    Case("export", "every-eval-ever {}/records --predictions {}/runs", SCORED),
    Case("reproduce", "winopron --runs {}/runs --json", SCORED),
    Case("check-system", "bag-of-words={}/words", ("words/*.json",)),
    Case("fetch", "spanbert-encoder-base --mirror {}/mirror", ("mirror/*.tar.gz",), ("cache",)),
    Case("fetch", "e2e --mirror {}/mirror", ("mirror/*.tgz", "mirror/*.zip"), ("cache",)),
    Case("export", f"caw {{}}/caw {DATASET} --predictions {{}}/{RUN}", FILES_OF_A_RUN),
    Case("export", f"spanbert {{}}/pieces {DATASET} {PIECES}", ("vocab.txt",)),
    *(
        Case(
            "import",
            f"{form} {{}}/exported/{form} {DATASET} --system theirs --out {{}}/out",
            (f"exported/{form}", f"exported/{form}/*"),
        )
        for form in FORMATS
    ),
    Case(
        "import",
        f"inspect {{}}/log.eval {DATASET} --system theirs --out {{}}/out",
        ("log.eval",),
    ),
    Case(
        "import",
        f"lm-eval {{}}/samples.jsonl {DATASET} --system theirs --out {{}}/out",
        ("samples.jsonl",),
    ),
    Case("score-conll", "{}/key.conll {}/response.conll --json", ("key.conll", "response.conll")),
    Case("train bag-of-words", "--data {}/own.jsonl --out {}/out", ("own.jsonl",)),
]

UPSTREAM = SHARED / "upstream"
WITH_UPSTREAM = [
    Case(
        "hydrate",
        f"{{}}/posts.jsonl --sources {UPSTREAM} --out {{}}/hydrated",
        ("posts.jsonl",),
    ),
]
"""Calls that read upstream's files besides, which stay outside the repository."""


def commands() -> Iterator[str]:
    """Yield every command that the command line has."""
    yield from _leaves(typer.main.get_command(app), ())


def _leaves(command: click.Command, names: tuple[str, ...]) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if command.hidden:  # the former name of another command
        return
    if inner is None:
        yield " ".join(names)
    else:
        for name, one in inner.items():
            yield from _leaves(one, (*names, name))


def write_inputs(folder: Path) -> None:
    """Write whatever the cases read, all of it sound."""

    def call(*words: object) -> None:
        result = pronominal(*words)
        assert result.returncode == 0, (words, result.stderr)

    folder.mkdir(exist_ok=True)
    call("build", "sample", "--out", folder)
    (folder / "rows" / "double").mkdir(parents=True)
    table = pq.read_table(folder / "sample" / "double" / "test.parquet").slice(0, ROWS)
    pq.write_table(table, folder / TABLE)
    shutil.copy(folder / "sample" / "README.md", folder / "rows")
    (folder / "ze.toml").write_text(
        '[ze]\nnominative = "ze"\naccusative = "zir"\npossessive = "zir"\n'
    )
    (folder / "sources").mkdir()
    write_sources(folder / "sources", own_tables())
    _write_texts(folder, call)
    _write_trainings(folder, call)
    _write_runs(folder, call)
    _write_people(folder, call)
    _write_archives(folder)
    if UPSTREAM.is_dir():
        _write_posts(folder)


Call = Callable[..., None]


EXPERIMENT = """config = "double"
limit = 16

[settings]
seed = 7

[systems.dice]
system = "random"
"""


def _write_texts(folder: Path, call: Call) -> None:
    logs = ROOT / "tests" / "cases" / "logs"
    shutil.copyfile(logs / "inspect_limit.eval", folder / "log.eval")
    shutil.copyfile(logs / "lm_eval_letters.jsonl", folder / "samples.jsonl")
    (folder / "experiment.toml").write_text(EXPERIMENT)
    rows = pq.read_table(folder / TABLE).drop_columns(["canary"]).to_pylist()
    (folder / "own.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    pq.write_table(pq.read_table(folder / TABLE), folder / "own.parquet")
    (folder / "text.jsonl").write_text('{"text": "Nothing of ours is in here."}\n' * 5)
    call("leakcheck", "--dataset", folder / "rows", "--write-index", folder / "leak.index")
    (folder / "corpus").mkdir()
    corpus(folder / "corpus", files=1, lines=150)
    write_names(folder)
    _write_told(folder / "told", [planted(number) for number in range(20)])
    method = ("construct", "knowref", "--proper-names-only", "--out", folder)
    call(*method, "--input", folder / "corpus", "--names", folder / "names.csv")


def _write_told(folder: Path, sentences: list[str]) -> None:
    """Write sentences as JSONL, as the XML of OPUS, and as subtitles."""
    folder.mkdir()
    posts = "".join(f"{json.dumps({'text': one})}\n" for one in sentences)
    (folder / "posts.jsonl").write_text(posts)
    told = "".join(f'<s id="{number}">{one}</s>' for number, one in enumerate(sentences))
    (folder / "film.xml").write_text(
        f'<?xml version="1.0" encoding="utf-8"?><document>{told}</document>'
    )
    times = "00:00:01,000 --> 00:00:02,000"
    shown = "".join(f"{number}\n{times}\n{one}\n\n" for number, one in enumerate(sentences, 1))
    (folder / "film.srt").write_text(shown)
    (folder / "posts.jsonl.gz").write_bytes(gzip.compress(posts.encode()))


def _write_archives(folder: Path) -> None:
    """Write packed texts, and archives of what would be weights."""
    packed, mirror = folder / "packed", folder / "mirror"
    packed.mkdir()
    mirror.mkdir()
    text = (folder / "text.jsonl").read_bytes()
    for name, pack in {"t.gz": gzip.compress, "t.xz": lzma.compress, "t.bz2": bz2.compress}.items():
        (packed / name).write_bytes(pack(text))
    (packed / "t.zst").write_bytes(pa.compress(text, "zstd", asbytes=True))
    shutil.copy(folder / TABLE.replace("rows/", "sample/"), packed / "t.parquet")
    for archive in (packed / "t.eval", mirror / "glove.840B.300d.zip"):
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
            zipped.writestr("one/t.txt", text)
    for archive in (mirror / "spanbert_hf_base.tar.gz", mirror / "e2e-coref.tgz"):
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(folder / "text.jsonl", "top/config.json")
            tar.add(folder / "ze.toml", "top/vocab.txt")


def _write_posts(folder: Path) -> None:
    """Write a few of KnowRef's sentences, in its own form, beside a post that holds none."""
    sources = Sources(UPSTREAM)
    ids, sentences = read_ids(sources, "train")[:12], read_train(sources)[:12]
    posts: list[dict[str, str | None]] = [{"post_id": "x", "comment_id": None, "text": "Ann left."}]
    for (post, comment), one in zip(ids, sentences, strict=True):
        start, end = one.pronoun.start, one.pronoun.end
        form = f"{one.text[:start]}[{one.text[start:end]}]{one.text[end:]}"
        posts.append({"post_id": post, "comment_id": comment, "sentence_with_pronoun": form})
    (folder / "posts.jsonl").write_text("".join(f"{json.dumps(post)}\n" for post in posts))


def _write_runs(folder: Path, call: Call) -> None:
    rows = ("--dataset", folder / "rows", "--config", "double")
    systems = ("--system", PAIRS, "--system", "first-mention")
    call("evaluate", *rows, *systems, "--out", folder / "runs")
    results = folder / "offered-by"
    call("report", folder / "runs", "--out", folder / "any.html", "--eval-results", results)
    shutil.copytree(next(results.iterdir()), folder / "offered")
    shutil.copy(folder / RUN / "predictions.jsonl", folder / "predictions.jsonl")
    call("ids", "key", folder / "ids.key")
    call("leaderboard", folder / "runs", "--out", folder / "board", "--id-key", folder / "ids.key")
    shutil.copy(next((folder / "board" / "rows").rglob("*.jsonl")), folder / "opaque.jsonl")
    shutil.copytree(folder / RUN, folder / "begun" / Path(RUN).name)
    begun = folder / "begun" / Path(RUN).name
    record = json.loads((begun / "run.json").read_text())
    del record["predictions"]
    (begun / "run.json").write_text(json.dumps(record | {"complete": False}))
    lines = (begun / "predictions.jsonl").read_text().splitlines(keepends=True)
    failed = json.loads(lines[3])["id"]
    (begun / "predictions.jsonl").write_text("".join(lines[:3] + lines[4:30]))
    (begun / "failures.jsonl").write_text(f'{{"id": "{failed}", "cause": "it fell over"}}\n')
    for number, name in enumerate(("one", "two"), start=1):
        (folder / "shards" / name).mkdir(parents=True)
        shard = ("run", *rows, "--system", "random", "--shard", f"{number}/2")
        call(*shard, "--out", folder / "cut")
        (made,) = (folder / "cut").glob(f"*shard-{number}-of-2")
        shutil.copytree(made, folder / "shards" / name, dirs_exist_ok=True)
    _write_vocabulary(folder / "vocab.txt")
    (folder / "exported").mkdir()
    for form, entry in FORMATS.items():
        to = ("export", form, folder / "exported" / form, *rows)
        pieces = PIECES.replace("{}", str(folder)).split() if entry.options else ()
        call(*to, "--predictions", folder / RUN, *pieces)
    for name in ("key", "response"):
        to = ("export", "conll2012", folder / f"{name}.conll", *rows)
        call(*to, "--predictions", folder / RUN)

    call("plan", *rows, "--systems", folder / "systems.toml", "--out", folder / "plan.json")
    call("plan", *rows, *systems, "--out", folder / "plan-of-two.json")


def _write_vocabulary(file: Path) -> None:
    """Write a vocabulary of word pieces that are letters and signs."""
    letters = [f"{before}{one}" for one in string.printable[:94] for before in ("", "##")]
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    file.write_text("".join(f"{piece}\n" for piece in (*special, *letters)))


def _write_people(folder: Path, call: Call) -> None:
    rows = ("--dataset", folder / "rows", "--config", "double")
    call("annotate", "export", *rows, "--annotators", 2, "--out", folder / "sheets")
    sheet = folder / "sheets" / "for-annotators" / "sheet.csv"
    head, *lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    answers = "".join(f"{line}{'AB'[number % 2]}\n" for number, line in enumerate(lines))
    (folder / "ann.csv").write_text(f"{head}\n{answers}", encoding="utf-8")
    names = [line.partition(",")[0] for line in lines]
    told = [json.dumps({"item": name, "answer": "A"}) for name in names]
    (folder / "bob.jsonl").write_text("\n".join(told) + "\n")
    call("annotate", "import", folder / "sheets", folder / "ann.csv", folder / "bob.jsonl")


def _write_trainings(folder: Path, call: Call) -> None:
    call("train", "bag-of-words", "--data", folder / "own.jsonl", "--out", folder / "words")
    (folder / "systems.toml").write_text(
        f'[dice]\nsystem = "random"\nseed = 7\n[words]\nsystem = "bag-of-words"\n'
        f'checkpoint = "{folder / "words"}"\n'
    )
