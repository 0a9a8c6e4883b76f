"""FCoref (Otmazgin et al., 2022, "F-coref: Fast, Accurate and Easy to Use Coreference")."""

from pronominal.adapters.fastcoref.package import FastcorefSystem, FCorefModel, LeftOversCollator


class FCoref(FastcorefSystem):
    """A small model distilled from LingMess; it encodes a long text in segments of its own.

    A text may have any length. See `FastcorefSystem` for the arguments.
    """

    name = "fcoref"
    model_class = FCorefModel
    collator_class = LeftOversCollator
    architecture = "FCorefModel"
    package_class = "FCoref"
