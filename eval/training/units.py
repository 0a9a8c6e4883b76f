"""From rows to what one batch holds together, with everything that is left out named."""

from collections.abc import Sequence

from pronominal.adapters.bert.encoding import EncodedInstance, InstanceEncoder
from pronominal.adapters.bert.training import Unit
from pronominal.eval.training.left_out import LeftOut
from pronominal.instances import ResolutionInstance
from pronominal.switching import SAME_NAME, Unswitchable, switch


def training_units(
    rows: Sequence[ResolutionInstance], encoder: InstanceEncoder, *, switching: bool, paired: bool
) -> tuple[list[Unit], list[LeftOut]]:
    """Encode the rows of the training set, and their switched versions if those are wanted.

    Args:
        rows: as they stand in the data.
        encoder: of the classifier.
        switching: whether the switched version of each row is learnt, too.
        paired: whether it stays in the batch of its original.

    Returns:
        What stays together in a batch, and what is left out.
    """
    originals, left_out = readable(rows, encoder, "train")
    units: list[Unit] = []
    extra: list[Unit] = []
    versions = [_switched(one) if switching else None for one, _ in originals]
    wanted = [one for one in versions if isinstance(one, ResolutionInstance)]
    encoded = iter(encoder.encode(wanted))
    for (instance, original), version in zip(originals, versions, strict=True):
        other = next(encoded) if isinstance(version, ResolutionInstance) else version
        if isinstance(other, EncodedInstance):
            units.append((original, other) if paired else (original,))
            extra += [] if paired else [(other,)]
            continue
        units.append((original,))
        if other is not None:
            left_out.append(LeftOut("train", instance.id, "switched", other.reason))
    return units + extra, left_out


def readable(
    rows: Sequence[ResolutionInstance], encoder: InstanceEncoder, split: str
) -> tuple[list[tuple[ResolutionInstance, EncodedInstance]], list[LeftOut]]:
    """Encode the rows that a classifier can learn from or be measured on; name the others."""
    kept, left_out = [], []
    for instance, encoded in zip(rows, encoder.encode(rows), strict=True):
        names = {candidate.text for candidate in instance.candidates}
        if instance.label not in (0, 1):
            reason = "neither candidate is right"
        elif len(names) < 2:
            reason = SAME_NAME
        elif not isinstance(encoded, EncodedInstance):
            reason = encoded.reason
        else:
            kept.append((instance, encoded))
            continue
        left_out.append(LeftOut(split, instance.id, "original", reason))
    return kept, left_out


def _switched(instance: ResolutionInstance) -> ResolutionInstance | Unswitchable:
    try:
        return switch(instance)
    except Unswitchable as refusal:
        return refusal
