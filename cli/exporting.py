"""``pronominal export``."""

from pathlib import Path
from typing import Annotated

import typer

from pronominal.errors import InputError, unknown_name

FORMATS = ("lm-eval",)


def export(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="For whom: lm-eval.")],
    out: Annotated[Path, typer.Argument(help="The folder to make.")],
    ruff: Annotated[
        str | None, typer.Option(help="RUFF's folder; its id on the Hub without it.")
    ] = None,
    winopron: Annotated[
        str | None, typer.Option(help="WinoPron's folder; its id on the Hub without it.")
    ] = None,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="The longest answer to a prompt: 5 as for FLAN-T5.")
    ] = 5,
) -> None:
    """Write tasks for another evaluation program, which load the published datasets."""
    from pronominal.eval.lm_eval_tasks import export as lm_eval

    if form not in FORMATS:
        raise unknown_name("format", form, FORMATS)
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or _ours(out))):
        raise InputError("there is something already", cure="choose another folder", file=out)
    groups = lm_eval.export_tasks(
        out,
        ruff or lm_eval.RUFF,
        winopron or lm_eval.WINOPRON,
        max_new_tokens,
    )
    print(f"lm_eval --include_path {out} --tasks {','.join(groups)}")


def _ours(folder: Path) -> bool:
    """Say whether a folder holds an earlier export and nothing else."""
    return all(
        path.is_dir() and (path / f"_{path.name}.yaml").exists() for path in folder.iterdir()
    )
