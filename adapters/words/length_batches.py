"""Which inputs go through a model together: those of similar length, within a bound on memory."""

from collections.abc import Iterator, Sequence

from pronominal.errors import InputError


def require_batch_size(batch_size: int) -> None:
    """Refuse a batch of no texts; `InputError` if it is below 1, or no whole number."""
    # settings come from files, where true and 2.5 are numbers as well
    if type(batch_size) is not int or batch_size < 1:
        raise InputError(
            f"a batch of {batch_size} texts", cure="give a batch size above 0, a whole number"
        )


def length_batches(
    lengths: Sequence[int],
    *,
    room: int | None = None,
    most: int | None = None,
    padded: bool = False,
) -> Iterator[list[int]]:
    """Yield the numbers of inputs that go together, the shortest first.

    Args:
        lengths: of each input, in any unit; an input of length 0 is in no batch.
        room: the units that a batch may have together, unless it is one input; None for any.
        most: the inputs that a batch may have; None for any number.
        padded: whether every input counts as long as the longest of its batch.
    """
    batch: list[int] = []
    units = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[index]
        if not length:
            continue
        filled = (len(batch) + 1) * length if padded else units + length
        if batch and (len(batch) == most or (room is not None and filled > room)):
            yield batch
            batch, units = [], 0
        batch.append(index)
        units += length
    if batch:
        yield batch
