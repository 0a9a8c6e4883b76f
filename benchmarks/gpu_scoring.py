"""RUFF on a GPU with random weights of a real shape: tree, plain batches and vLLM, by turns.

Each way fills the slots of the same rows. For each it prints the seconds, the tokens of the filled
texts and how many of them a second goes through, the tokens that were fed to the model, and which
share of the card's peak that is: two operations for each parameter and token that was fed, over the
seconds and `--peak` (989 TFLOP/s for bfloat16 on an H100 or H200, by their data sheets). Then the
tree in `--dtype` is compared with the tree in float32 on the first `--compared-rows` rows: how far
scores move, how many decisions do, and how many have a margin so small that they may.

The whole of ``distractors_2``, after ``pronominal build ruff --all --out out``, once a shape:

    python benchmarks/gpu_scoring.py --dataset out/ruff --shape 1b --ways tree,plain,vllm
    python benchmarks/gpu_scoring.py --dataset out/ruff --shape 7b --ways tree,plain,vllm

``--shape tiny --device cpu --dtype float32 --rows 8`` tries the command out anywhere. vLLM is
another process's memory: where both models do not fit, ask for ``vllm`` alone. Prints one JSON
object.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from pronominal.adapters.lm.models.loading import DTYPES
from pronominal.adapters.lm.scoring.decoder import CausalScorer
from pronominal.adapters.lm.scoring.tokens import TextTokenizer
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.instances import FillingInstance

SHAPES: dict[str, dict[str, int]] = {
    # of Llama-3.2-1B and Llama-2-7B
    "1b": {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128_256,
    },
    "7b": {
        "hidden_size": 4096,
        "intermediate_size": 11_008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "vocab_size": 32_000,
    },
    "tiny": {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "vocab_size": 2_000,
    },
}
CHUNK = 1_024
"""How many rows a run hands to a causal model at a time."""

MARGINS = (0.0001, 0.001, 0.01, 0.1)
TEXTS_FOR_THE_TOKENIZER = 2_000


def read_rows(dataset: str, config: str, name: str, rows: int) -> list[FillingInstance]:
    split = load_split(dataset, config, name)
    return [*(split.first(rows) if rows else split)]


def trained_tokenizer(asked: Sequence[FillingInstance], size: int) -> Any:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>"]
    trainer = trainers.BpeTrainer(
        vocab_size=min(size, 16_000),
        initial_alphabet=alphabet,
        special_tokens=special,
        show_progress=False,
    )
    some = asked[:: max(1, len(asked) // TEXTS_FOR_THE_TOKENIZER)]
    tokenizer.train_from_iterator((text for one in some for text in one.filled()), trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=special[0], eos_token=special[1]
    )


def random_model(shape: str, dtype: torch.dtype, device: str) -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**SHAPES[shape], max_position_embeddings=4096)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype).eval()
    return model.requires_grad_(False)


def chunks(asked: Sequence[FillingInstance]) -> list[Sequence[FillingInstance]]:
    return [asked[start : start + CHUNK] for start in range(0, len(asked), CHUNK)]


def scored(
    scorer: CausalScorer, texts: TextTokenizer, asked: Sequence[FillingInstance]
) -> np.ndarray[Any, Any]:
    """Return the scores of the options, of what tells them apart alone."""
    found = []
    for chunk in chunks(asked):
        sequences = texts.read(chunk)
        first = np.maximum(1, sequences.common_prefixes()).astype(np.int32)
        found.append(scorer.score(sequences, first).reshape(len(chunk), -1))
    return np.concatenate(found)


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long work took by the clock, and what it gave."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    start = time.perf_counter()
    found = work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start, found


def speed(
    seconds: float, tokens: int, fed: int | None, parameters: int, peak: float | None
) -> dict[str, Any]:
    share = fed and peak and 2 * parameters * fed / seconds / (peak * 1e12)
    return {
        "seconds": round(seconds, 3),
        "text_tokens_per_second": round(tokens / seconds),
        "fed_tokens": fed,
        "share_of_peak": None if not share else round(share, 4),
    }


def with_vllm(model: Any, tokenizer: Any, asked: Sequence[FillingInstance], dtype: str) -> Any:
    from pronominal.adapters.lm.engines.vllm_scores import VllmScores

    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        system = VllmScores(folder, dtype=dtype)
        few = asked[:8]
        system.loglikelihood(few)  # what is compiled is compiled now
        return seconds_of(lambda: [system.loglikelihood(chunk) for chunk in chunks(asked)])[0]


def ways(arguments: argparse.Namespace, asked: Sequence[FillingInstance]) -> dict[str, Any]:
    """Score all rows by each way, after a few of them unmeasured."""
    size = SHAPES[arguments.shape]["vocab_size"]
    tokenizer = trained_tokenizer(asked, size)
    texts = TextTokenizer(tokenizer)
    tokens = sum(int(texts.read(chunk).lengths.sum()) for chunk in chunks(asked))
    model = random_model(arguments.shape, DTYPES[arguments.dtype], arguments.device)
    parameters = sum(tensor.numel() for tensor in model.parameters())
    found: dict[str, Any] = {"parameters": parameters, "text_tokens": tokens}
    for way in arguments.ways.split(","):
        fed = None
        if way == "vllm":
            seconds = with_vllm(model, tokenizer, asked, arguments.dtype)
        else:
            scored(CausalScorer(model, way=way), texts, asked[:8])
            scorer = CausalScorer(model, way=way)
            seconds, _ = seconds_of(lambda of=scorer: scored(of, texts, asked))
            fed = scorer.tokens
        found[way] = speed(seconds, tokens, fed, parameters, arguments.peak)
        print(f"{way}: {found[way]}", file=sys.stderr)
    few = asked[: arguments.compared_rows]
    found["compared_with_float32"] = compared(model, arguments, texts, few)
    return found


def compared(
    model: Any,
    arguments: argparse.Namespace,
    texts: TextTokenizer,
    asked: Sequence[FillingInstance],
) -> dict[str, Any]:
    """Compare the tree's decisions with those of the same weights in float32."""
    half = scored(CausalScorer(model, way="tree"), texts, asked)
    exact = scored(CausalScorer(model.float(), way="tree"), texts, asked)
    best = np.sort(exact, axis=1)
    margins = best[:, -1] - best[:, -2]
    return {
        "rows": len(asked),
        "dtype": arguments.dtype,
        "largest_difference": float(np.abs(half - exact).max()),
        "median_margin": float(np.median(margins)),
        "decisions_changed": int((half.argmax(1) != exact.argmax(1)).sum()),
        "margins_below": {str(margin): int((margins < margin).sum()) for margin in MARGINS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--dataset", required=True, help="what pronominal build ruff made")
    parser.add_argument("--config", default="distractors_2")
    parser.add_argument("--split", default="test", help="the whole config; seed_13 for a sample")
    parser.add_argument("--shape", choices=SHAPES, default="1b")
    parser.add_argument("--rows", type=int, default=0, help="the first ones; all when 0")
    parser.add_argument("--compared-rows", type=int, default=6_480)
    parser.add_argument("--ways", default="tree,plain", help="of tree, plain and vllm")
    parser.add_argument("--dtype", choices=DTYPES, default="bfloat16")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--peak", type=float, help="of the card in this dtype, in TFLOP/s")
    arguments = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    asked = read_rows(arguments.dataset, arguments.config, arguments.split, arguments.rows)
    cuda = torch.cuda.is_available()
    result = {
        "benchmark": "gpu_scoring",
        "device": torch.cuda.get_device_name() if cuda else arguments.device,
        "shape": arguments.shape,
        "dtype": arguments.dtype,
        "config": f"{arguments.config}/{arguments.split}",
        "rows": len(asked),
        **ways(arguments, asked),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
