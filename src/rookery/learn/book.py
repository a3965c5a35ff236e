"""Games in play: what was searched and played at each ply, until a game is over and becomes rows of the replay.

A book has one page for each game side by side. A page holds the moves, for each of them how much the search thought of
every legal move (visits, or Gumbel's improved policy, in the order of the legal list), and the value it found. States
and observations are not kept: they follow from the moves. When a game is over its plies get their outcome, from the
side of the seat that moved, discounted for each turn that was still to come.

The same source runs on a CPU and in a warp; see `rookery.search.lanes`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, int32, int64, uint64

from rookery.games.game import Game
from rookery.games.gomoku import Gomoku
from rookery.games.rng import random_below, random_bits
from rookery.games.rules import is_legal, key, legal, mover, observe, over, payoff, play, start
from rookery.learn.sections import SelfplaySettings
from rookery.search.inner import inner
from rookery.search.lanes import lane_sum, lane_sync, lanes_legal
from rookery.search.records import at, copy_record
from rookery.search.tree_arrays import Single, Tree
from rookery.search.tree_root import choose, improved_policy, taught_edge, taught_weight
from rookery.search.tree_settings import LC0

RULES = np.dtype(
    [
        ("seed", np.int64), ("kind", np.int32), ("ply_limit", np.int32), ("repetition_limit", np.int32),
        ("random_plies", np.int32), ("random_fewer", np.int32), ("openers", np.int32), ("discount", np.float32),
        ("ply_limit_value", np.float32), ("repetition_value", np.float32),
    ],
    align=True,
)  # fmt: skip
GAME = np.dtype(
    [
        ("number", np.int64),  # of the game in its run; all its random numbers follow from it
        ("plies", np.int32),
        ("ending", np.int32),  # 0 while it is played
        ("result", np.float32),  # for seat 0
    ],
    align=True,
)
PLY = np.dtype(
    [
        ("key", np.uint64),  # of the position after the move
        ("action", np.int32),
        ("count", np.int32),  # legal moves, 0 if they were not searched
        ("taught", np.int32),
        ("seat", np.int32),
        ("value", np.float32),  # found by the search, for the seat
        ("outcome", np.float32),  # for the seat, once the game is over
    ],
    align=True,
)
PLAYING, BY_RULES, BY_PLIES, BY_REPETITION = range(4)
ENDINGS = ("playing", "by the rules", "ply limit", "repetition")
OPENING = 1 << 20  # random numbers of a game from here on choose its random plies, the one two before their number


class Book(NamedTuple):
    """B games, P plies at most, K legal moves at most."""

    rules: Any  # [1] RULES
    games: Any  # [B] GAME
    plies: Any  # [B, P] PLY
    weights: Any  # [B, P, K] float32
    scratch: Any  # [B] states
    openers: Any  # [n] int32: where random plies fall; they may be any if rules.openers is 0


class Rows(NamedTuple):
    """Where finished games go: one row for each ply, C rows in a ring."""

    observations: Any  # [C, O] float32; of Lc0's planes uint8
    actions: Any  # [C, K] int16: the legal ones, in order
    weights: Any  # [C, K] float32: what the search thought of them, 0 behind the last
    counts: Any  # [C] int16
    taught: Any  # [C] uint8
    played: Any  # [C] int16
    outcomes: Any  # [C] float32
    values: Any  # [C] float32
    plies: Any  # [C] int32: number of the ply in its game
    games: Any  # [C] int64


def room(game: Game, settings: SelfplaySettings, kind: str, seed: int, games: int) -> Book:
    """Make an empty book for so many games side by side."""
    rules = np.zeros(1, RULES)
    record: Any = rules[0]
    for name in (
        "ply_limit", "repetition_limit", "random_plies", "random_fewer", "discount", "ply_limit_value",
        "repetition_value",
    ):  # fmt: skip
        record[name] = getattr(settings, name)
    middle = middle_of(game, settings.random_middle)
    record["seed"], record["kind"], record["openers"] = seed, list(game.observations).index(kind), len(middle)
    plies = settings.ply_limit or game.longest
    return Book(
        rules=rules,
        games=np.zeros(games, GAME),
        plies=np.zeros((games, plies), PLY),
        weights=np.zeros((games, plies, max(1, game.most_legal)), np.float32),
        scratch=game.empty_states(games),
        openers=np.array(middle or [0], np.int32),
    )


def middle_of(game: Game, side: int) -> list[int]:
    """Return the points in the middle of a Gomoku board; none where random plies may fall anywhere."""
    return game.middle(side) if side and isinstance(game, Gomoku) else []


# ---- a game begins -------------------------------------------------------------------------------


@inner
def begin_game(state: Any, seed: int, number: int) -> None:
    """Put the first position of a game into a state that has its options."""
    start(state, int64(random_bits(seed, number, OPENING - 1) >> uint64(1)))


@inner
def list_openers(t: Tree, book: Book, moves: Any) -> int:
    """List the legal moves among those with which games may begin; return how many there are."""
    count = 0
    for i in range(book.rules[0].openers):
        if is_legal(t.root, book.openers[i]):
            moves[count] = book.openers[i]
            count += 1
    return count


@inner
def new_game(t: Tree, book: Book, b: int, number: int, moves: Any) -> None:
    """Begin a game at a tree's root, with its random plies; one lane is enough."""
    game, rules, tree = book.games[b], book.rules[0], t.tree
    begin_game(t.root, rules.seed, number)
    tree.stream, tree.ply, tree.search = number, int32(0), int32(0)
    game.number, game.plies, game.ending, game.result = number, int32(0), int32(PLAYING), float32(0)
    plies = rules.random_plies
    if rules.random_fewer:
        plies = int32(random_below(plies + 1, rules.seed, number, OPENING - 2))
    for k in range(plies):
        if not over(t.root):
            count = list_openers(t, book, moves) if rules.openers > 0 else legal(t.root, moves)
            write_ply(t, book, b, int(moves[random_below(count, rules.seed, number, OPENING + k)]), 0, 0, float32(0))
    if over(t.root):
        end_game(t, book, b, BY_RULES)


# ---- a move --------------------------------------------------------------------------------------


@inner
def write_ply(t: Tree, book: Book, b: int, action: int, count: int, taught: int, value: Single) -> None:
    """Play a move at a tree's root and note it."""
    game = book.games[b]
    ply = book.plies[b, game.plies]
    ply.action, ply.count, ply.taught, ply.value = int32(action), int32(count), int32(taught), value
    ply.seat = int32(mover(t.root))
    play(t.root, action)
    ply.key = key(t.root)
    t.tree.ply += int32(1)
    game.plies += int32(1)


@inner
def place_of(t: Tree, e: int) -> int:
    """Return the place of a root edge in the legal list."""
    root = at(t.nodes, 0)
    if t.options.urgency != LC0:
        return int(e - root.first)
    place = 0
    for other in range(root.first, root.first + root.count):  # these lie in order of prior
        if at(t.edges, other).action < at(t.edges, e).action:
            place += 1
    return place


@inner
def write_weights(t: Tree, weights: Any, lane: int, width: int) -> None:
    """Note what the search thought of every legal move."""
    root = at(t.nodes, 0)
    if t.options.gumbel > 0:
        if lane == 0:
            improved_policy(t, weights)
    else:
        best = taught_edge(t)
        for e in range(root.first + lane, root.first + root.count, width):
            weights[place_of(t, e)] = float32(taught_weight(t, e, best))
    lane_sync()


@inner
def note_move(t: Tree, book: Book, b: int, taught: int, lane: int, width: int) -> None:
    """Choose the move of a finished search, note it, play it, and end the game if that is due."""
    game = book.games[b]
    if game.ending != PLAYING:  # its random plies ended it
        return
    plies = int(game.plies)
    write_weights(t, book.weights[b, plies], lane, width)
    if lane == 0:
        root = at(t.nodes, 0)
        value = float32(root.proof) if t.options.prove and root.proof != 0 else root.mean
        write_ply(t, book, b, int(at(t.edges, choose(t)).action), int(root.count), taught, value)
    lane_sync()
    end_if_due(t, book, b, plies + 1, lane, width)


@inner
def note_reply(t: Tree, book: Book, b: int, action: int, taught: int, moves: Any, lane: int, width: int) -> None:
    """Note and play a move that an opponent has chosen, and end the game if that is due.

    If it is taught, then as if a search had looked at this move alone.
    """
    plies = int(book.games[b].plies)
    if lane == 0:
        count = int(legal(t.root, moves)) if taught else 0
        for k in range(count):
            book.weights[b, plies, k] = float32(1) if moves[k] == action else float32(0)
        write_ply(t, book, b, action, count, taught, float32(0))
    lane_sync()
    end_if_due(t, book, b, plies + 1, lane, width)


# ---- a game ends ---------------------------------------------------------------------------------


@inner
def end_if_due(t: Tree, book: Book, b: int, plies: int, lane: int, width: int) -> None:
    """End a game after so many plies, if the rules or a limit say so."""
    ending = due_ending(t, book, b, plies, lane, width)
    lane_sync()
    if lane == 0 and ending != PLAYING:
        end_game(t, book, b, ending)
    lane_sync()


@inner
def due_ending(t: Tree, book: Book, b: int, plies: int, lane: int, width: int) -> int:
    """Tell how a game ends after so many plies, on every lane; PLAYING if it goes on."""
    rules = book.rules[0]
    if over(t.root):
        return BY_RULES
    if rules.ply_limit > 0 and plies >= rules.ply_limit:
        return BY_PLIES
    if rules.repetition_limit > 0:
        newest, found = book.plies[b, plies - 1].key, 0
        for i in range(lane, plies, width):
            if book.plies[b, i].key == newest:
                found += 1
        if lane_sum(found) >= rules.repetition_limit:
            return BY_REPETITION
    return PLAYING


@inner
def result_for(t: Tree, rules: Any, ending: int, seat: int) -> Single:
    """Return the result of a finished game for a seat; one called off has the value for the side to move."""
    if ending == BY_RULES:
        return float32(payoff(t.root, seat))
    value = rules.ply_limit_value if ending == BY_PLIES else rules.repetition_value
    return value if t.options.teams[seat] == t.options.teams[mover(t.root)] else -value


@inner
def end_game(t: Tree, book: Book, b: int, ending: int) -> None:
    """Give every ply of a finished game its outcome; one lane is enough."""
    game, rules, teams = book.games[b], book.rules[0], t.options.teams
    game.ending, game.result = int32(ending), result_for(t, rules, ending, 0)
    factor, last = float32(1), int(game.plies) - 1
    for i in range(last, -1, -1):
        ply = book.plies[b, i]
        if i < last and teams[ply.seat] != teams[book.plies[b, i + 1].seat]:
            factor = factor * rules.discount
        ply.outcome = factor * result_for(t, rules, ending, int(ply.seat))


# ---- rows ----------------------------------------------------------------------------------------


@inner
def write_row(
    t: Tree, book: Book, b: int, i: int, rows: Rows, row: int, state: Any, moves: Any, lane: int, width: int
) -> None:
    """Write ply i of a game, whose position is `state`, into a row."""
    ply, weights = book.plies[b, i], book.weights[b, i]
    for k in range(lane, rows.observations.shape[1], width):
        rows.observations[row, k] = observe(state, book.rules[0].kind, k)
    if ply.count > 0 and t.options.in_lanes:
        lanes_legal(state, t.options.actions, moves, lane, width)
    if lane == 0:
        if ply.count > 0 and not t.options.in_lanes:
            legal(state, moves)
        rows.counts[row], rows.taught[row], rows.played[row] = ply.count, ply.taught, ply.action
        rows.outcomes[row], rows.values[row] = ply.outcome, ply.value
        rows.plies[row], rows.games[row] = int32(i), book.games[b].number
    lane_sync()
    for k in range(lane, rows.actions.shape[1], width):
        within = k < ply.count
        rows.actions[row, k] = moves[k] if within else 0
        rows.weights[row, k] = weights[k] if within else float32(0)
    lane_sync()


@inner
def copy_game(
    t: Tree, book: Book, b: int, rows: Rows, first: int, oldest: int, moves: Any, lane: int, width: int
) -> None:
    """Write the plies of a finished game into the rows first, first + 1, ... of the ring, but none before `oldest`."""
    state, game = book.scratch[b], book.games[b]
    copy_record(state, t.root, lane, width)  # its options
    lane_sync()
    if lane == 0:
        begin_game(state, book.rules[0].seed, game.number)
    lane_sync()
    for i in range(game.plies):
        if first + i >= oldest:
            write_row(t, book, b, i, rows, (first + i) % rows.counts.shape[0], state, moves, lane, width)
        if lane == 0:
            play(state, int(book.plies[b, i].action))
        lane_sync()
