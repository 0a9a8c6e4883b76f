"""The coarse-to-fine systems as their trainings begin, on tiny encoders and vectors."""

from pathlib import Path
from typing import Any

from pronominal.adapters.c2f.bert.training import TrainableTransformer, open_transformer
from pronominal.adapters.c2f.bert.training_settings import TransformerTraining
from pronominal.adapters.c2f.e2e.training import TrainableE2E, open_e2e
from pronominal.adapters.c2f.e2e.training_settings import E2ETraining
from pronominal.adapters.training.trainable import Corpus
from tests.eval.training.coreference_rows import write_vectors
from tests.eval.training.test_bert import write_encoder


def new_spanbert(folder: Path, **given: Any) -> TrainableTransformer:
    encoder = str(write_encoder("bert", folder / "encoder"))
    return open_transformer(TransformerTraining(encoder=encoder, size="small", **given))


def new_e2e(folder: Path, **given: Any) -> TrainableE2E:
    folder.mkdir(exist_ok=True)
    vectors = str(write_vectors(folder / "vectors.txt"))
    corpus = Corpus(["letters"], ["Anna"], folder)
    return open_e2e(E2ETraining(context_embeddings=vectors, size="small", **given), corpus)


NEW = {"spanbert": new_spanbert, "e2e": new_e2e}
