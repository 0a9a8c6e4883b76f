"""How the cost of each kernel grows with the length of texts, with its exponent.

``lingmess`` and ``caw`` read four texts with the tests' tiny weights; ``decoder`` and ``encoder``
score four rows of four options with random weights, 128 wide and two layers deep, the decoder from
the blank on. CPU time on one thread, the median of three rounds; lengths are words, each of them
one token to the language models. Prints one JSON object.

``python benchmarks/text_lengths.py``
"""

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from pronominal.adapters import load
from pronominal.adapters.lm.scoring.decoder import CausalScorer
from pronominal.adapters.lm.scoring.encoder import MaskedScorer
from pronominal.adapters.lm.scoring.tokens import TextTokenizer
from pronominal.instances import FillingInstance
from pronominal.spans import Mention

GOLDENS = Path(__file__).parent.parent / "tests" / "goldens"
WORDS, TEXTS, ROUNDS = (8, 16, 32, 64), 4, 3
TOLD = "the baker told the guest that she had found her keys near the old door"
SAID = TOLD.split()
OPTIONS = ("he", "she", "they", "xe")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def sentence(words: int) -> str:
    return " ".join((SAID * (words // len(SAID) + 1))[:words])


def filling_rows(words: int) -> list[FillingInstance]:
    """Return rows of so many words, each with a first word of its own and a blank halfway."""
    rows = []
    for number in range(TEXTS):
        before = f"{number} {sentence(words // 2 - 1)} "
        blank = Mention("___", len(before), len(before) + 3)
        text = f"{before}___ {sentence(words // 2 - 1)}"
        rows.append(FillingInstance(str(number), text, blank, OPTIONS, 0))
    return rows


def word_tokenizer() -> Any:
    words = [*SPECIAL, *dict.fromkeys(SAID), *OPTIONS, *map(str, range(TEXTS))]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, SPECIAL, strict=True))
    )


def kernels() -> dict[str, Callable[[int], object]]:
    """Return what each kernel does for texts of so many words."""
    reader = TextTokenizer(word_tokenizer())
    rows = {words: filling_rows(words) for words in WORDS}
    torch.manual_seed(0)
    bert = transformers.BertConfig(
        vocab_size=64, hidden_size=128, num_hidden_layers=2, num_attention_heads=4
    )
    gpt = transformers.GPT2Config(vocab_size=64, n_embd=128, n_layer=2, n_head=4)
    masked = MaskedScorer(
        transformers.BertForMaskedLM(bert).eval(),
        frame=reader.frame,
        mask=SPECIAL.index("[MASK]"),
        batch_tokens=1024,
    )
    causal = CausalScorer(
        transformers.GPT2LMHeadModel(gpt).eval(), batch_tokens=512, pack_tokens=512
    )

    def decode(words: int) -> object:
        sequences = reader.read(rows[words])
        return causal.score(sequences, np.maximum(1, sequences.common_prefixes()))

    def cluster(name: str) -> Callable[[int], object]:
        system: Any = load(name, str(GOLDENS / name / "checkpoint"), device="cpu")
        return lambda words: system.cluster([sentence(words)] * TEXTS)

    return {
        "decoder": decode,
        "encoder": lambda words: masked.score(reader.read(rows[words])),
        "lingmess": cluster("lingmess"),
        "caw": cluster("caw"),
    }


def cpu_seconds(work: Callable[[int], object], words: int) -> float:
    taken = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work(words)
        taken.append(time.process_time() - begun)
    return round(statistics.median(taken), 4)


def exponent(seconds: Sequence[float]) -> float:
    return round(float(np.polyfit(np.log(WORDS), np.log(seconds), 1)[0]), 2)


def main() -> None:
    torch.set_num_threads(1)
    report: dict[str, Mapping[str, Any]] = {}
    for name, work in kernels().items():
        work(WORDS[0])
        seconds = [cpu_seconds(work, words) for words in WORDS]
        report[name] = {
            "sizes": [*WORDS],
            "cpu_seconds": seconds,
            "exponent": exponent(seconds),
        }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
