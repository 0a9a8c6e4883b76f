"""Pseudo-log-likelihoods of RUFF: masked copies in batches against one sentence at a time.

Both read the same filled sentences with the same random BERT-base in this process by turns, ours as
loading leaves a model, with activations fused and weights packed, and once more in int16 where the
processor has it; ratios are of CPU time on one thread, the median of the rounds. The comparator is
written here after the definition of minicons' ``within_word_l2r``, whose scorer the RUFF paper
used: the copies of one sentence are a batch, and logits are computed at all their tokens.

``python benchmarks/ruff_encoder.py [--rows 2] [--distractors 0] [--layers 12]`` prints one JSON
object; with the defaults some minutes.
"""

import argparse
import copy
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from arithmetic import share_of_peak
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from pronominal.adapters.layers.activations import fuse_activations
from pronominal.adapters.layers.integers import multiply_integers, sums_are_exact
from pronominal.adapters.layers.packed import pack_weights
from pronominal.adapters.lm.scoring.encoder import MaskedScorer
from pronominal.adapters.lm.scoring.tokens import TextTokenizer
from pronominal.dataset_scripts import ruff
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.ruff.assembly import Setting
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.instances import FillingInstance
from pronominal.pronouns import PRONOUN_SETS

SHARED = Path(__file__).resolve().parents[2] / "shared" / "upstream"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Watched:
    """A way to score, with the CPU seconds of each round and the largest logits of all."""

    def __init__(self, score: Callable[[], Any], model: Any) -> None:
        self.score, self.model = score, model
        self.seconds: list[float] = []
        self.bytes_of_logits = 0
        self.scores: Any = None

    def run(self) -> None:
        """Score once and note the seconds."""

        def watch(_: Any, __: Any, logits: torch.Tensor) -> None:
            self.bytes_of_logits = max(self.bytes_of_logits, logits.nbytes)

        hook = self.model.get_output_embeddings().register_forward_hook(watch)
        start = time.process_time()
        self.scores = np.asarray(self.score())
        self.seconds.append(time.process_time() - start)
        hook.remove()


def instances(sources: Path, distractors: int, rows: int) -> list[FillingInstance]:
    templates, _ = ruff.read_templates(Sources(sources))
    setting = Setting(templates, PRONOUN_SETS, distractors)
    table = Instances(setting).table(setting.sample(13)[:rows])
    return [FillingInstance.from_row(row) for row in table.to_pylist()]


def trained_tokenizer(asked: Sequence[FillingInstance]) -> Any:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=12_000, special_tokens=list(SPECIAL), show_progress=False
    )
    # neopronouns are rare in what real tokenizers are trained on
    tokenizer.train_from_iterator([t for one in asked for t in one.filled()[:3]], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, SPECIAL, strict=True))
    )


def random_model(layers: int) -> Any:
    torch.manual_seed(0)
    config = transformers.BertConfig(num_hidden_layers=layers)
    model = transformers.BertForMaskedLM(config).eval()
    with torch.no_grad():
        for tensor in model.parameters():
            if tensor.ndim > 1:
                tensor.mul_(2)  # else all options are nearly as likely
    return model


def one_by_one(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[float]:
    scores = []
    for text in texts:
        encoded = tokenizer(text)
        ids, words = torch.tensor(encoded.input_ids), encoded.word_ids()
        places = [place for place, word in enumerate(words) if word is not None]
        copies = ids.repeat(len(places), 1)
        for masked, place in zip(copies, places, strict=True):
            later = [p for p in range(place, len(ids)) if words[p] == words[place]]
            masked[later] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(copies, attention_mask=torch.ones_like(copies)).logits
        at = logits[torch.arange(len(places)), places]
        found = at[torch.arange(len(places)), ids[places]] - at.logsumexp(dim=1)
        scores.append(found.sum().item())
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sources", type=Path, default=SHARED, help="as for pronominal build")
    parser.add_argument("--rows", type=int, default=2)
    parser.add_argument("--distractors", type=int, default=0)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    sample = instances(arguments.sources, arguments.distractors, 2160)
    asked = sample[: arguments.rows]
    tokenizer, model = trained_tokenizer(sample), random_model(arguments.layers)
    packed = copy.deepcopy(model)
    fuse_activations(packed)
    small = copy.deepcopy(packed)
    pack_weights(packed)
    texts = [text for one in asked for text in one.filled()]

    def ours(fast: Any) -> Any:
        reader = TextTokenizer(tokenizer)
        mask = tokenizer.mask_token_id
        scorer = MaskedScorer(fast, frame=reader.frame, mask=mask, batch_tokens=1024)
        return scorer.score(reader.read(asked))

    plain = Watched(lambda: one_by_one(model, tokenizer, texts), model)
    ways = {"float32": Watched(lambda: ours(packed), packed)}
    if sums_are_exact():
        multiply_integers(small, "int16", "random weights")
        ways["int16"] = Watched(lambda: ours(small), small)
    for _ in range(arguments.rounds):
        for way in (plain, *ways.values()):
            way.run()
    seconds = {name: statistics.median(way.seconds) for name, way in ways.items()}
    batched, decided = ways["float32"], plain.scores.reshape(-1, 4).argmax(axis=1)
    report = {
        "benchmark": "ruff_encoder",
        "rows": len(asked),
        "distractors": arguments.distractors,
        "layers": arguments.layers,
        "mean_tokens": round(float(np.mean([len(tokenizer(t).input_ids) for t in texts])), 1),
        "ratio": {n: round(statistics.median(plain.seconds) / s, 2) for n, s in seconds.items()},
        "share_of_peak": share_of_peak(lambda: ours(packed), seconds["float32"]),
        "logits_memory_ratio": round(plain.bytes_of_logits / batched.bytes_of_logits, 1),
        "peak_logits_megabytes": [round(w.bytes_of_logits / 1e6, 1) for w in (plain, batched)],
        "largest_difference": {
            name: float(np.abs(plain.scores - way.scores).max()) for name, way in ways.items()
        },
        "same_decisions": {
            name: bool((way.scores.reshape(-1, 4).argmax(axis=1) == decided).all())
            for name, way in ways.items()
        },
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
