"""What stands for vLLM where there is none: its names and signatures, computed by transformers.

As in vLLM, a request is a dict of token ids, each has its own sampling parameters, a prompt's
log-probabilities begin with None and are keyed by token, and no request writes less than one token.
"""

from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
import transformers

from pronominal.adapters.lm.prompting.generation import end_tokens


@dataclass
class SamplingParams:
    temperature: float = 1.0
    max_tokens: int | None = 16
    prompt_logprobs: int | None = None
    skip_special_tokens: bool = True
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, got {self.max_tokens}")


@dataclass
class LLM:
    model: str
    tensor_parallel_size: int = 1
    dtype: str = "auto"
    seed: int | None = None
    gpu_memory_utilization: float = 0.9
    max_model_len: int | None = None
    enable_prefix_caching: bool | None = None
    asked: list[tuple[tuple[int, ...], SamplingParams]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.network: Any = transformers.AutoModelForCausalLM.from_pretrained(
            self.model, dtype=torch.float32
        ).eval()
        longest = self.max_model_len or self.network.config.max_position_embeddings
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=longest))

    def generate(
        self, prompts: list[dict[str, list[int]]], sampling_params: Any, *, use_tqdm: bool = True
    ) -> list[Any]:
        assert len(prompts) == len(sampling_params)
        return [
            self._output(one["prompt_token_ids"], p)
            for one, p in zip(prompts, sampling_params, strict=True)
        ]

    def _output(self, prompt: list[int], asked: SamplingParams) -> Any:
        longest = self.llm_engine.model_config.max_model_len
        if len(prompt) + 1 > longest:
            raise ValueError(f"the prompt has {len(prompt)} tokens, and {longest} is the most")
        self.asked.append((tuple(prompt), asked))
        assert asked.temperature == 0
        assert asked.max_tokens is not None
        known = None
        if asked.prompt_logprobs is not None:
            with torch.inference_mode():
                logits = self.network(torch.tensor([prompt])).logits[0].log_softmax(dim=-1)
            known = [None, *({token: SimpleNamespace(logprob=float(logits[at, token]))}
                             for at, token in enumerate(prompt[1:]))]  # fmt: skip
        written = self._written(prompt, asked.max_tokens)
        ended = written[-1] in end_tokens(self.network)
        reason = "stop" if ended else "length"
        output = SimpleNamespace(token_ids=written, text="", finish_reason=reason)
        return SimpleNamespace(outputs=[output], prompt_logprobs=known, prompt_token_ids=prompt)

    def _written(self, prompt: list[int], limit: int) -> list[int]:
        with torch.inference_mode():
            rows = self.network.generate(
                input_ids=torch.tensor([prompt]),
                attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                max_new_tokens=limit,
                do_sample=False,
            )
        return list(rows[0, len(prompt) :].tolist())


def stub() -> ModuleType:
    """Return the module."""
    module = ModuleType("vllm")
    for name, value in {"LLM": LLM, "SamplingParams": SamplingParams, "__version__": "0.0"}.items():
        setattr(module, name, value)
    return module
