"""Language models of any architecture that transformers has.

In the order of computation: `loading` (a checkpoint to a model, with `activations`), `tokens`
(texts to sequences), `trie` (sequences to prefix trees), `decoder`, `encoder` and `infilling`
(scores by the three training objectives), with `logits`, `prompt_encoder` and `memory` below them,
and `system` (the interface). Models that are asked in words: `prompts` and `chat` (what they read),
`generation`, `multiple_choice` and `server` (three ways to ask), and `answers` (what they said).
"""
