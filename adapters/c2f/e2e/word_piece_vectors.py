"""Small word embeddings from the table of a pretrained encoder, in GloVe's text format.

E2E reads fixed embeddings of words. Where GloVe's file of five gigabytes is not at hand, the mean
of a word's pieces in an encoder's embedding table, reduced by principal components, can replace it.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.atomic import new_file
from pronominal.errors import InputError

WORDS_AT_ONCE = 4096


def write_word_piece_vectors(encoder: str, words: Iterable[str], size: int, file: Path) -> None:
    """Write vectors of words, and of the whole words among the encoder's pieces.

    Components are those of all these words' vectors, each word counted once, largest first; the
    same encoder and words give the same file.

    Args:
        encoder: folder or Hub id of an encoder of transformers.
        words: what has to have a vector.
        size: numbers of a vector.
        file: the text file to write.
    """
    network, tokenizer, _ = open_encoder(encoder)
    embeddings = network.get_input_embeddings()  # type: ignore[operator]
    table = embeddings.weight.detach().numpy().astype(np.float64)
    if not 0 < size <= table.shape[1]:
        raise InputError(
            f"vectors of {size} numbers", cure=f"give 1 to {table.shape[1]}", file=encoder
        )
    pieces = (piece for piece in tokenizer.get_vocab() if piece.isalpha())
    own = {form for piece in pieces for form in (piece, piece.capitalize())}
    every = sorted(own | {word for word in words if word and not any(map(str.isspace, word))})
    vectors = np.empty((len(every), table.shape[1]))
    for first in range(0, len(every), WORDS_AT_ONCE):
        some = every[first : first + WORDS_AT_ONCE]
        ids = tokenizer(some, add_special_tokens=False)["input_ids"]
        vectors[first : first + len(some)] = [table[row].mean(0) if row else 0 for row in ids]
    lines = zip(every, _principal(vectors, size), strict=True)
    with new_file(file) as beside, beside.open("w", encoding="utf-8") as out:
        for word, vector in lines:
            out.write(f"{word} {' '.join(f'{number:.4f}' for number in vector)}\n")


def _principal(vectors: np.ndarray, size: int) -> np.ndarray:
    centred = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :size]
    # an axis has no sign of its own
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(size)])
    components = centred @ axes
    scaled: np.ndarray = components / np.linalg.norm(components, axis=1).mean()
    return scaled
