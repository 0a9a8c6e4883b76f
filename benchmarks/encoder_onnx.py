"""Whether ONNX Runtime would compute our encoders faster than torch with packed or int8 weights.

BERT's layers with random weights at two sizes, 32 texts of 24 subwords, one thread. Torch as it is,
our encoder dtypes and ONNX Runtime (float32, and int8 by its dynamic quantisation with a step for
each output) answer by turns, seven rounds. Prints one JSON object: CPU time of plain torch over
each (medians), and the largest difference of a state from plain torch's, whose states have a
variance of one.

Needs, beyond the extra ``systems``: ``pip install onnx onnxruntime onnxscript``

``python benchmarks/encoder_onnx.py``
"""

import copy
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import torch
import transformers
from torch import Tensor

from pronominal.adapters.layers.encoders import EncoderDtype, compute_in

SIZES = ((384, 6), (1024, 2))
"""Hidden units and layers: MiniLM's, and two layers of a large encoder."""

ROUNDS = 7


class States(torch.nn.Module):
    """An encoder whose answer is its last states alone, as an exported graph needs."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder.eval()

    def forward(self, ids: Tensor) -> Any:
        """Return the states, [texts, subwords, hidden]."""
        return self.encoder(input_ids=ids).last_hidden_state


def encoder_of(hidden: int, layers: int) -> States:
    """Return BERT's encoder with random weights."""
    config = transformers.BertConfig(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 64,
        intermediate_size=4 * hidden,
        vocab_size=2000,
    )
    return States(transformers.BertModel(config)).eval()


def exported(encoder: States, ids: Tensor, folder: Path) -> dict[str, Callable[[], Any]]:
    """Return how ONNX Runtime answers, in float32 and in int8."""
    runtime = import_module("onnxruntime")
    quantization = import_module("onnxruntime.quantization")
    exact, small = folder / "float32.onnx", folder / "int8.onnx"
    torch.onnx.export(encoder, (ids,), exact, input_names=["ids"], dynamo=False)
    quantization.quantize_dynamic(exact, small, per_channel=True)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    ways: dict[str, Callable[[], Any]] = {}
    for file in (exact, small):
        session = runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        ways[f"ONNX Runtime, {file.stem}"] = partial(session.run, None, {"ids": ids.numpy()})
    return ways


def compared(hidden: int, layers: int) -> dict[str, Any]:
    """Return ratios and differences at one size."""
    torch.manual_seed(0)
    plain, ids = encoder_of(hidden, layers), torch.randint(5, 2000, (32, 24))
    ways: dict[str, Callable[[], Any]] = {"torch": partial(plain, ids)}
    for dtype in get_args(EncoderDtype):
        one = copy.deepcopy(plain)
        compute_in(dtype, one, one.encoder)
        ways[f"ours, {dtype}"] = partial(one, ids)
    taken: dict[str, list[float]] = {}
    answers: dict[str, Tensor] = {}
    with TemporaryDirectory() as folder, torch.inference_mode():
        ways |= exported(plain, ids, Path(folder))
        for _ in range(ROUNDS):
            for way, ask in ways.items():
                start = time.process_time()
                answer = ask()
                taken.setdefault(way, []).append(time.process_time() - start)
                answers[way] = torch.as_tensor(answer[0] if isinstance(answer, list) else answer)
    base = statistics.median(taken["torch"])
    return {
        way: {
            "ratio_of_cpu_time": base / statistics.median(taken[way]),
            "largest_difference": float((answers[way] - answers["torch"]).abs().max()),
        }
        for way in ways
    }


def main() -> None:
    """Measure, and print."""
    torch.set_num_threads(1)
    sizes = {f"{layers} layers of {hidden}": compared(hidden, layers) for hidden, layers in SIZES}
    print(json.dumps(sizes, indent=2))


if __name__ == "__main__":
    main()
