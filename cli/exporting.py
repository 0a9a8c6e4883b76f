"""``pronominal export``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pronominal.cli.declared_options import option, taking
from pronominal.cli.progress import progress_bar
from pronominal.cli.running import Config
from pronominal.errors import InputError, unknown_name
from pronominal.eval.exchange import FORMATS
from pronominal.eval.exchange.lm_eval import DATASETS

LM_EVAL = "lm-eval"


@taking(
    option(name, str | None, f"lm-eval: folder of {name}; its id on the Hub without it.")
    for name in DATASETS
)
def export(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help=f"For whom: {', '.join([*FORMATS, LM_EVAL])}.")
    ],
    target: Annotated[
        Path | None, typer.Argument(metavar="[OUT]", help="The file or folder to make.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The same, as an option.")] = None,
    dataset: Annotated[
        str | None, typer.Option(help="A built dataset's folder, or its id on the Hub.")
    ] = None,
    config: Config = None,
    split: Annotated[str | None, typer.Option(help="A split; 'test' without it.")] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="A run, or a predictions file: its clusters are written, too."),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(help="spanbert, coref-hoi: the model's vocab.txt or tokenizer.json."),
    ] = None,
    segment_length: Annotated[
        int | None,
        typer.Option(min=3, help="spanbert, coref-hoi: word pieces in a segment; 384, 512."),
    ] = None,
    max_new_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="lm-eval: the longest answer to a prompt; 5 as for FLAN-T5."),
    ] = None,
    **datasets: str | None,
) -> None:
    """Write a dataset for another coreference system, or tasks for lm-evaluation-harness.

    What is written holds evaluation sentences: keep it off the web.
    """
    if form not in (*FORMATS, LM_EVAL):
        raise unknown_name("format", form, (*FORMATS, LM_EVAL))
    places = [place for place in (target, out) if place is not None]
    if len(places) != 1:
        raise InputError("there is not one place to write to", cure="add --out FILE")
    rows = {"dataset": dataset, "config": config, "split": split, "predictions": predictions}
    pieces = {"vocabulary": vocabulary, "segment_length": segment_length}
    tasks = {**datasets, "max_new_tokens": max_new_tokens}
    if form == LM_EVAL:
        _refuse_given(form, rows | pieces)
        _export_tasks(places[0], datasets, max_new_tokens)
    else:
        _refuse_given(form, tasks)
        _export_rows(form, places[0], rows, pieces)


def _refuse_given(form: str, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{form} has no --{name.replace('_', '-')}", cure="leave it out")


def _export_rows(form: str, out: Path, rows: dict[str, Any], options: dict[str, Any]) -> None:
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval.exchange.exporting import export as export_rows

    if rows["dataset"] is None:
        raise InputError("no dataset is given", cure="add --dataset FOLDER")
    if out.is_dir() and any(out.iterdir()):
        raise InputError("there is something already", cure="choose another folder", file=out)
    split = load_split(rows["dataset"], rows["config"], rows["split"] or "test")
    with progress_bar(f"{form} of {split.dataset_name}", split.num_rows) as progress:
        export_rows(
            split, form, out, predictions=rows["predictions"], options=options, progress=progress
        )
    print(out)


def _export_tasks(out: Path, datasets: dict[str, str | None], max_new_tokens: int | None) -> None:
    from pronominal.eval.exchange.lm_eval.export import MAX_NEW_TOKENS, export_tasks

    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or _ours(out))):
        raise InputError("there is something already", cure="choose another folder", file=out)
    places = {name: place for name, place in datasets.items() if place is not None}
    groups = export_tasks(out, places, max_new_tokens or MAX_NEW_TOKENS)
    print(f"lm_eval --include_path {out} --tasks {','.join(groups)}")


def _ours(folder: Path) -> bool:
    """Say whether a folder holds an earlier export and nothing else."""
    return all(
        path.is_dir() and (path / f"_{path.name}.yaml").exists() for path in folder.iterdir()
    )
