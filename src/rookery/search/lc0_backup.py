"""What comes of a leaf: priors of its moves, its value on the way up, proofs, evaluations that are remembered.

An evaluation is remembered by a hash of what the network saw and of how the board was turned for it, in a place that
the hash names; newer ones take it over.
"""

from __future__ import annotations

import math
from typing import Any

from numba import float32, int32, njit, uint64

from rookery.games.bits import Word
from rookery.games.chess_board import RIGHTS
from rookery.games.rng import STEP, scramble
from rookery.search.inner import inner
from rookery.search.lc0_arrays import ENDED, NONE, OPEN, PROVEN, REMEMBERED_MOVES, TWO_FOLD, Arrays
from rookery.search.lc0_twins import speak

LOW = -1e300


# ---- up ------------------------------------------------------------------------------------------


@inner
def expand(t: Arrays, n: int) -> None:
    """Give the edges of a node their priors, from the logits in `t.logits`, and put them into order."""
    node, mass, top = t.nodes[n], 0.0, LOW
    first, count = int(node.first), int(node.count)
    for i in range(count):
        top = max(top, float(t.logits[i]))
    for i in range(count):
        t.shares[i] = math.exp((t.logits[i] - top) * t.options[0].sharpness)
        mass += t.shares[i]
    for i in range(count):
        t.edges[first + i].prior = float32(t.shares[i] / mass)
    for i in range(1, count):  # by insertion: equal ones stay in the order of their actions
        prior, action, k = t.edges[first + i].prior, t.edges[first + i].action, i
        while k > 0 and t.edges[first + k - 1].prior < prior:
            t.edges[first + k].prior = t.edges[first + k - 1].prior
            t.edges[first + k].action = t.edges[first + k - 1].action
            k -= 1
        t.edges[first + k].prior, t.edges[first + k].action = prior, action


@inner
def draws_of(node: Any) -> float:
    """Return the chance to draw of a settled node."""
    return 1.0 if node.lower == 0 or node.kind == TWO_FOLD else 0.0


@inner
def result_of(node: Any) -> float:
    """Return the result of a settled node for its mover."""
    return 0.0 if node.kind == TWO_FOLD else float(node.lower)


@inner
def set_bounds(t: Arrays, n: int) -> bool:
    """Draw conclusions from the settled moves of a node; tell whether there were any."""
    node = t.nodes[n]
    lower, upper, soonest, latest = -1, -1, 1e30, 0.0
    for e in range(node.first, node.first + node.count):
        child = t.edges[e].child
        at_least, at_most = -1, 1
        if child >= 0:
            at_least, at_most = -int(t.nodes[child].upper), -int(t.nodes[child].lower)
            if at_least == at_most:
                latest = max(latest, float(t.nodes[child].ends)) if at_least <= 0 else latest
                soonest = min(soonest, float(t.nodes[child].ends)) if at_least > 0 else soonest
        lower, upper = max(lower, at_least), max(upper, at_most)
    changed = node.lower != lower or node.upper != upper
    node.lower, node.upper = lower, upper
    if lower == upper:
        node.kind = PROVEN
        node.ends = float32(1 + (soonest if lower > 0 else latest))
    return bool(changed)


@inner
def back_up(t: Arrays, n: int, value: float, draws: float, plies: float) -> None:
    """Carry a leaf's value, seen by its mover, to the root; what it proves goes along.

    A node that becomes settled takes back what its visits had brought before: that is put right above it, too.
    """
    proving = t.options[0].sticky and t.nodes[n].kind == ENDED and t.nodes[n].visits == 0
    more_value, more_draws, more_plies = 0.0, 0.0, 0.0
    while True:
        node = t.nodes[n]
        if node.kind != OPEN:
            value, draws, plies = result_of(node), draws_of(node), float(node.ends)
            more_value, more_draws, more_plies = 0.0, 0.0, 0.0
            if node.kind == PROVEN:
                more_value = node.visits * value - node.value
                more_draws = node.visits * draws - node.draws
                more_plies = node.visits * plies - node.plies
        node.visits += int32(1)
        node.value += value + more_value
        node.draws += draws + more_draws
        node.plies += plies + more_plies
        if t.options[0].transpositions:
            speak(t, n)
        n = int(node.parent)
        if n < 0:
            break
        proving = proving and n > 0 and t.nodes[n].kind == OPEN and set_bounds(t, n)
        value, more_value, plies = -value, -more_value, plies + 1


# ---- what is remembered --------------------------------------------------------------------------


@inner
def view_key(t: Arrays, row: int) -> Word:
    """Hash what the network sees of a leaf, and castling rights, en passant and turn, by which moves may differ unseen.

    Logits are kept in the order of the moves on the board, and boards that are turned differently may look alike.
    """
    state = t.leaves[row]
    word = scramble(scramble(state.boards[state.plies & 7, RIGHTS] + STEP) ^ uint64(t.slots[row].turn))
    for plane in range(t.masks.shape[1]):
        word = scramble(word ^ (t.masks[row, plane] + uint64(plane) * STEP))
    return scramble(word ^ uint64(state.clocks[state.plies & 7])) | uint64(1)


@inner
def place_of(t: Arrays, key: Word) -> int:
    """Return where the evaluation of a key is remembered."""
    return int((key >> uint64(1)) % uint64(t.memory.shape[0]))


@inner
def remember(t: Arrays, row: int, q: float, d: float, m: float) -> None:
    """Keep an evaluation whose logits are in `t.logits`, in the place of an older one."""
    key = t.slots[row].key
    count = int(t.nodes[t.slots[row].node].count)
    if t.memory.shape[0] > 1 and count <= REMEMBERED_MOVES:
        place = t.memory[place_of(t, key)]
        place.key, place.q, place.d, place.m, place.count = key, q, d, m, count
        for i in range(count):
            place.logits[i] = t.logits[i]


@inner
def recall(t: Arrays, row: int) -> bool:
    """Judge a leaf by what is remembered, if anything is."""
    n = int(t.slots[row].node)
    place = t.memory[place_of(t, t.slots[row].key)]
    if place.key != t.slots[row].key or place.count != t.nodes[n].count:
        return False
    for i in range(place.count):
        t.logits[i] = place.logits[i]
    expand(t, n)
    t.nodes[n].own = place.q
    back_up(t, n, float(place.q), float(place.d), float(place.m))
    return True


# ---- what is played ------------------------------------------------------------------------------


@inner
def order_of(child: Any) -> tuple[int, float, float]:
    """Return by what a visited move is chosen, the lowest first: proven wins, others, proven losses."""
    visits = float(child.visits)
    if child.kind == ENDED or child.kind == PROVEN:
        if child.lower < 0:
            return 0, float(child.ends), -visits
        if child.lower > 0:
            return 2, -float(child.ends), -visits
    return 1, -visits, child.value / visits


@njit(cache=True, nogil=True)
def best_line(t: Arrays, n: int, out: Any) -> int:
    """Write the best play from a node on; return how many moves that is. Edges stand in the order of priors."""
    length = 0
    while length < out.shape[0]:
        node, chosen, best = t.nodes[n], NONE, (3, 0.0, 0.0)
        for e in range(node.first, node.first + node.count):
            child = t.edges[e].child
            if child >= 0 and t.nodes[child].visits > 0:
                order = order_of(t.nodes[child])
                if order < best:
                    best, chosen = order, e
        if chosen < 0:
            break
        out[length] = t.edges[chosen].action
        length, n = length + 1, int(t.edges[chosen].child)
    return length
