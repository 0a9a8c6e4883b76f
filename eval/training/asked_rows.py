"""The rows that the options of ``pronominal train`` ask for."""

from collections.abc import Mapping
from pathlib import Path

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.training.data import TrainingData, own_data, own_tests, published_data


def asked_rows(
    data: str,
    *,
    dataset: str | None = None,
    sources: Path | None = None,
    validation: Path | None = None,
    validation_share: float | None = None,
    test: Path | None = None,
) -> TrainingData:
    """Read KnowRef, GAP or a user's own rows.

    Args:
        data: ``knowref``, ``gap`` or a JSONL or Parquet file.
        dataset: see `published_data`.
        sources: see `published_data`.
        validation: see `own_data`.
        validation_share: see `own_data`.
        test: see `own_data`.

    Raises:
        InputError: an option has no effect on such rows, or the rows cannot be read.
    """
    given = {
        "--dataset": dataset,
        "--sources": sources,
        "--validation": validation,
        "--validation-share": validation_share,
        "--test": test,
    }
    refuse_unused(data, given, held=validation is not None)
    if _is_file(data):
        return own_data(Path(data), validation, test, validation_share)
    return published_data(data, dataset, sources)


def asked_tests(dataset: str | None, test: Path | None) -> tuple[dict[str, Split], str]:
    """Read the rows that trainings were tested on.

    Args:
        dataset: the folder of a built dataset with ``original`` and ``switched``, or its Hub id.
        test: see `own_data`.

    Returns:
        The rows by config, and the dataset that they are of: empty for a user's own.

    Raises:
        InputError: not exactly one of them is given, or the rows cannot be read.
    """
    if test is not None and dataset is None:
        return own_tests(test), ""
    if dataset is None or test is not None:
        raise InputError(
            "exactly one of --dataset and --test says what the trainings were tested on",
            cure="give --dataset with a built knowref or gap, or --test with rows of your own",
        )
    splits = {config: read_split(dataset, config) for config in ("original", "switched")}
    return splits, splits["original"].dataset_name


def refuse_unused(rows: str | None, given: Mapping[str, object], *, held: bool) -> None:
    """Refuse options that belong to another kind of rows than those that are learnt.

    Args:
        rows: what ``--data`` says of rows; None where documents alone are learnt.
        given: the options that name other rows or how many are held out, None if not given.
        held: whether what is held out is given, so that no share of what is learnt need be.

    Raises:
        InputError: an option is given that has no effect.
    """
    own = rows is not None and _is_file(rows)
    published = rows is not None and not own
    used = {
        "--dataset": published,
        "--sources": published,
        "--validation": own,
        "--validation-share": not (published or held),
        "--test": own,
    }
    for option, value in given.items():
        if value is not None and not used[option]:
            raise InputError(
                f"{option} {value} has no effect on a training on {rows or 'documents alone'}",
                cure="leave it out",
            )


def _is_file(rows: str) -> bool:
    return bool(Path(rows).suffix)
