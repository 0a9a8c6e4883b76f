"""Which candidates are the top spans: the best ones that do not cross each other."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pronominal.adapters.c2f.head.candidates import CandidateGrid
from pronominal.adapters.c2f.head.unit_batch import UnitBatch


def top_candidates(batch: UnitBatch, grid: CandidateGrid, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows and columns of the top spans, document after document."""
    rows, columns = grid.inside.nonzero(as_tuple=True)
    of_candidates = scores[rows, columns]
    in_document = torch.bincount(batch.document_of[rows], minlength=len(batch.lengths))
    starts, ends = rows.tolist(), (rows + columns + 1).tolist()
    kept: list[int] = []
    begin = 0
    for first, count, wanted in zip(
        batch.firsts, in_document.tolist(), batch.spans_to_keep, strict=True
    ):
        mine = slice(begin, begin + count)
        ranking = of_candidates[mine].argsort(descending=True, stable=True).tolist()
        own_starts = [start - first for start in starts[mine]]
        own_ends = [end - first for end in ends[mine]]
        kept += [begin + span for span in keep_best(own_starts, own_ends, ranking, wanted)]
        begin += count
    chosen = torch.tensor(kept, dtype=torch.long, device=rows.device)
    return rows[chosen], columns[chosen]


def keep_best(
    starts: Sequence[int], ends: Sequence[int], ranking: Sequence[int], count: int
) -> list[int]:
    """Return which of some half-open spans are kept, ordered by start, then end.

    Spans are taken in the order of their ranking unless they cross one that was taken before:
    one of the two begins inside the other and ends behind it. Nested spans do not cross, nor do
    those that share a border (the greedy rule of Lee et al., 2017, section 5).
    """
    units = max(ends, default=0)
    latest_end = [0] * units
    """Of the top spans that begin at a unit."""
    earliest_start = [units] * (units + 1)
    """Of the top spans that end before a unit."""
    kept: list[int] = []
    for span in ranking:
        if len(kept) == count:
            break
        start, end = starts[span], ends[span]
        if max(latest_end[start + 1 : end], default=0) > end:
            continue
        if min(earliest_start[start + 1 : end], default=units) < start:
            continue
        kept.append(span)
        latest_end[start] = max(latest_end[start], end)
        earliest_start[end] = min(earliest_start[end], start)
    return sorted(kept, key=lambda span: (starts[span], ends[span]))
