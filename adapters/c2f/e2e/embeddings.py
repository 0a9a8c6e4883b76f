"""Static word embeddings from a text file, such as GloVe's, of which only what is asked is read."""

import mmap
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.atomic import new_file
from pronominal.errors import InputError

WORDS_AT_ONCE = 4096
"""How many words are cut into an encoder's pieces at once."""


class WordVectors:
    """The vectors of a text file with one word a line: the word, then its numbers.

    The file is read through once, to learn where each word's line begins; lines are then read
    from the mapped file when their words are asked for. Memory is 16 bytes a word, for vectors
    of any size.

    Args:
        file: such as ``glove.840B.300d.txt``.
        size: how many numbers a word has.
    """

    def __init__(self, file: Path, size: int) -> None:
        self.file = file
        self.size = size
        cause = "no word vectors could be read"
        cure = "give a text file with a word and its numbers on each line"
        with (
            # an empty file cannot be mapped
            input_error_on(OSError, ValueError, cause=cause, cure=cure, file=file, quoted=False),
            file.open("rb") as stream,
        ):
            self._content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            hashes, starts = self._index(stream)
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._starts = hashes[order], starts[order]

    def __len__(self) -> int:
        return len(self._hashes)

    def vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the words' vectors, scaled to unit length, as float32, [words, size].

        A word that the file does not have gets zeros; case counts; of two lines for one word the
        later one counts, as for upstream.
        """
        row_of = {word: row for row, word in enumerate(dict.fromkeys(words))}
        table = np.zeros((len(row_of), self.size), np.float32)
        for word, row in row_of.items():
            start = self._start(word)
            if start is not None:
                vector = self._vector(start)
                length = np.linalg.norm(vector)
                table[row] = vector / length if length > 0 else vector
        return table[[row_of[word] for word in words]].reshape(len(words), self.size)

    def lines(self, words: Iterable[str] | None = None) -> Iterator[bytes]:
        """Yield the lines of those words that the file has, or of all, in the file's order."""
        if words is None:
            starts = self._starts
        else:
            places = (self._start(word) for word in set(words))
            starts = np.array([start for start in places if start is not None], np.int64)
        yield from (self._line(int(start)) for start in np.sort(starts))

    def save(self, file: Path, words: Iterable[str] | None = None) -> None:
        """Write a text file of `lines`."""
        with file.open("wb") as out:
            out.writelines(line + b"\n" for line in self.lines(words))

    def _index(self, lines: Iterable[bytes]) -> tuple[np.ndarray, np.ndarray]:
        hashes, starts = array("q"), array("q")
        start = 0
        for number, line in enumerate(lines, start=1):
            # most lines have no blank but the ones between fields; counting is fast
            word = (
                line[: line.index(b" ")]
                if line.count(b" ") == self.size and line[-2:-1] != b" "
                else self._unusual(line, number)
            )
            if not word:
                raise self._damaged("it has no word", number)
            hashes.append(hash(word))
            starts.append(start)
            start += len(line)
        return np.frombuffer(hashes, np.int64), np.frombuffer(starts, np.int64)

    def _unusual(self, line: bytes, number: int) -> bytes:
        """Return the word of a line with more blanks, such as GloVe's entry for ``. . .``."""
        fields = line.rstrip().split(b" ")
        within = fields[1 : -self.size]
        if len(fields) <= self.size or (within and all(map(_is_number, within))):
            numbers = max(len(fields) - 1, 0)
            raise self._damaged(f"it has {numbers} numbers, not {self.size}", number)
        return b" ".join(fields[: -self.size])

    def _start(self, word: str) -> int | None:
        """Return where the line of a word begins."""
        spelling = word.encode("utf-8", "surrogatepass")
        place = int(np.searchsorted(self._hashes, hash(spelling), side="right")) - 1
        if place < 0 or self._hashes[place] != hash(spelling):
            return None
        start = int(self._starts[place])
        return start if self._content[start : start + len(spelling)] == spelling else None

    def _line(self, start: int) -> bytes:
        end = self._content.find(b"\n", start)
        return self._content[start : end if end >= 0 else len(self._content)]

    def _vector(self, start: int) -> np.ndarray:
        fields = self._line(start).rstrip().split(b" ")[-self.size :]
        vector = np.array([float(f) if _is_number(f) else np.nan for f in fields], np.float32)
        if not np.isfinite(vector).all():
            number = self._content[:start].count(b"\n") + 1
            raise self._damaged("it has a field that is no finite number", number)
        return vector

    def _damaged(self, fault: str, number: int) -> InputError:
        cure = "give an undamaged file, and the size of its vectors in the config"
        return InputError(fault, cure=cure, file=self.file, row=f"line {number}")


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def write_word_piece_vectors(encoder: str, words: Iterable[str], size: int, file: Path) -> None:
    """Write vectors of words, and of the whole words among the encoder's pieces.

    Where GloVe's file of five gigabytes is not at hand, they can replace it: the mean of a word's
    pieces in the encoder's embedding table, reduced by principal components.

    Components are those of all these words' vectors, each word counted once, largest first; the
    same encoder and words give the same file.

    Args:
        encoder: folder or Hub id of an encoder of transformers.
        words: what has to have a vector.
        size: numbers of a vector.
        file: the text file to write.
    """
    from pronominal.adapters.checkpoints.encoders import open_encoder

    network, tokenizer, _ = open_encoder(encoder)
    embeddings = network.get_input_embeddings()  # type: ignore[operator]
    table = embeddings.weight.detach().numpy().astype(np.float64)
    if not 0 < size <= table.shape[1]:
        cure = f"give 1 to {table.shape[1]}"
        raise InputError(f"vectors of {size} numbers", cure=cure, file=encoder)
    pieces = (piece for piece in tokenizer.get_vocab() if piece.isalpha())
    own = {form for piece in pieces for form in (piece, piece.capitalize())}
    every = sorted(own | {word for word in words if word and not any(map(str.isspace, word))})
    vectors = np.empty((len(every), table.shape[1]))
    for first in range(0, len(every), WORDS_AT_ONCE):
        some = every[first : first + WORDS_AT_ONCE]
        ids = tokenizer(some, add_special_tokens=False)["input_ids"]
        vectors[first : first + len(some)] = [table[row].mean(0) if row else 0 for row in ids]
    lines = zip(every, _principal(vectors, size), strict=True)
    with new_file(file) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
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
