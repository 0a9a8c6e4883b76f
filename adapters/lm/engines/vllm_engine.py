"""vLLM in this process: an engine for models that do not fit, or answer too slowly, elsewhere.

vLLM takes a GPU, and is in no other extra than its own. It is handed tokens and never texts, so
that they are cut as in the systems without it.
"""

from collections.abc import Sequence
from typing import Any

import transformers

from pronominal.adapters.checkpoints.files import TOKENIZER_FILES, Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.third_party import contained_rust, input_error_on
from pronominal.adapters.checkpoints.transformers_models import require_words, silent_transformers
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.errors import InputError

_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
_OTHERS = (*TOKENIZER_FILES, "*.index.json", "chat_template.jinja", "generation_config.json")

SEED = 0
"""vLLM's seed; greedy answers draw nothing."""


class VllmEngine:
    """A checkpoint that vLLM has loaded.

    Args:
        checkpoint: a folder or a Hub id.
        dtype: ``"bfloat16"``, ``"float16"`` or ``"float32"``; the checkpoint's own when None.
        tensor_parallel_size: over how many GPUs the model is spread.
        max_model_len: the longest text, in tokens; the model's own when None.
        gpu_memory_utilization: which share of a GPU's memory vLLM takes.

    Attributes:
        checkpoint: where it came from.
        tokenizer: its tokenizer of transformers.
        longest: the longest text, in tokens; None where vLLM does not say.
    """

    def __init__(
        self,
        checkpoint: str,
        dtype: str | None,
        tensor_parallel_size: int,
        max_model_len: int | None,
        gpu_memory_utilization: float,
    ) -> None:
        try:
            import vllm
        except ImportError as error:
            raise InputError(
                "vLLM is not installed", cure='pip install "pronominal[vllm]" on a GPU machine'
            ) from error
        self.checkpoint: Checkpoint = open_checkpoint(checkpoint, weights=_WEIGHTS, others=_OTHERS)
        self._sampling: Any = vllm.SamplingParams
        with (
            silent_transformers(),
            input_error_on(Exception, cause="vLLM cannot load it", cure="see its own message",
                           file=checkpoint),
        ):  # fmt: skip
            folder = str(self.checkpoint.folder)
            with contained_rust():
                self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
            # with the cache on, log-probabilities depended on the order of requests
            self._engine: Any = vllm.LLM(
                model=folder,
                dtype=dtype or "auto",
                tensor_parallel_size=tensor_parallel_size,
                max_model_len=max_model_len,
                gpu_memory_utilization=gpu_memory_utilization,
                enable_prefix_caching=False,
                seed=SEED,
            )
        require_words(self.tokenizer, checkpoint)
        config = getattr(getattr(self._engine, "llm_engine", None), "model_config", None)
        longest = getattr(config, "max_model_len", None)
        self.longest = longest if isinstance(longest, int) else None
        self.described = {
            "engine": "vllm",
            "version": str(getattr(vllm, "__version__", "")),
            "dtype": dtype or "auto",
            "tensor_parallel_size": tensor_parallel_size,
        }

    def written(
        self, prompts: Sequence[Sequence[int]], limits: Sequence[int]
    ) -> list[tuple[list[int], str | None]]:
        """Return the greedy continuation of each prompt, as tokens, and why it ended."""
        asked = [
            self._sampling(temperature=0, max_tokens=limit, skip_special_tokens=False)
            for limit in limits
        ]
        return [
            ([*output.outputs[0].token_ids], output.outputs[0].finish_reason)
            for output in self._outputs(prompts, asked)
        ]

    def token_scores(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of every token but the first of each sequence, in nats."""
        # vLLM writes at least one token, and 0 asks for each prompt token's own alone
        asked = self._sampling(temperature=0, max_tokens=1, prompt_logprobs=0)
        outputs = self._outputs(sequences, [asked] * len(sequences))
        return [
            [
                float(given[token].logprob)
                for token, given in zip(tokens[1:], output.prompt_logprobs[1:], strict=True)
            ]
            for tokens, output in zip(sequences, outputs, strict=True)
        ]

    def refuse_longer(self, lengths: Sequence[int], among: str) -> None:
        """Raise `RefusedTextError` for the first text that has more tokens than there is room."""
        for index, length in enumerate(lengths):
            if self.longest is not None and length > self.longest:
                raise RefusedTextError(
                    f"it takes {length} tokens, and the engine has room for {self.longest}",
                    cure="raise max_model_len, or choose a model that reads more",
                    index=index,
                    among=among,
                    checkpoint=self.checkpoint.name,
                )

    def _outputs(self, prompts: Sequence[Sequence[int]], asked: Sequence[Any]) -> list[Any]:
        tokens = [{"prompt_token_ids": [*map(int, prompt)]} for prompt in prompts]
        with input_error_on(
            Exception,
            cause="vLLM failed",
            cure="see its own message; what is done is kept",
            file=self.checkpoint.name,
            quoted=False,
        ):
            return [*self._engine.generate(tokens, [*asked], use_tqdm=False)]
