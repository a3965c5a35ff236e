"""Positions that Lc0's search meets on several ways: what the most visited of them has found holds for all.

Nodes with the same men, mover and rights are twins, unless their position has been there before or the draw by a
hundred plies without progress is near and not equally so. Of twins the one with the most visits speaks for the others.
A walk that comes to a node with fewer visits than its speaker ends there and brings the speaker's mean; a new node gets
the speaker's priors, too. So what was searched on one way is not judged again on another. History and clock, which
networks see, may differ between twins: this is why it is an option.

Speakers stand in a table of open addressing, as node number + 1; each entry's key is that of its node.
"""

from __future__ import annotations

from numba import int32, njit, uint64

from rookery.games.bits import Word
from rookery.games.rng import STEP, scramble
from rookery.games.rules import State, key
from rookery.search.inner import inner
from rookery.search.lc0_arrays import NONE, OPEN, PROVEN, Arrays

LATE = 50  # plies without progress from which twins must agree in them


@inner
def plies_since_same(state: State) -> int:
    """Return how long ago the present position was there before; 0 if it was not.

    A first position with an en passant marker is another one, as in the planes, even if nobody could capture.
    """
    now = state.history[state.since]
    for i in range(state.since - 4, -1, -2):
        if state.history[i] == now and (i > 0 or state.first_marked == 0):
            return int(state.since - i)
    return 0


@inner
def twin_key(state: State) -> Word:
    """Hash what twins have in common; 0 for a position that has been there before, which has none."""
    if plies_since_same(state) > 0:
        return uint64(0)
    clock = state.clocks[state.plies & 7]
    late = uint64(clock) if clock >= LATE else uint64(0)
    return scramble(key(state) ^ (late * STEP)) | uint64(1)


@inner
def entry_of(t: Arrays, word: Word) -> int:
    """Return where a key's speaker stands in the table, or would."""
    mask = t.speakers.shape[0] - 1
    i = int(word >> uint64(1)) & mask
    while t.speakers[i] > 0 and t.nodes[t.speakers[i] - 1].key != word:
        i = (i + 1) & mask
    return int(i)


@inner
def speaker_of(t: Arrays, n: int) -> int:
    """Return the twin of a node that has more visits than it; -1 if there is none."""
    if n == 0 or t.nodes[n].key == uint64(0):
        return NONE
    twin = int(t.speakers[entry_of(t, t.nodes[n].key)]) - 1
    if twin < 0 or t.nodes[twin].visits <= t.nodes[n].visits or t.nodes[twin].count != t.nodes[n].count:
        return NONE
    return twin


@inner
def speak(t: Arrays, n: int) -> None:
    """Let a node speak for its twins if it has the most visits of them; never a root: moves may be left out there."""
    node = t.nodes[n]
    if n == 0 or node.key == uint64(0) or (node.kind != OPEN and node.kind != PROVEN):
        return
    i = entry_of(t, node.key)
    if t.speakers[i] == 0 or t.nodes[t.speakers[i] - 1].visits < node.visits:
        t.speakers[i] = int32(n + 1)


@inner
def copy_priors(t: Arrays, n: int, twin: int) -> None:
    """Give a new node the priors of its twin, whose moves are the same."""
    to, source = int(t.nodes[n].first), int(t.nodes[twin].first)
    for i in range(t.nodes[n].count):
        t.edges[to + i].prior, t.edges[to + i].action = t.edges[source + i].prior, t.edges[source + i].action
    t.nodes[n].own = t.nodes[twin].own


@njit(cache=True, nogil=True)
def find_speakers(t: Arrays) -> None:
    """List the speakers of a tree that has been shifted or begun."""
    t.speakers[:] = 0
    for n in range(t.tree[0].nodes):
        if t.nodes[n].visits > 0:
            speak(t, n)
