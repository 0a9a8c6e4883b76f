"""BERT with the coarse-to-fine head.

Joshi et al., 2019, "BERT for Coreference Resolution: Baselines and Analysis".
"""

from types import MappingProxyType

from pronominal.adapters.c2f.bert.system import TransformerCoreference


class BERTCoref(TransformerCoreference):
    """BERT's coreference system, base or large. See `TransformerCoreference` for arguments."""

    name = "bert-coref"
    segment_lengths = MappingProxyType({768: 128, 1024: 384})
