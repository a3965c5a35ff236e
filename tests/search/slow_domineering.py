"""Guided games of Domineering as their definition reads: plain minimax over sets of squares."""

from __future__ import annotations

import numpy as np

from rookery.games.rng import below, number, stream_of

Domino = tuple[int, frozenset[tuple[int, int]]]
Moves = tuple[list[Domino], list[Domino]]

WON = 10_000


def key_of(seed: int, game: int) -> np.uint64:
    """Return where the random numbers of a game start."""
    return np.uint64(stream_of(seed, game))


def all_moves() -> Moves:
    """List the moves of both seats on the empty board in increasing action."""
    vertical = [(16 * i + j, frozenset({(i, j), (i + 1, j)})) for i in range(15) for j in range(16)]
    horizontal = [(240 + 16 * j + i, frozenset({(i, j), (i, j + 1)})) for j in range(15) for i in range(16)]
    return vertical, horizontal


def after(moves: Moves, squares: frozenset[tuple[int, int]]) -> Moves:
    """Return the moves of both that are left when two squares are covered."""
    return tuple([move for move in own if not move[1] & squares] for own in moves)


def difference(moves: Moves, seat: int) -> int:
    return len(moves[seat]) - len(moves[1 - seat])


def value(moves: Moves, seat: int, depth: int) -> int:
    """Return the value for the mover by minimax."""
    if not moves[seat]:
        return -WON
    if depth == 0:
        return difference(moves, seat)
    return max(-value(after(moves, squares), 1 - seat, depth - 1) for _, squares in moves[seat])


def chosen(moves: Moves, seat: int, depth: int, key: np.uint64, ply: int) -> Domino:
    """Return the move with the highest value, then the highest difference, then the highest random number."""

    def merit(move: Domino) -> tuple[int, int, int]:
        left = after(moves, move[1])
        return -value(left, 1 - seat, depth - 1), difference(left, seat), int(number(key, 512 * ply + move[0]))

    return max(moves[seat], key=merit)


def depth_at(count: int) -> int:
    return 1 if count >= 90 else 2 if count >= 35 else 3


def next_move(moves: Moves, ply: int, key: np.uint64, opening: int = 16, explore: int = 30) -> tuple[Domino, bool]:
    """Return the move of a game at a ply, and whether it was drawn at random."""
    seat = ply % 2
    own = moves[seat]
    if ply < opening or below(100, key, 512 * ply + 480) < explore:
        return own[int(below(len(own), key, 512 * ply + 481))], True
    return chosen(moves, seat, depth_at(len(own)), key, ply), False


def slow_game(seed: int, game: int, **guidance: int) -> tuple[list[int], list[bool]]:
    """Play a game; return its actions and which of them were drawn at random."""
    key, moves = key_of(seed, game), all_moves()
    actions: list[int] = []
    explored: list[bool] = []
    while moves[len(actions) % 2]:
        (action, squares), at_random = next_move(moves, len(actions), key, **guidance)
        actions.append(action)
        explored.append(at_random)
        moves = after(moves, squares)
    return actions, explored
