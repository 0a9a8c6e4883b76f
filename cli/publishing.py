"""``pronominal publish`` and ``access``."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pronominal.dataset_scripts.hub.repository import Gating, require_hub_id
from pronominal.errors import InputError, printable

Action = StrEnum("Action", ["LIST", "ACCEPT", "REJECT", "GRANT", "EXPORT"])


def publish(
    folder: Annotated[
        Path,
        typer.Argument(help="A folder that 'build' made, or with --results one of results."),
    ],
    repo: Annotated[
        str | None, typer.Option(metavar="ORG/NAME", help="The dataset on the Hub.")
    ] = None,
    gated: Annotated[
        Gating | None,
        typer.Option(help="Who lets people in: their agreement alone, or a maintainer."),
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(
            metavar="ORG/MODEL",
            help="Offer FOLDER/.eval_results to this model's repository, as a pull request.",
        ),
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="The version, for a card that states none.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the folder and print the plan only.")
    ] = False,
) -> None:
    """Publish a dataset, private until a stranger is shown to be refused; exit 1 if one is not."""
    from pronominal.dataset_scripts.hub import publish as publishing
    from pronominal.dataset_scripts.hub.release import read_release
    from pronominal.dataset_scripts.reading.hub_client import page

    if results is not None:
        _offer(folder, results, repo=repo, gated=gated, version=version, dry_run=dry_run)
        return
    if repo is None or gated is None:
        lacking = "--repo ORG/NAME" if repo is None else "--gated auto or --gated manual"
        raise InputError(
            "it is not said where to publish, or behind which gate", cure=f"add {lacking}"
        )
    require_hub_id(repo)
    release = read_release(folder, version)
    print(f"{release.name} {release.version}: {len(release.digests)} files, as their card says")
    if dry_run:
        for number, step in enumerate(publishing.plan(release, repo, gated), start=1):
            print(f"{number}. {step}")
        return
    try:
        publishing.publish(release, repo, gated)
    except publishing.GateOpenError as error:
        if "--debug" in sys.argv:
            raise
        print(f"pronominal: {error}", file=sys.stderr)
        raise typer.Exit(1) from error
    print(page(repo))


def _offer(folder: Path, model: str, *, dry_run: bool, **others: object) -> None:
    """Offer results to a model's repository."""
    from pronominal.dataset_scripts.hub.model_results import offer_results, read_results

    for name in (name for name, value in others.items() if value is not None):
        raise InputError(f"--{name} is for datasets", cure="leave it out with --results")
    given = read_results(folder)
    for (dataset, task), value in given.results.items():
        print(f"{dataset} {task}: {value}")
    if not dry_run:
        print(offer_results(given, model))


def access(
    repo: Annotated[str, typer.Argument(metavar="ORG/NAME", help="A dataset on the Hub.")],
    action: Annotated[Action, typer.Argument(help="What to do.")],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[USER|FILE]", help="The user to answer, or the CSV file to export to."
        ),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="List the answers to the gate's form, too.")
    ] = False,
) -> None:
    """List, answer and export the requests for access to a gated dataset."""
    from pronominal.dataset_scripts.hub import access as requests

    require_hub_id(repo)
    if action is Action.LIST:
        if target is not None:
            raise InputError(
                f"list takes no {target}", cure=f"write 'pronominal access {repo} list'"
            )
        for request in requests.access_requests(repo):
            given = "; ".join(f"{key}: {value}" for key, value in request.answers.items())
            line = f"{printable(request.user):30} {request.status:10} {request.date}"
            print(f"{line}  {printable(given)}" if answers else line)
        return
    if target is None:
        wanted = "FILE" if action is Action.EXPORT else "USER"
        raise InputError(
            f"{action} needs a {wanted.lower()}",
            cure=f"write 'pronominal access {repo} {action} {wanted}'",
        )
    if action is Action.EXPORT:
        print(f"{requests.export_requests(repo, Path(target))} requests: {target}")
        return
    requests.answer(repo, target, requests.Answer(action.value))
    print(f"{repo}: {target} {'rejected' if action is Action.REJECT else 'may read it'}")
