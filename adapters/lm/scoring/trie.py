"""Prefix trees over many token sequences, cut into packs that a decoder reads as one row.

A causal model's state at a token depends on the tokens before it alone. Sequences that begin alike
therefore share the work on what they share: the nodes of a tree of all prefixes are fed once each,
in depth-first order, and attend to their own ancestors. A bounded pack holds the subtree of some
neighbouring sequences, and repeats the ancestors that it has in common with the pack before.
"""

from dataclasses import dataclass

import numpy as np

from pronominal.adapters.lm.scoring.tokens import BoolArray, IntArray, Sequences


@dataclass(frozen=True, slots=True)
class Pack:
    """A tree of prefixes in depth-first order.

    Attributes:
        tokens: the token of each node, [nodes].
        positions: how deep each node is, from 0, which is its position in the text, [nodes].
        ends: the node behind the last descendant of each node, [nodes].
        read: the nodes whose distribution of the next token is needed, ascending, [read].
        parents: for each scored token, which of `read` it follows, [scored].
        scored: the scored tokens, [scored].
        sequences: to which sequence each of them belongs, [scored].
    """

    tokens: IntArray
    positions: IntArray
    ends: IntArray
    read: IntArray
    parents: IntArray
    scored: IntArray
    sequences: IntArray


class PrefixTree:
    """The tree of all prefixes of some sequences, of which any stretch can be cut out as a pack.

    The last token of a sequence is no node: nothing follows it.

    Args:
        sequences: the sequences.
        first: for each sequence the position of the first token that is scored, at least 1; a
            sequence without such a token has no place in the tree.

    Attributes:
        order: numbers of the sequences in the tree, in the order of their tokens, [leaves].
    """

    def __init__(self, sequences: Sequences, first: IntArray) -> None:
        sought = np.flatnonzero(first < sequences.lengths)
        ids = sequences.ids[sought]
        self.order = sought[np.lexsort(ids.T[::-1])]
        self._ids = sequences.ids[self.order]
        self._first = first[self.order]
        self._fed = sequences.lengths[self.order] - 1
        # how many nodes of each leaf's path are on the path of the leaf before
        self._shared = np.zeros(len(self.order), np.int32)
        differs = self._ids[1:] != self._ids[:-1]
        first_own = np.where(differs.any(axis=1), differs.argmax(axis=1), differs.shape[1])
        self._shared[1:] = np.minimum(first_own, np.minimum(self._fed[1:], self._fed[:-1]))
        self._own = np.concatenate(([0], np.cumsum(self._fed - self._shared)))

    def __len__(self) -> int:
        """Return the number of nodes of the whole tree."""
        return int(self._own[-1])

    def end_of_pack(self, start: int, size: int) -> int:
        """Return behind which leaf a pack ends that begins with leaf `start`.

        It has at most `size` nodes; a single sequence may have more.
        """
        room = size - self._fed[start] + self._own[start + 1]
        return max(start + 1, int(np.searchsorted(self._own, room, side="right")) - 1)

    def pack(self, start: int, end: int) -> Pack:
        """Return the tree of the leaves from `start` to before `end`, places in `order`."""
        fed = self._fed[start:end, None]
        depths = np.arange(fed.max(), dtype=np.int32)
        shared = self._shared[start:end, None].copy()
        shared[0] = 0
        on_path = depths < fed
        begun = on_path & (depths >= shared)
        nodes = np.full(begun.shape, -1, np.int32)
        nodes[begun] = np.arange(begun.sum())
        nodes = np.maximum.accumulate(nodes, axis=0)
        ids = self._ids[start:end, : len(depths) + 1]
        places = np.arange(len(depths) + 1)
        leaves, places = np.nonzero((places >= self._first[start:end, None]) & (places <= fed))
        read, parents = np.unique(nodes[leaves, places - 1], return_inverse=True)
        return Pack(
            tokens=ids[:, :-1][begun],
            positions=np.broadcast_to(depths, begun.shape)[begun],
            ends=_ends(nodes, on_path, begun),
            read=read,
            parents=parents.astype(np.int32),
            scored=ids[leaves, places],
            sequences=self.order[start + leaves].astype(np.int32),
        )


def _ends(nodes: IntArray, on_path: BoolArray, begun: BoolArray) -> IntArray:
    """Return the node behind the last descendant: the first that a later leaf has for itself."""
    behind = np.cumsum(begun.sum(axis=1), dtype=np.int32)
    ends = np.empty(behind[-1], np.int32)
    leaves, depths = np.nonzero(on_path)
    ends[nodes[leaves, depths]] = behind[leaves]  # of repeated nodes the last leaf's stays
    return ends
