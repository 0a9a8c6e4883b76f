"""SpanBERT with the coarse-to-fine head.

Joshi et al., 2020, "SpanBERT: Improving Pre-training by Representing and Predicting Spans".
"""

from types import MappingProxyType

from pronominal.adapters.c2f.bert.system import TransformerCoreference


class SpanBERT(TransformerCoreference):
    """SpanBERT's coreference system, base or large. See `TransformerCoreference` for arguments."""

    name = "spanbert"
    segment_lengths = MappingProxyType({768: 384, 1024: 512})
