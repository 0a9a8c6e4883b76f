"""The character convolution of E2E: a vector for each word from its spelling."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.words.length_batches import length_batches

CELLS_AT_ONCE = 1 << 18
"""How many characters, padding included, are convolved at once; bounds memory only."""


class CharacterVocabulary:
    """The number of each character; 0 is every other character, and padding."""

    def __init__(self, characters: Sequence[str]) -> None:
        self.characters = list(characters)
        self._numbers = {character: i for i, character in enumerate(characters, start=1)}

    def __len__(self) -> int:
        return len(self.characters) + 1

    def numbers(self, word: str) -> list[int]:
        """Return the numbers of a word's characters."""
        return [self._numbers.get(character, 0) for character in word]

    def save(self, file: Path) -> None:
        """Write what `read_vocabulary` reads."""
        file.write_text("".join(f"{c}\n" for c in self.characters), encoding="utf-8", newline="\n")


def read_vocabulary(file: Path) -> CharacterVocabulary:
    """Read upstream's ``char_vocab.txt``: one character a line, numbered from 1 on."""
    cause, cure = "no characters could be read", "give upstream's char_vocab.txt"
    with (
        input_error_on(OSError, ValueError, cause=cause, cure=cure, file=file, quoted=False),
        # not splitlines(), which also splits at characters that the vocabulary may hold
        file.open(encoding="utf-8") as lines,
    ):
        return CharacterVocabulary([line.strip() for line in lines])


class CharacterConvolution(nn.Module):
    """Convolves a word's characters with filters of several widths and keeps each one's maximum.

    Upstream pads all words of a document to its longest one, with a character that has a vector,
    and takes the maximum over the padding too: a short word's vector depends on how much padding
    its document gives it. This is kept, for each word with the padding of its own document.
    """

    def __init__(self, characters: int, size: int, widths: Sequence[int], filters: int) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.size = filters * len(self.widths)
        self.embeddings = nn.Embedding(characters, size)
        self.convolutions = nn.ModuleList(nn.Conv1d(size, filters, width) for width in self.widths)

    def padded_length(self, longest: int) -> int:
        """Return the length that a document's words are padded to, given its longest word's."""
        return max(longest, *self.widths)

    def forward(self, words: Sequence[Sequence[int]], padded: Sequence[int]) -> Tensor:
        """Return the vectors of words, [words, size].

        Args:
            words: the numbers of each word's characters.
            padded: what each word is padded to, from `padded_length`.
        """
        # a filter that reads nothing but padding says the same in any place
        seen = [
            (tuple(word), length if self.training else min(length, len(word) + max(self.widths)))
            for word, length in zip(words, padded, strict=True)
        ]
        # in training every occurrence is looked up, as upstream's norm of the gradients needs it
        keys = list(enumerate(seen)) if self.training else [(0, word) for word in seen]
        row_of = {key: row for row, key in enumerate(sorted(set(keys), key=lambda k: k[1][1]))}
        device = self.embeddings.weight.device
        if not row_of:
            return torch.empty(0, self.size, device=device)
        rows = [word for _, word in row_of]
        # a long word lengthens only those of its batch
        batches = length_batches([length for _, length in rows], room=CELLS_AT_ONCE, padded=True)
        vectors = torch.cat([self._convolve([rows[row] for row in batch]) for batch in batches])
        return vectors[torch.tensor([row_of[key] for key in keys], device=device)]

    def _convolve(self, words: Sequence[tuple[tuple[int, ...], int]]) -> Tensor:
        device = self.embeddings.weight.device
        longest = words[-1][1]
        numbers = torch.tensor(
            [[*word, *[0] * (longest - len(word))] for word, _ in words], device=device
        )
        length = torch.tensor([padded for _, padded in words], device=device)
        vectors = self.embeddings(numbers).transpose(1, 2)
        highest = []
        for width, convolution in zip(self.widths, self.convolutions, strict=True):
            values = convolution(vectors)
            outside = torch.arange(values.shape[2], device=device) > (length - width).unsqueeze(1)
            highest.append(values.masked_fill(outside.unsqueeze(1), -torch.inf).amax(2).relu())
        return torch.cat(highest, dim=1)
