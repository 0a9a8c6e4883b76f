"""Static word embeddings from a text file, such as GloVe's, of which only what is asked is read."""

import mmap
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from pronominal.errors import InputError


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
        try:
            with file.open("rb") as stream:
                self._content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
                hashes, starts = self._index(stream)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise InputError(
                "no word vectors could be read",
                cure="give a text file with a word and its numbers on each line",
                file=file,
            ) from error
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
        return InputError(
            fault,
            cure="give an undamaged file, and the size of its vectors in the config",
            file=self.file,
            row=f"line {number}",
        )


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
