"""What `trees` has compiled: searches, moves and answers of trees that lie side by side, one after the other."""

from __future__ import annotations

from typing import Any

from numba import njit

from rookery.games.rules import State, over
from rookery.search.borrowed import borrowed
from rookery.search.inner import inner
from rookery.search.records import at, prefetch
from rookery.search.tree_arrays import SEARCHING, Arrays, tree_of
from rookery.search.tree_keep import begin, clear, play_on
from rookery.search.tree_playouts import judge_by_playouts
from rookery.search.tree_root import choose, improved_policy, taught_edge, taught_weight
from rookery.search.tree_walk import back_up, forget, gather, observe_leaves

AHEAD = 4  # trees between asking for memory and using it
NEAR = 3  # edges to a line of the cache


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def search_alone(
    a: Arrays, first: int, last: int, most: int, playouts: int, longest: int, scratch: State, moves: Any, stop: Any
) -> None:
    """Search trees first..last-1, each for at most `most` rounds, by playouts alone; 0 playouts judge all as even."""
    a, moves = borrowed(a), borrowed(moves)
    for b in range(first, last):
        t = tree_of(a, b)
        for _ in range(most):
            if t.tree.status != SEARCHING or (stop[0] and at(t.nodes, 0).count > 0):
                break
            gather(t, 0, 1)
            if not judge_by_playouts(t, playouts, longest, scratch, moves, stop):
                forget(t)
                break
            back_up(t, moves, 0, 1)


@inner
def prefetch_path(a: Arrays, b: int, last: int) -> None:
    """Ask for the memory that backing up a tree will touch: while other trees are worked on it leaves the cache."""
    if b + AHEAD < last:
        row = (b + AHEAD) * a.options[0].leaves
        prefetch(a.trees[b + AHEAD])
        prefetch(a.slots[row])
        prefetch(a.path[row, 0])
    if b < last:
        t = tree_of(a, b)
        for row in range(t.tree.gathered):
            path = at(t.path, row * t.options.depth)
            for k in range(at(t.slots, row).depth):
                prefetch(at(t.nodes, at(path, k).node))
                for near in range(-NEAR, NEAR + 1, NEAR):
                    prefetch(at(t.edges, max(0, at(path, k).edge + near)))


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def step(a: Arrays, first: int, last: int, kind: int, observations: Any, moves: Any) -> int:
    """Take in the answers for the leaves under way, gather the next ones; return how many trees still search."""
    a, observations, moves, searching = borrowed(a), borrowed(observations), borrowed(moves), 0
    for b in range(first, last):
        prefetch_path(a, b + AHEAD, last)
        t = tree_of(a, b)
        back_up(t, moves, 0, 1)
        gather(t, 0, 1)
        observe_leaves(t, kind, observations, b * t.options.leaves, 0, 1)
        if t.tree.gathered > 0:
            searching += 1
    return searching


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def first_over(roots: Any) -> int:
    """Return the first tree whose game is over at the root; -1 if there is none."""
    for b in range(roots.shape[0]):
        if over(roots[b]):
            return b
    return -1


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def begin_all(a: Arrays, budgets: Any, forget_all: bool) -> None:
    """Begin a search in every tree, from nothing or from what is known."""
    a = borrowed(a)
    for b in range(a.trees.shape[0]):
        t = tree_of(a, b)
        if forget_all:
            clear(t)
        begin(t, budgets[b])


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def forget_leaves(a: Arrays) -> None:
    """Take back the leaves under way in every tree."""
    for b in range(a.trees.shape[0]):
        forget(tree_of(a, b))


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def choose_all(a: Arrays, out: Any) -> None:
    """Write the chosen edge of every tree whose root was looked at; -1 for the others."""
    for b in range(a.trees.shape[0]):
        out[b] = choose(tree_of(a, b)) if a.nodes[b, 0].count > 0 else -1


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def play_tree(a: Arrays, b: int, action: int, keep: bool) -> None:
    """Play a move in one tree."""
    play_on(tree_of(a, b), action, keep, 0, 1)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def improve(a: Arrays, b: int, out: Any) -> None:
    """Write the improved policy of one tree."""
    improved_policy(tree_of(a, b), out)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def weights_for_target(a: Arrays, b: int, out: Any) -> None:
    """Write the weights of one tree's root moves in what is taught."""
    t = tree_of(a, b)
    best = taught_edge(t)
    for i in range(at(t.nodes, 0).count):
        out[i] = taught_weight(t, at(t.nodes, 0).first + i, best)
