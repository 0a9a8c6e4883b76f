"""neuralcoref (Wolf, 2017), the mention-pair network that WinoNB calls C&M++."""
