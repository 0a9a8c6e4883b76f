"""neuralcoref (Wolf, 2017), the mention-pair network that WinoNB calls C&M++."""

from pronominal.adapters.neuralcoref.system import NeuralCoref

__all__ = ["NeuralCoref"]
