"""Stanford CoreNLP's three coreference systems, through a CoreNLP server of the user's own.

They are KnowRef's Rule, Stat and Deep-RL (Emami et al., 2019, section 4), and the last one is
WinoNB's C&M (Baumler and Rudinger, 2022, section 4).
"""
