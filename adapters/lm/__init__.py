"""Language models of any architecture that transformers has.

`thoughts` tells what they thought from what they answered. `models` opens them and makes them fast.
`scoring` asks how well a form fills a slot, in the order of computation: `tokens` (texts to
sequences), `trie` (sequences to prefix trees), `decoder`, `encoder` and `infilling` (scores by the
three training objectives), with `logits`, `prompt_encoder` and `memory` below them, and `system`
(the interface). `prompting` asks in words: `prompts` and `chat` (what models read), `generation`,
`multiple_choice`, `text_generation` and `server` (four ways to ask), and `answers` (what they
said). `coreference` lets those that write take part as coreference systems, `continuation` asks a
model for a form in two ways. `engines` asks both questions of models that other programs compute.
"""
