"""CAW-coref and WL-coref: word-level coreference, from upstream's checkpoints.

CAW-coref (D'Oosterlinck et al., 2023, "CAW-coref: Conjunction-Aware Word-level Coreference
Resolution") changes which word of a mention WL-coref (Dobrovolskii, 2021, "Word-Level Coreference
Resolution") is trained to link, and nothing else, so this code serves the weights of both.

In the order of computation: `tokens` (words to subwords and windows), `scorer` (which words
corefer), `spans` (whose heads they are), `model` (all of it for a batch of documents, with the
encoder); besides, `checkpoint` (files), `loading` (files to a model) and `system` (the interface).

It learns with `training_settings` (what is asked for), `heads` (which word of a mention is
linked), `documents` (gold clusters in heads), `learning` (the losses) and `training` (all of it).
"""
