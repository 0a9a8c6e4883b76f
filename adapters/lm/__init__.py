"""Language models of any architecture that transformers has.

In the order of computation: `loading` (a checkpoint to a model), `tokens` (texts to sequences),
`trie` (sequences to prefix trees), `decoder`, `encoder` and `infilling` (scores by the three
training objectives), with `logits` and `memory` below them, and `system` (the interface).
"""
