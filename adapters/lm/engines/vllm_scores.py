"""Log-likelihoods of filled texts from vLLM."""

import math
from collections.abc import Sequence

from pronominal.adapters.lm.engines.vllm_engine import VllmEngine
from pronominal.adapters.lm.scoring.tokens import TextTokenizer
from pronominal.instances import FillingInstance


class VllmScores:
    """A causal model in vLLM, asked to fill slots as the system ``lm`` is.

    A text's score is the sum of the log-probabilities of all its tokens but the first. vLLM shares
    no work between texts that begin alike; the system ``lm`` does, and is the faster one wherever
    the model fits.

    Args:
        checkpoint: a folder or a Hub id.
        dtype: as for `VllmEngine`, and so are the others.
        tensor_parallel_size: as for `VllmEngine`.
        max_model_len: as for `VllmEngine`.
        gpu_memory_utilization: as for `VllmEngine`.
    """

    name = "lm-vllm"
    question = "log-likelihood"
    chunk = 1024

    def __init__(
        self,
        checkpoint: str,
        *,
        dtype: str | None = None,
        tensor_parallel_size: int = 1,
        max_model_len: int | None = None,
        gpu_memory_utilization: float = 0.9,
    ) -> None:
        self._engine = VllmEngine(
            checkpoint, dtype, tensor_parallel_size, max_model_len, gpu_memory_utilization
        )
        self.checkpoint = self._engine.checkpoint
        self._texts = TextTokenizer(self._engine.tokenizer)
        self.inference = self._engine.described

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return for each instance, in order, the log-likelihood of each filled text, in nats."""
        if not instances:
            return []
        read = self._texts.read(instances)
        rows = zip(read.ids.tolist(), read.lengths.tolist(), strict=True)
        sequences = [ids[:length] for ids, length in rows]
        longest = [0] * len(instances)
        for owner, sequence in zip(read.owners.tolist(), sequences, strict=True):
            longest[owner] = max(longest[owner], len(sequence) + 1)  # and the token that it writes
        self._engine.refuse_longer(longest, "instances")
        scores = iter(map(math.fsum, self._engine.token_scores(sequences)))
        return [[next(scores) for _ in instance.options] for instance in instances]
