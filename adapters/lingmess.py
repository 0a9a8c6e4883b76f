"""LingMess (Otmazgin et al., 2023, "LingMess: Linguistically Informed Multi Expert Scorers")."""

from pronominal.adapters.fastcoref_package import FastcorefSystem, LingMessModel, PadCollator


class LingMess(FastcorefSystem):
    """Scores a pair of mentions with the expert for its category, such as pronoun and entity.

    A text has to fit into the encoder's position table. See `FastcorefSystem` for the arguments.
    """

    name = "lingmess"
    model_class = LingMessModel
    collator_class = PadCollator
