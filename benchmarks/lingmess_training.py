"""An update of LingMess on short texts against one of fastcoref's own trainer, in CPU time.

Both train the same random weights of Longformer-large's width and of the published head's, with
few layers, on the same batches of eight sentences, in this process and in turn: loss, gradients
and a step of AdamW as fastcoref's ``trainer.py`` has them. ``--layers 2 --rounds 3`` are the
defaults; the losses are compared without dropout first. Prints one JSON object.

``python benchmarks/lingmess_training.py``
"""

import argparse
import itertools
import json
import logging
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
import torch
import transformers

from pronominal.adapters.fastcoref.package import LingMessModel, PadCollator, loadable
from pronominal.adapters.fastcoref.training import TrainableLingMess, open_lingmess
from pronominal.adapters.fastcoref.training_settings import LingMessTraining
from pronominal.adapters.words.english import EnglishWords
from pronominal.spans import AnnotatedDocument, Span

CHECKPOINT = Path(__file__).parent.parent / "tests" / "goldens" / "lingmess" / "checkpoint"
BATCH = 8
SIZES = {"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
HEAD = {
    "dropout_prob": 0.3,
    "ffnn_size": 2048,
    "max_segment_len": 512,
    "max_span_length": 30,
    "top_lambda": 0.4,
}

# mostly words that are one subtoken of the tests' tokenizer, as they are of a real one
FIRST = ("farmer", "owner", "student", "visitor", "man", "witness")
SECOND = ("guest", "customer", "patient", "dog", "child")
PRONOUNS = ("he", "she", "they", "xe")
TEXT = "The {} asked the {} what {} had wanted to find in the house."

Update = Callable[[], float]


def write_checkpoint(folder: Path, layers: int) -> None:
    """Write random weights of these sizes."""
    shutil.copytree(CHECKPOINT, folder, dirs_exist_ok=True)
    (folder / "model.safetensors").unlink()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    sizes = SIZES | {"num_hidden_layers": layers, "attention_window": [512] * layers}
    (folder / "config.json").write_text(json.dumps(config | sizes | {"coref_head": HEAD}))
    torch.manual_seed(0)
    model: Any = loadable(LingMessModel)(transformers.AutoConfig.from_pretrained(folder))
    model.save_pretrained(folder)


def gold_documents() -> list[AnnotatedDocument]:
    """Return sentences with the cluster of the pronoun and the first of two people."""
    english = EnglishWords()
    every = itertools.product(FIRST, SECOND, PRONOUNS)
    texts = (TEXT.format(*words) for words in random.Random(0).sample([*every], 40))
    clusters = [[Span(0, 2), Span(6, 7)], [Span(3, 5)]]
    return [AnnotatedDocument(english.read(text)[0], clusters) for text in texts]


def our_update(system: TrainableLingMess, documents: list[Any]) -> tuple[Any, Update]:
    """Return our model, and what takes one step."""
    units = [(document,) for document in documents]
    system.learn(units)
    model = system.new_model()
    training = system.training(model, seed=1, updates=100)

    def update() -> float:
        model.train()
        loss = training.loss(model, units, units)
        loss.backward()  # type: ignore[no-untyped-call]
        training.optimisers[0].step()
        training.optimisers[0].zero_grad(set_to_none=True)
        return float(loss)

    return model, update


def their_update(
    folder: Path, system: TrainableLingMess, gold: list[AnnotatedDocument]
) -> tuple[Any, Callable[[], torch.Tensor], Update]:
    """Return fastcoref's model, its loss, and what takes one step of its trainer."""
    from fastcoref.utilities.coref_dataset import encode

    config = transformers.AutoConfig.from_pretrained(folder)
    config.torch_dtype = torch.float32
    model, _ = loadable(LingMessModel).from_pretrained(  # type: ignore[attr-defined]
        folder, config=config, output_loading_info=True
    )
    tokenizer = system._parts.tokenizer
    examples = []
    for document in gold:
        words = [word for sentence in document.document.words for word in sentence]
        inclusive = [[(a, b - 1) for a, b in cluster] for cluster in document.clusters]
        record = {"tokens": words, "clusters": inclusive, "speakers": []}
        examples.append({**record, **encode(dict(record), tokenizer, spacy.blank("en"))})
    collate = PadCollator(tokenizer, torch.device("cpu"))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, betas=(0.9, 0.98), eps=1e-6)

    def loss() -> torch.Tensor:
        batch = collate([dict(example) for example in examples])
        found: torch.Tensor = model(batch, gold_clusters=batch["gold_clusters"])[0]
        return found

    def update() -> float:
        model.zero_grad()
        model.train()
        found = loss()
        found.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        return float(found)

    return model, loss, update


def seconds(update: Update) -> float:
    """Return the CPU time of one update."""
    start = time.process_time()
    update()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as name:
        write_checkpoint(Path(name), asked.layers)
        system = open_lingmess(LingMessTraining(checkpoint=name))
        gold = gold_documents()
        read = [system.read(document, "own") for document in gold]
        # of equal length: in a batch with padding fastcoref's loss depends on it
        chosen = [index for index, one in enumerate(read) if len(one) == len(read[0])][:BATCH]
        documents, texts = [read[index] for index in chosen], [gold[index] for index in chosen]
        model, ours = our_update(system, documents)
        their_model, their_loss, theirs = their_update(Path(name), system, texts)
        model.eval()
        their_model.eval()
        with torch.no_grad():
            units = [(document,) for document in documents]
            losses = float(system.loss(model, units, units)), float(their_loss())
        assert abs(losses[0] - losses[1]) <= 1e-4 * abs(losses[1]), losses
        spent = [(seconds(ours), seconds(theirs)) for _ in range(asked.rounds + 1)][1:]
    medians = [statistics.median(column) for column in zip(*spent, strict=True)]
    report = {
        "benchmark": "lingmess_training",
        "layers": asked.layers,
        "texts_in_a_batch": len(documents),
        "subtokens_in_a_text": len(documents[0]),
        "losses_without_dropout": losses,
        "cpu_seconds_of_an_update": dict(zip(("pronominal", "fastcoref"), medians, strict=True)),
        "ratio": round(medians[1] / medians[0], 1),
        "ratio_of_each_round": [round(theirs / ours, 1) for ours, theirs in spent],
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
