"""Prompts in sorted batches against one ``generate`` for each, at FLAN-T5-small's shape.

Both answer WinoPron's thirty prompts about sentences of our own, in turn, in one process and on one
thread, with the same random weights and a tokenizer made from the prompts; seconds are CPU time,
the median of the rounds. The strings have to be identical. With random weights no answer ends
early: both write five tokens for every prompt, the paper's limit.
``python benchmarks/t5_generation.py --sentences 2 --rounds 3``
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.lm.prompting.generation import PromptedModel
from pronominal.adapters.lm.prompting.prompts import Prompting
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention

FLAN_T5_SMALL = {
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 1024,
    "num_layers": 8,
    "num_decoder_layers": 8,
    "num_heads": 6,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
    "vocab_size": 32_128,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
    "eos_token_id": 1,
}
PEOPLE = ("gardener", "pilot", "translator", "night guard", "violinist", "mayor", "florist")
SENTENCE = "The {} told the {} at the harbour that {} had missed the last boat home."


def prompts(sentences: int) -> list[str]:
    """Return every prompt about so many sentences."""
    found = []
    pairs = ((a, b) for a, b in product(PEOPLE, PEOPLE) if a != b)
    for number, ((first, second), pronoun) in enumerate(product(pairs, ("she", "xe"))):
        if number == sentences:
            break
        text = SENTENCE.format(first, second, pronoun)
        mentions = [
            Mention(word, text.index(f" {word} ") + 1, text.index(f" {word} ") + 1 + len(word))
            for word in (pronoun, first, second)
        ]
        instance = ResolutionInstance(str(number), text, mentions[0], (*mentions[1:],), 0)
        found += [prompt.text for prompt in Prompting().of(instance)]
    return found


def save_model(folder: Path, texts: list[str]) -> None:
    """Write random weights of FLAN-T5-small's shape, and a tokenizer of four letters at a time."""
    words = {word for text in texts for word in text.split()}
    starts = {word[:4] for word in words}
    later = {f"##{word[at : at + 4]}" for word in words for at in range(4, len(word), 4)}
    pieces = sorted(starts | later)
    vocabulary = {piece: n for n, piece in enumerate(["<pad>", "</s>", "<unk>", *pieces])}
    tokenizer = Tokenizer(
        models.WordPiece(vocabulary, unk_token="<unk>", max_input_chars_per_word=99)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    fast: Any = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.T5Config(**FLAN_T5_SMALL)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)


def timed(answer: Callable[[], list[str]]) -> tuple[float, list[str]]:
    start = time.process_time()
    found = answer()
    return time.process_time() - start, found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    asked = prompts(arguments.sentences)
    with tempfile.TemporaryDirectory() as folder, silent_transformers():
        save_model(Path(folder), asked)
        system = PromptedModel(folder, device="cpu")
        # as transformers loads it: ours fuses activations
        model = transformers.T5ForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = system._loaded.tokenizer

    def one_by_one() -> list[str]:
        answers = []
        for prompt in asked:
            read = tokenizer(prompt, return_tensors="pt")
            written = model.generate(read.input_ids, max_new_tokens=5, do_sample=False)
            answers.append(tokenizer.decode(written[0], skip_special_tokens=True))
        return answers

    ways = {"one prompt at a time": one_by_one, "pronominal": lambda: system.generate(asked)}
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    identical = True
    with silent_transformers():
        for _ in range(arguments.rounds):
            found = {}
            for name, answer in ways.items():
                spent, found[name] = timed(answer)
                rounds[name].append(spent)
            identical &= found["pronominal"] == found["one prompt at a time"]
    seconds = {name: round(statistics.median(spent), 3) for name, spent in rounds.items()}
    report = {
        "benchmark": "t5_generation",
        "prompts": len(asked),
        "mean_tokens": round(statistics.mean(len(tokenizer(p).input_ids) for p in asked), 1),
        "ratio": round(seconds["one prompt at a time"] / seconds["pronominal"], 2),
        "seconds": seconds,
        "identical_strings": identical,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
