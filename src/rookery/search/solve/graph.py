"""The graph of positions that can be reached from a given one, of any game.

Positions are told apart by `key` and numbered as they are met. Of each, only the leading bytes of its state that vary
are kept: a game may carry options and a history behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numba import int64, njit, uint64

from rookery.games.bits import Word
from rookery.games.position import Position
from rookery.games.rules import State, key, legal, mover, over, payoff, play

SLICE = 2_000  # positions expanded between two looks at the outside world, a few milliseconds
WALK_SLICE = 50_000  # the same for positions only looked at
UNKNOWN, DRAW, WIN, LOSS = 0, 1, 2, 3  # what is known of a position, from its mover's side
NODES, EDGES, NEXT = 0, 1, 2  # entries of `counts`

NODE = np.dtype(
    [
        ("first", np.int64),  # edge, -1 while the position is not expanded
        ("moves", np.int32),
        ("left", np.int32),  # moves not yet known to lose
        ("plies", np.int32),  # to the end, with best play
        ("known", np.int8),
        ("team", np.int8),
    ],
    align=True,
)


@njit(cache=True, nogil=True)
def slot_of(slots: np.ndarray, keys: np.ndarray, wanted: Word) -> int:
    """Return the slot that holds the position with a key, or the empty one where it belongs."""
    mask = slots.shape[0] - 1
    slot = int64(wanted & uint64(mask))
    while slots[slot] >= 0 and keys[slots[slot]] != wanted:
        slot = (slot + 1) & mask
    return int(slot)


@njit(cache=True, nogil=True)
def rehash(slots: np.ndarray, keys: np.ndarray, begin: int, end: int) -> None:
    """Enter a range of positions into a hash table that holds none of them."""
    for node in range(begin, end):
        slots[slot_of(slots, keys, keys[node])] = node


@njit(cache=True, nogil=True)
def judged(state: State) -> int:
    """Say what the rules alone tell about a position: its result, if the game is over."""
    if not over(state):
        return UNKNOWN
    result = payoff(state, mover(state))
    return WIN if result > 0.0 else LOSS if result < 0.0 else DRAW


@njit(cache=True, nogil=True)
def enter(
    room: np.ndarray, raw: np.ndarray, teams: np.ndarray, nodes: np.ndarray, keys: np.ndarray, packed: np.ndarray,
    slots: np.ndarray, counts: np.ndarray, counter: np.ndarray,
) -> int:  # fmt: skip
    """Return the number of the position in `room[1]`, a new one if it has not been met."""
    word = uint64(key(room[1]))
    slot = slot_of(slots, keys, word)
    if slots[slot] >= 0:
        return int(slots[slot])
    node = counts[NODES]
    slots[slot] = node
    keys[node] = word
    for i in range(packed.shape[1]):
        packed[node, i] = raw[1, i] if i < counter[0] or i >= counter[1] else 0
    nodes[node].known = judged(room[1])
    nodes[node].team = teams[mover(room[1])]
    nodes[node].first = -1
    counts[NODES] += 1
    return int(node)


@njit(cache=True, nogil=True)
def expand(
    room: np.ndarray, raw: np.ndarray, moves: np.ndarray, teams: np.ndarray, nodes: np.ndarray, keys: np.ndarray,
    packed: np.ndarray, slots: np.ndarray, edges: np.ndarray, queue: np.ndarray, counts: np.ndarray,
    counter: np.ndarray, limit: int, budget: int,
) -> bool:  # fmt: skip
    """Write down the moves of the next positions of the queue; return whether the queue is done.

    Stops early where an array could overflow, for which the caller makes room, or the positions become more than
    `limit`.

    room    [2]        states to work on, and `raw` [2, bytes] the same memory as bytes
    nodes   [N]        what is known of each position
    packed  [N, kept]  the bytes of its state that vary
    slots   [S]        hash table of node numbers, -1 where empty
    edges   [E]        where each move leads, the moves of a position side by side
    counts  [3]        positions, edges, and how far the queue is done
    counter [2]        the range of bytes that is set to 0 wherever a position is kept
    """
    for _ in range(budget):
        if counts[NEXT] == queue.shape[0]:
            return True
        most = moves.shape[0]
        if counts[NODES] + most > min(limit, keys.shape[0]) or counts[EDGES] + most > edges.shape[0]:
            return False
        node = queue[counts[NEXT]]
        counts[NEXT] += 1
        for i in range(packed.shape[1]):
            raw[0, i] = packed[node, i]
        count = legal(room[0], moves)
        nodes[node].first = counts[EDGES]
        nodes[node].moves = count
        for i in range(count):
            for j in range(packed.shape[1]):
                raw[1, j] = packed[node, j]
            play(room[1], moves[i])
            edges[counts[EDGES]] = enter(room, raw, teams, nodes, keys, packed, slots, counts, counter)
            counts[EDGES] += 1
    return counts[NEXT] == queue.shape[0]  # type: ignore[no-any-return]


def slices(count: int) -> Iterator[tuple[int, int]]:
    """Divide the numbers below `count` into ranges that take compiled code a few milliseconds."""
    for begin in range(0, count, WALK_SLICE):
        yield begin, min(begin + WALK_SLICE, count)


def longer(array: np.ndarray, least: int) -> np.ndarray:
    """Return an array with room for at least so many rows, and half as many again."""
    grown = np.zeros((max(least, array.shape[0] * 3 // 2), *array.shape[1:]), array.dtype)
    grown[: array.shape[0]] = array
    return grown


@dataclass(frozen=True)
class Fields:
    """What is stored of a state: its leading bytes. Behind them all positions must be the same."""

    kept: int
    """how many bytes"""
    counter: tuple[int, int] = (0, 0)
    """begin and end of those that count plies and shall not: they are stored as 0"""


@dataclass
class Graph:
    """The positions met so far, and what is known of them; number 0 is the one it began with."""

    root: Position
    fields: Fields
    counts: np.ndarray = field(default_factory=lambda: np.zeros(3, np.int64))

    def __post_init__(self) -> None:
        game = self.root.game
        self.room = np.repeat(self.root.states, 2)
        self.raw = self.room.view(np.uint8).reshape(2, -1)
        self.moves = np.empty(max(1, game.most_legal), np.int32)
        self.counter = np.array(self.fields.counter)
        self.teams = np.array(game.teams, np.int8)
        self.nodes, self.keys = np.zeros(1, NODE), np.zeros(1, np.uint64)
        self.packed, self.edges = np.zeros((1, self.fields.kept), np.uint8), np.zeros(1, np.int32)
        self.slots = np.full(2, -1, np.int32)
        self.make_room()
        enter(
            self.room, self.raw, self.teams, self.nodes, self.keys, self.packed, self.slots, self.counts, self.counter
        )

    @property
    def size(self) -> int:
        """Number of positions."""
        return int(self.counts[NODES])

    def make_room(self) -> None:
        """See to it that at least one position can be expanded."""
        nodes, edges = (int(count) + len(self.moves) for count in self.counts[:2])
        if nodes > len(self.keys):
            self.nodes, self.keys, self.packed = (longer(part, nodes) for part in (self.nodes, self.keys, self.packed))
        if edges > len(self.edges):
            self.edges = longer(self.edges, edges)
        if 2 * len(self.keys) > len(self.slots):
            self.slots = np.full(1 << (2 * len(self.keys)).bit_length(), -1, np.int32)
            for begin, end in slices(self.size):
                rehash(self.slots, self.keys, begin, end)

    def grow(self, queue: np.ndarray, most: int, stop: np.ndarray) -> bool:
        """Expand the positions of a queue in order, as long as there are at most so many; return whether all are."""
        self.counts[NEXT], done = 0, False
        while not done and self.size + len(self.moves) <= most and not stop[0]:
            self.make_room()
            done = expand(
                self.room, self.raw, self.moves, self.teams, self.nodes, self.keys, self.packed, self.slots,
                self.edges, queue, self.counts, self.counter, most, SLICE,
            )  # fmt: skip
        return bool(done)

    def value(self, number: int) -> int | None:
        """Return the exact value of a position for its mover: 1, 0 or -1, or None where it is not known."""
        return {UNKNOWN: None, DRAW: 0, WIN: 1, LOSS: -1}[int(self.nodes[number]["known"])]
